import { readRecordedPayment } from '../../items/event-item.ts';
import { balanceOf } from '../../items/balance-item.ts';
import { readOrder } from '../../items/order-item.ts';
import type { StoredItem } from '../../kernel/attributes.ts';
import { type ItemKey, type OrderRef, balanceKey, orderKey, paymentKey } from '../../kernel/keys.ts';
import { type Decimal, ZERO, add } from '../../kernel/money.ts';
import { type Entry, ledgerAccount, netChanges } from '../../model/entries/entry.ts';
import { toppedUpAsset } from '../../model/orders/postings.ts';
import type { Order, Refund } from '../../model/orders/order.ts';
import type { RecordedPayment } from '../../model/provider/update-decision.ts';
import type { Ledger } from '../runtime/ledger.ts';
import { readRefunds } from '../runtime/read-refunds.ts';
import { readEntriesSince } from '../runtime/read-entries-since.ts';

/** A wallet as its item has it, and as its entries have it. */
export interface WalletBooks {
  readonly asset: string;
  readonly read: Decimal;
  readonly posted: Decimal;
}

/** All that the table has of one order and of one payment, as it stood at one moment. */
export interface OrderBooks {
  /** The order that is meant, whether it is there or not. */
  readonly ref: OrderRef;
  readonly order: Order | undefined;
  /** The payment item. */
  readonly recorded: RecordedPayment | undefined;
  /** All of its refunds, those of overpayments included. */
  readonly refunds: readonly Refund[];
  /** The entries that name the order. */
  readonly entries: readonly Entry[];
  /** Of a top-up. */
  readonly wallet: WalletBooks | undefined;
}

/** So often it is read again where somebody keeps writing. */
const MAX_READINGS = 5;
/** An entry's id has the time of the process that made it, whose clock may be behind the one that opened the order. */
const CLOCKS_APART_MS = 86_400_000;

/**
 * Reads an order, a payment item and the order's entries, as they stood at one moment: the items in one TransactGetItems,
 * since a batch read is no snapshot. Every entry of an order is written with it, so that its `rev` tells whether one was
 * written while they were read; of a wallet, its balance does.
 * @param named the order that the provider's metadata names: where the payment item names none
 * @returns 'MOVING' where somebody kept writing; undefined where nothing names an order
 */
export async function readOrderBooks(
  ledger: Ledger,
  paymentId: string | undefined,
  named: OrderRef | undefined,
): Promise<OrderBooks | 'MOVING' | undefined> {
  for (let readings = 0; readings < MAX_READINGS; readings += 1) {
    const [item] = paymentId === undefined ? [] : await ledger.store.get([paymentKey(paymentId)]);
    const ref = item === undefined ? named : readRecordedPayment(item);
    if (ref === undefined) return undefined;
    const books = await readAtRev(ledger, refOf(ref), paymentId);
    if (books !== undefined) return books;
  }
  return 'MOVING';
}

async function readAtRev(
  ledger: Ledger,
  ref: OrderRef,
  paymentId: string | undefined,
): Promise<OrderBooks | undefined> {
  const { store } = ledger;
  const [before] = await store.get([orderKey(ref)]);
  const first = before === undefined ? undefined : readOrder(before);
  const wallet = first?.kind === 'TOP_UP' ? balanceKey({ ...ref, asset: toppedUpAsset(first) }) : undefined;
  const walletBefore = await itemAt(ledger, wallet);
  const sinceMs = wallet === undefined ? (first?.createdAtMs ?? 0) - CLOCKS_APART_MS : 0;
  const refunds = first === undefined ? [] : await readRefunds(ledger, ref);
  const all = first === undefined ? [] : await readEntriesSince(store, ref, sinceMs);
  const keys = [orderKey(ref), ...(paymentId === undefined ? [] : [paymentKey(paymentId)])];
  const [orderItem, paymentItem] = await store.snapshot(keys);
  const walletAfter = await itemAt(ledger, wallet);
  const order = orderItem === undefined ? undefined : readOrder(orderItem);
  const recorded = paymentItem === undefined ? undefined : readRecordedPayment(paymentItem);
  if (order?.rev !== first?.rev || stamp(walletBefore) !== stamp(walletAfter)) return undefined;
  return {
    ref,
    order,
    recorded,
    refunds,
    entries: all.filter(({ orderId }) => orderId === ref.orderId),
    wallet: order?.kind === 'TOP_UP' ? walletBooks(order, walletAfter, all) : undefined,
  };
}

async function itemAt({ store }: Ledger, key: ItemKey | undefined): Promise<StoredItem | undefined> {
  const [item] = key === undefined ? [] : await store.get([key]);
  return item;
}

/** Every write of a balance is counted. */
function stamp(item: StoredItem | undefined): string {
  return `${item?.['writes']?.N ?? ''} ${item?.['balance']?.N ?? ''}`;
}

function walletBooks(order: Order, item: StoredItem | undefined, entries: readonly Entry[]): WalletBooks {
  const asset = toppedUpAsset(order);
  return { asset, read: balanceOf(item), posted: postedTo(order.accountId, asset, entries) };
}

/** What an account's entries come to in its wallet. */
export function postedTo(accountId: string, asset: string, entries: readonly Entry[]): Decimal {
  const nets = entries.flatMap((entry) => netChanges(entry, ledgerAccount.wallet(accountId)));
  return add(ZERO, ...nets.filter((net) => net.asset === asset).map(({ net }) => net));
}

function refOf({ tenant, accountId, orderId }: OrderRef): OrderRef {
  return { tenant, accountId, orderId };
}
