import { InputIssueType } from './refs.ts';

InputIssueType.implement({
  description: '`code` is for machines: unknown_sku, bad_scale, not_positive, …',
  fields: (t) => ({
    path: t.stringList({
      description:
        'Where in the input: names of fields, and positions in lists from 0. Empty: the input as a whole.',
      resolve: ({ path }) => path,
    }),
    code: t.exposeString('code', { description: 'For machines. More may come.' }),
    message: t.exposeString('message', {
      description: 'English, for developers; the value is never repeated.',
    }),
  }),
});
