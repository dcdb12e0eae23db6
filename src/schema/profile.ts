import { ProfileType } from './refs.ts';

ProfileType.implement({
  fields: (t) => ({
    displayName: t.exposeString('displayName', { nullable: true }),
    email: t.exposeString('email', { nullable: true }),
    phoneNumber: t.exposeString('phoneNumber', { nullable: true }),
  }),
});
