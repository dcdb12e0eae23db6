/** The states of an order and the edges between them, as data (docs/DESIGN.md §7). */
export const ORDER_STATES = [
  'CREATED',
  'SESSION_CREATED',
  'PENDING_PAYMENT',
  'PAID',
  'CONFIRMED',
  'FAILED',
  'EXPIRED',
  'CANCELED',
  'REFUNDED',
] as const;

export type OrderState = (typeof ORDER_STATES)[number];

/** What moves an order. `undefined` as a source is an order that isn't there yet. */
export type OrderTrigger =
  | 'CREATE'
  | 'SESSION_MADE'
  | 'WALLET_CHARGE'
  | 'CASH'
  | 'PAYMENT_WAITING'
  | 'MONEY_ARRIVED'
  | 'PAYMENT_FAILED'
  | 'PAYMENT_DECLINED'
  | 'SESSION_EXPIRED'
  | 'CANCEL'
  | 'STEPS_DONE'
  | 'REFUNDED_IN_FULL'
  | 'REFUND_UNDONE';

interface Edge {
  readonly from: readonly (OrderState | undefined)[];
  readonly to: OrderState;
}

/** REFUND_UNDONE leads to CONFIRMED if every step is done, else to PAID: two rows. */
export const ORDER_EDGES: Readonly<Record<OrderTrigger, readonly Edge[]>> = {
  CREATE: [{ from: [undefined], to: 'CREATED' }],
  SESSION_MADE: [{ from: ['CREATED', 'FAILED', 'EXPIRED'], to: 'SESSION_CREATED' }],
  WALLET_CHARGE: [{ from: ['CREATED', 'FAILED', 'EXPIRED'], to: 'PAID' }],
  CASH: [{ from: ['CREATED'], to: 'PAID' }],
  PAYMENT_WAITING: [{ from: ['SESSION_CREATED'], to: 'PENDING_PAYMENT' }],
  MONEY_ARRIVED: [
    { from: ['CREATED', 'SESSION_CREATED', 'PENDING_PAYMENT', 'FAILED', 'EXPIRED', 'CANCELED'], to: 'PAID' },
  ],
  PAYMENT_FAILED: [{ from: ['SESSION_CREATED', 'PENDING_PAYMENT'], to: 'FAILED' }],
  PAYMENT_DECLINED: [{ from: ['PENDING_PAYMENT'], to: 'SESSION_CREATED' }],
  SESSION_EXPIRED: [{ from: ['SESSION_CREATED', 'PENDING_PAYMENT'], to: 'EXPIRED' }],
  CANCEL: [{ from: ['CREATED', 'SESSION_CREATED', 'FAILED', 'EXPIRED'], to: 'CANCELED' }],
  STEPS_DONE: [{ from: ['PAID'], to: 'CONFIRMED' }],
  REFUNDED_IN_FULL: [{ from: ['PAID', 'CONFIRMED'], to: 'REFUNDED' }],
  REFUND_UNDONE: [
    { from: ['REFUNDED'], to: 'CONFIRMED' },
    { from: ['REFUNDED'], to: 'PAID' },
  ],
};

/** Whether the table has an edge for this trigger from this state; with `to`, to that state. */
export function allows(trigger: OrderTrigger, from: OrderState | undefined, to?: OrderState): boolean {
  return ORDER_EDGES[trigger].some(
    (edge) => edge.from.includes(from) && (to === undefined || edge.to === to),
  );
}

/** The states in which the money is in (or was, until it was given back). */
export function isPaid(state: OrderState): boolean {
  return state === 'PAID' || state === 'CONFIRMED' || state === 'REFUNDED';
}
