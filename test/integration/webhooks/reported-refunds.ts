import { stripeDispute, stripeRefund, stripeSession } from '../../unit/provider/stripe/stripe-objects.ts';
import { encodeNodeId } from '../../../src/ledger/items/node-ids.ts';
import type { Ledger } from '../../../src/ledger/usecases/runtime/ledger.ts';
import type { Order } from '../../../src/ledger/model/orders/order.ts';
import { readProviderRefund } from '../../../src/provider/stripe/mapping.ts';
import type { ProviderRefund, RefundRequest } from '../../../src/provider/port.ts';
import { type WaitingOptions, type World, eventOf, makeWorld, metadataOf } from './support.ts';

/** Orders that are paid, and refunds and disputes of them as the provider tells them. */

export async function paid(options: WaitingOptions = {}): Promise<{ world: World; order: Order }> {
  const world = await makeWorld();
  const order = await world.waitingOrder(options);
  await tellPaid(world, order);
  return { world, order };
}

export async function tellPaid(world: World, order: Order, attempt = 1): Promise<void> {
  const session = stripeSession({
    id: `cs_${String(attempt)}`,
    status: 'complete',
    payment_status: 'paid',
    payment_intent: `pi_${String(attempt)}`,
    url: null,
    metadata: metadataOf(order, attempt),
  });
  await world.apply(eventOf(world, 'checkout.session.completed', session));
}

export function reportedRefund(
  world: World,
  type: string,
  fields: Readonly<Record<string, unknown>>,
): ReturnType<World['apply']> {
  return world.apply(eventOf(world, `refund.${type}`, stripeRefund({ metadata: {}, ...fields })));
}

export function reportedDispute(
  world: World,
  type: string,
  fields: Readonly<Record<string, unknown>>,
): ReturnType<World['apply']> {
  return world.apply(eventOf(world, `charge.dispute.${type}`, stripeDispute(fields)));
}

export function asProvider(object: unknown): ProviderRefund {
  const reading = readProviderRefund(object);
  if (reading.kind !== 'READ') throw new Error('unreadable refund');
  return reading.value;
}

/** A refund as the provider makes it for a request of ours. */
export function made(request: RefundRequest, status: string): ProviderRefund {
  return asProvider(rawMade(request, status));
}

export function rawMade(request: RefundRequest, status: string): Record<string, unknown> {
  return stripeRefund({
    status,
    amount: request.amountMinor,
    metadata: { tenant: request.tenant, order_id: request.orderId, refund_id: request.refundId },
  });
}

export function withRefunds(
  world: World,
  createRefund: (request: RefundRequest) => Promise<ProviderRefund>,
): Ledger {
  return {
    ...world.ledger,
    provider: {
      ...world.ledger.provider,
      createRefund: async (request) => ({ kind: 'DONE', value: await createRefund(request) }),
    },
  };
}

export const idOf = (order: Order): string =>
  encodeNodeId('Order', order.tenant, order.accountId, order.orderId);
