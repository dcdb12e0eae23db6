import type { ProviderMetadata } from '../../../provider/port.ts';
import { epochS } from '../../kernel/clock.ts';
import { type OrderRef, eventKey, orderKey, paymentKey } from '../../kernel/keys.ts';
import { readOrder } from '../../items/order-item.ts';
import type { Order } from '../../model/orders/order.ts';
import { isSettled, readEventRecord, readRecordedPayment } from '../../items/event-item.ts';
import type { Ledger } from '../runtime/ledger.ts';
import { type UpdateResult, type UpdateSource, type UpdateSubject, duplicate } from './provider-update.ts';
import type { RecordedPayment } from '../../model/provider/update-decision.ts';

/** What the table knows of a fact before it is judged. */
export interface UpdateContext {
  readonly seen?: UpdateResult | undefined;
  /** The order that is meant, whether it is there or not. */
  readonly ref?: OrderRef | undefined;
  readonly order?: Order | undefined;
  readonly recorded?: RecordedPayment | undefined;
}

/** One consistent read of the event's record, the payment item and the order that the metadata names. */
export async function loadContext(
  ledger: Ledger,
  source: UpdateSource,
  subject: UpdateSubject,
): Promise<UpdateContext> {
  const named = orderNamedBy(subject.metadata);
  const keys = {
    event: source.kind === 'EVENT' ? [eventKey(source.event.eventId)] : [],
    payment: subject.paymentId === undefined ? [] : [paymentKey(subject.paymentId)],
    order: named === undefined ? [] : [orderKey(named)],
  };
  const items = [...(await ledger.store.get([...keys.event, ...keys.payment, ...keys.order]))];
  const eventItem = keys.event.length === 0 ? undefined : items.shift();
  const paymentItem = keys.payment.length === 0 ? undefined : items.shift();
  const orderItem = items.shift();
  if (eventItem !== undefined && source.kind === 'EVENT') {
    const record = readEventRecord(eventItem);
    if (isSettled(record, source.overwriting, epochS(ledger.clock.nowMs())))
      return { seen: duplicate(record) };
  }
  const recorded = paymentItem === undefined ? undefined : readRecordedPayment(paymentItem);
  if (recorded === undefined || (named !== undefined && sameOrder(recorded, named))) {
    return { ref: named, order: orderItem === undefined ? undefined : readOrder(orderItem), recorded };
  }
  const [recordedOrderItem] = await ledger.store.get([orderKey(recorded)]);
  return {
    ref: recorded,
    order: recordedOrderItem === undefined ? undefined : readOrder(recordedOrderItem),
    recorded,
  };
}

/** The order that metadata of ours names. It says where to look, never whose the money is. */
export function orderNamedBy({ tenant, orderId: path }: ProviderMetadata): OrderRef | undefined {
  const [accountId, orderId] = path?.split('/') ?? [];
  return tenant === undefined || accountId === undefined || orderId === undefined
    ? undefined
    : { tenant, accountId, orderId };
}

function sameOrder(one: OrderRef, other: OrderRef): boolean {
  return one.tenant === other.tenant && one.accountId === other.accountId && one.orderId === other.orderId;
}
