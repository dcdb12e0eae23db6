import { builder } from '../../schema/builder.ts';
import { ViewerType } from '../../schema/refs.ts';

builder.queryField('viewer', (t) =>
  t.field({ type: ViewerType, resolve: (_root, _args, { viewer }) => viewer }),
);
