import { mayPerform, maySeeBalances, maySeeHistory } from '../../auth/permissions.ts';
import { type NodeId, decodeNodeId } from '../../ledger/items/node-ids.ts';
import { assetsOf } from '../../ledger/usecases/queries/read-wallets.ts';
import { findMerchant } from '../../ledger/usecases/queries/read-merchants.ts';
import { findRefund } from '../../ledger/usecases/queries/read-order-refunds.ts';
import { builder } from '../../schema/builder.ts';
import type { RequestContext } from '../../schema/context.ts';
import { ITEM_COST } from '../../schema/costs.ts';
import { Node } from '../../schema/node.ts';

builder.queryField('node', (t) =>
  t.field({
    type: Node,
    nullable: true,
    complexity: ITEM_COST,
    description:
      'Anything with an id. Null for an id that is malformed, unknown, or of something that is not yours.',
    args: { id: t.arg.id({ required: true, description: 'The `id` of any node.' }) },
    resolve: async (_root, { id }, context) => {
      const nodeId = decodeNodeId(id);
      if (nodeId?.parts[0] !== context.viewer.tenant) return null;
      const found = await find(nodeId, context);
      return found === undefined ? null : { ...found, __typename: nodeId.kind };
    },
  }),
);

/** What an id of the viewer's tenant names, if it is the viewer's to see. */
async function find({ kind, parts }: NodeId, context: RequestContext): Promise<object | undefined> {
  const { ledger, viewer, load } = context;
  // decodeNodeId has checked that a kind's parts are all there.
  const [tenant = '', owner = '', name = '', part = ''] = parts;
  switch (kind) {
    case 'Wallet':
      return maySeeBalances(viewer, tenant, owner) ? { tenant, accountId: owner } : undefined;
    case 'Balance':
      return assetsOf(ledger, tenant).includes(name)
        ? load.balance({ tenant, accountId: owner, asset: name })
        : undefined;
    case 'Entry':
      return maySeeHistory(viewer, tenant, owner)
        ? load.entry({ tenant, accountId: owner, entryId: name })
        : undefined;
    case 'Order':
      return load.order({ tenant, accountId: owner, orderId: name });
    case 'Refund':
    case 'Dispute':
    case 'Step': {
      const order = await load.order({ tenant, accountId: owner, orderId: name });
      if (order === undefined) return undefined;
      if (kind === 'Refund') {
        const refund = await findRefund(ledger, order, part);
        return refund && { ...refund, order };
      }
      if (kind === 'Dispute') {
        const dispute = order.disputes.find((one) => one.disputeId === part);
        return dispute && { ...dispute, order };
      }
      const step = order.steps.find((one) => one.name === part);
      return step && { order, step };
    }
    case 'Merchant':
      return findMerchant(ledger, viewer, owner);
    case 'Product':
      return load.product({ tenant, merchantId: owner, sku: name });
    case 'Proposal':
      return load.proposal({ tenant, accountId: owner, proposalId: name });
    case 'WebhookEvent':
      return mayPerform(viewer.role, 'READ_WEBHOOK_PROBLEMS') ? load.webhookEvent(owner) : undefined;
  }
}
