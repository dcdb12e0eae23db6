import { encodeNodeId } from '../ledger/node-ids.ts';
import { tenantOf } from '../ledger/operations/ledger.ts';
import { amountText } from './amounts.ts';
import { Node } from './node.ts';
import { BalanceType } from './refs.ts';

BalanceType.implement({
  description: 'A balance as it stands now, on a replay too.',
  interfaces: [Node],
  fields: (t) => ({
    id: t.id({
      resolve: ({ tenant, accountId, asset }) => encodeNodeId('Balance', tenant, accountId, asset),
    }),
    asset: t.exposeString('asset'),
    amount: t.field({
      type: 'Decimal',
      resolve: ({ tenant, asset, amount }, _args, { ledger }) => amountText(ledger, tenant, asset, amount),
    }),
    cap: t.field({
      type: 'Decimal',
      nullable: true,
      resolve: ({ tenant, asset }, _args, { ledger }) => {
        const cap = tenantOf(ledger, tenant).assets.get(asset)?.cap;
        return cap === undefined ? null : amountText(ledger, tenant, asset, cap);
      },
    }),
    updatedAt: t.field({ type: 'DateTime', nullable: true, resolve: ({ updatedAtMs }) => updatedAtMs }),
  }),
});
