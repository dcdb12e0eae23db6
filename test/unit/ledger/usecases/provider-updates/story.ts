import { netChanges } from '../../../../../src/ledger/model/entries/entry.ts';
import { add } from '../../../../../src/ledger/kernel/money.ts';
import { applyEvent } from '../../../../../src/ledger/usecases/provider-updates/apply-event.ts';
import { type Order, isDisputed, overpaymentOf } from '../../../../../src/ledger/model/orders/order.ts';
import { type MemoryLedger, type ProviderState, memoryLedger } from './memory-ledger.ts';
import type { Reported } from './provider-objects.ts';

/** What happens to a payment, and all that the provider tells of it. */
export interface Story {
  /** The order before. */
  readonly order: Order;
  /** Told once and in order before the rest: what the story begins with. */
  readonly first?: readonly Reported[];
  /** What the customer spends between the beginning and the rest. */
  readonly spent?: string;
  /** Changes the order as an operation of ours does between the beginning and the rest. */
  readonly then?: (memory: MemoryLedger, order: Order) => void;
  /** Told in every order. */
  readonly events: readonly Reported[];
  /** What the provider says if it is asked, from the start: how the story ends. */
  readonly provider?: (state: ProviderState) => void;
}

/** Everything of an order and its ledger that must not depend on the order of arrival. */
export type Ending = ReturnType<typeof endingOf>;

/** How a story ends, for every order of its events and with every kind of repetition. */
export async function endings(story: Story): Promise<readonly Ending[]> {
  const distinct = new Map<string, Ending>();
  for (const permutation of permutations(story.events.map((event, index) => ({ event, index })))) {
    const once = permutation.map(({ event, index }) => delivery(event, `evt_${String(index)}`));
    const retold = permutation.map(({ event, index }) => delivery(event, `evt_again_${String(index)}`));
    const sequences = [
      once,
      once.flatMap((event) => [event, event]),
      [...once, ...[...once].reverse()],
      [...once, ...[...retold].reverse()],
    ];
    for (const sequence of sequences) {
      const ending = await play(story, sequence);
      distinct.set(JSON.stringify(ending), ending);
    }
  }
  return [...distinct.values()];
}

type Delivery = Reported & { readonly eventId: string };

function delivery(event: Reported, eventId: string): Delivery {
  return { ...event, eventId };
}

async function play(story: Story, sequence: readonly Delivery[]): Promise<Ending> {
  const memory = memoryLedger();
  story.provider?.(memory.provider);
  memory.put(story.order);
  await deliverAll(
    memory,
    (story.first ?? []).map((event, index) => delivery(event, `evt_first_${String(index)}`)),
  );
  if (story.spent !== undefined) memory.spend(story.spent);
  story.then?.(memory, memory.order(story.order));
  await deliverAll(memory, sequence);
  return endingOf(memory, memory.order(story.order));
}

/** Delivers each, and those that must come again later. */
async function deliverAll(memory: MemoryLedger, deliveries: readonly Delivery[]): Promise<void> {
  let left = deliveries;
  for (let rounds = 0; left.length > 0; rounds += 1) {
    if (rounds > 3) throw new Error('some event comes again for ever');
    const again: Delivery[] = [];
    for (const event of left) {
      const settled = await applyEvent(memory.ledger, event);
      if (settled.kind === 'RETRY_LATER') again.push(event);
    }
    left = again;
  }
}

function endingOf(memory: MemoryLedger, order: Order) {
  const sum = (account: string, asset: string): string =>
    add(
      ...memory.entries
        .flatMap((entry) => netChanges(entry, account))
        .filter((change) => change.asset === asset)
        .map(({ net }) => net),
    ).toFixed();
  const asset = order.asset ?? 'JPY';
  const paymentEntries = memory.entries.filter(
    ({ operation }) => operation === 'PAYMENT' || operation === 'TOP_UP',
  );
  return {
    state: order.state,
    disputed: isDisputed(order),
    refundable: order.refundable.toFixed(),
    refunded: order.refunded.toFixed(),
    refundPending: order.refundPending.toFixed(),
    receivable: order.receivable.toFixed(),
    refunds: memory
      .refunds(order)
      .filter((refund) => overpaymentOf(order, refund) === undefined)
      .map(({ refundId, state, amount }) => `${refundId} ${state} ${amount.toFixed()}`)
      .sort(),
    disputes: order.disputes.map(
      ({ disputeId, status, amount, recorded }) =>
        `${disputeId} ${status} ${amount.toFixed()} ${String(recorded)}`,
    ),
    overpayment: order.overpayments.map(
      ({ amount, refunded }) => `${amount.toFixed()} ${refunded.toFixed()}`,
    ),
    attempts: order.attempts.map(({ number, state }) => `${String(number)} ${state}`),
    voucher: order.voucher?.url,
    credited: paymentEntries.length,
    wallet: memory.balance().toFixed(),
    sums: {
      stripe: sum('stripe', asset),
      merchant: sum('merchant:cafe', asset),
      receivable: sum('receivable:alice', asset),
      overpayment: sum(`surplus:${order.orderId}`, 'JPY'),
    },
  };
}

function permutations<Value>(values: readonly Value[]): readonly (readonly Value[])[] {
  if (values.length <= 1) return [values];
  return values.flatMap((value, index) =>
    permutations(values.filter((_, other) => other !== index)).map((rest) => [value, ...rest]),
  );
}
