import { ProfileType } from './refs.ts';

ProfileType.implement({
  description: 'How to call and reach a customer. Each is null until it is given, and when it is cleared.',
  fields: (t) => ({
    displayName: t.exposeString('displayName', {
      description: 'For people, 1 to 100 characters.',
      nullable: true,
    }),
    email: t.exposeString('email', { description: 'An email address.', nullable: true }),
    phoneNumber: t.exposeString('phoneNumber', {
      description: 'In international form: "+81312345678".',
      nullable: true,
    }),
  }),
});
