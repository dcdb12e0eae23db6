import { builder } from '../../schema/builder.ts';
import { ViewerType } from '../../schema/refs.ts';

builder.queryField('viewer', (t) =>
  t.field({ type: ViewerType, description: 'Who asks.', resolve: (_root, _args, { viewer }) => viewer }),
);
