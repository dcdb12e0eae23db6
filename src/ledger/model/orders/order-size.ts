import { isDecimal } from '../../kernel/money.ts';
import type { Order } from './order.ts';

/*
 * An order is one item, and the table refuses an item of more than 400 KB. So an order keeps room: what clients ask for
 * ends first, then what is only told, so that whatever the provider may still say of it can be written
 * (docs/DESIGN.md §3, "Room for facts").
 */

export const MAX_ATTEMPTS = 100;
export const MAX_REFUNDS = 100;

/** No further attempt once what was asked for takes this much: the rest is for refunds, and for facts. */
export const MAX_BYTES_BEFORE_ATTEMPT = 100_000;
/** No further refund through us: so much more than attempts alone can lead to that what was paid can be given back. */
export const MAX_BYTES_BEFORE_REFUND = 165_000;
/** No further follow-up of anything but a payment, errors of its steps included. */
const MAX_BYTES_BEFORE_STEP = 120_000;
/** Full: what only tells is left out. */
export const FULL_BYTES = 170_000;
/** A state takes the place of what is listed already: only refunds made at the provider that come and go again can lead here. */
export const MAX_BYTES_BEFORE_TRANSITION = 320_000;

/** Keys and index attributes, which the item has beside the order's own fields. */
const KEY_BYTES = 1_000;
const INTEGER_BYTES = 10;
/** What a step's last error takes at most: 200 characters of three bytes. */
const STEP_ERROR_BYTES = 600;

/** At least what the order's item takes in the table: its names there are shorter, and what is empty isn't there. */
export function orderBytes(order: Order): number {
  return KEY_BYTES + bytesOf(order);
}

/** Whether the order can keep another attempt, with all that may come of it. */
export function hasRoomForAttempt(order: Order): boolean {
  return order.attempts.length < MAX_ATTEMPTS && askedBytes(order) < MAX_BYTES_BEFORE_ATTEMPT;
}

/** Whether the order can keep another refund that we are asked for. */
export function hasRoomForRefund(order: Order): boolean {
  return order.refundCount < MAX_REFUNDS && askedBytes(order) < MAX_BYTES_BEFORE_REFUND;
}

export function isFull(order: Order): boolean {
  return orderBytes(order) >= FULL_BYTES;
}

/** Whether the order can keep further steps, with the error that each of its steps may yet have. */
export function hasRoomForSteps(order: Order): boolean {
  const erring = order.steps.filter(({ state, lastError }) => state !== 'DONE' && lastError === undefined);
  return orderBytes(order) + erring.length * STEP_ERROR_BYTES < MAX_BYTES_BEFORE_STEP;
}

/** What the provider tells, and what follows from it, takes nobody's right to ask. */
function askedBytes(order: Order): number {
  return orderBytes({ ...order, overpayments: [], disputes: [], steps: [] });
}

/** As DynamoDB counts: text in UTF-8, a number by its digits, three bytes and one per element for lists and maps. */
function bytesOf(value: unknown): number {
  if (typeof value === 'string') return Buffer.byteLength(value);
  if (typeof value === 'number') return INTEGER_BYTES;
  if (typeof value === 'boolean') return 1;
  if (isDecimal(value)) return 3 + Math.ceil(value.precision() / 2);
  if (Array.isArray(value)) return value.reduce<number>((sum, one) => sum + 1 + bytesOf(one), 3);
  if (typeof value !== 'object' || value === null) return 0;
  return Object.entries(value).reduce(
    (sum, [name, field]) => (field === undefined ? sum : sum + 1 + name.length + bytesOf(field)),
    3,
  );
}
