import { builder } from '../builder.ts';

export const UpdateProfileInput = builder.inputType('UpdateProfileInput', {
  fields: (t) => ({
    accountId: t.id(),
    displayName: t.string(),
    email: t.string(),
    phoneNumber: t.string(),
  }),
});
