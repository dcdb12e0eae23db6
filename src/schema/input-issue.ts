import { InputIssueType } from './refs.ts';

InputIssueType.implement({
  description: '`code` is for machines: unknown_sku, bad_scale, not_positive, …',
  fields: (t) => ({
    path: t.stringList({ resolve: ({ path }) => path }),
    code: t.exposeString('code'),
    message: t.exposeString('message'),
  }),
});
