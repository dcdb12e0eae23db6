import { builder } from '../builder.ts';

export const UpdateProfileInput = builder.inputType('UpdateProfileInput', {
  description: 'What changes. Absent: stays; null: is cleared.',
  fields: (t) => ({
    accountId: t.id({
      description:
        "Admin: whose profile, by the operator's own name for the account. A customer leaves it out.",
    }),
    displayName: t.string({ description: 'For people, 1 to 100 characters.' }),
    email: t.string({ description: 'An email address of at most 254 characters.' }),
    phoneNumber: t.string({ description: 'In international form: "+81312345678".' }),
  }),
});
