import type { ProviderMetadata } from '../../stripe/port.ts';
import { epochS } from '../clock.ts';
import { type OrderRef, eventKey, orderKey, paymentKey } from '../keys.ts';
import { readOrder } from '../orders/order-item.ts';
import type { Order } from '../orders/order.ts';
import {
  type PaymentBooking,
  isSettled,
  readEventRecord,
  readPaymentBooking,
} from '../provider/event-item.ts';
import type { Ledger } from './ledger.ts';
import { type Settled, type Source, type Subject, duplicate } from './told-fact.ts';

/** What the table knows of a fact before it is judged. */
export interface Lookup {
  readonly seen?: Settled | undefined;
  /** The order that is meant, whether it is there or not. */
  readonly ref?: OrderRef | undefined;
  readonly order?: Order | undefined;
  readonly booking?: PaymentBooking | undefined;
}

/** One consistent read of the event's marker, the payment item and the order that the metadata names. */
export async function lookUp(ledger: Ledger, source: Source, subject: Subject): Promise<Lookup> {
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
  const booking = paymentItem === undefined ? undefined : readPaymentBooking(paymentItem);
  if (booking === undefined || (named !== undefined && sameOrder(booking, named))) {
    return { ref: named, order: orderItem === undefined ? undefined : readOrder(orderItem), booking };
  }
  const [booked] = await ledger.store.get([orderKey(booking)]);
  return { ref: booking, order: booked === undefined ? undefined : readOrder(booked), booking };
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
