import { encodeNodeId } from '../ledger/items/node-ids.ts';
import { tenantOf } from '../ledger/usecases/runtime/ledger.ts';
import { amountText } from './amounts.ts';
import { Node, nodeId } from './node.ts';
import { BalanceType } from './refs.ts';

BalanceType.implement({
  description: 'A balance as it stands now, on a replay too.',
  interfaces: [Node],
  fields: (t) => ({
    id: nodeId(t, ({ tenant, accountId, asset }) => encodeNodeId('Balance', tenant, accountId, asset)),
    asset: t.exposeString('asset', {
      description:
        'ECOPAY (the main balance), POINT, JCREDIT or REGIONAL/<key>: one of those that the tenant has.',
    }),
    amount: t.field({
      description: "In the asset's full scale; never below zero.",
      type: 'Decimal',
      resolve: ({ tenant, asset, amount }, _args, { ledger }) => amountText(ledger, tenant, asset, amount),
    }),
    cap: t.field({
      description:
        'The most that a cash top-up, a positive adjustment or a new card top-up may bring it to. Null: no limit.',
      type: 'Decimal',
      nullable: true,
      resolve: ({ tenant, asset }, _args, { ledger }) => {
        const cap = tenantOf(ledger, tenant).assets.get(asset)?.cap;
        return cap === undefined ? null : amountText(ledger, tenant, asset, cap);
      },
    }),
    updatedAt: t.expose('updatedAtMs', {
      description: 'When it last changed. Null: never.',
      type: 'DateTime',
      nullable: true,
    }),
  }),
});
