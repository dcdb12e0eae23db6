import type { PlantedBug } from './planted-bugs.ts';

const PROVIDER_FAULTS = 'test/integration/faults/provider-operations.test.ts';
const TAKEOVER = 'test/integration/provider/takeover.test.ts';

/** The provider's side: claims, events, steps. */
export const PROVIDER: readonly PlantedBug[] = [
  {
    name: "an event's marker commits before its effect",
    file: 'src/ledger/operations/settle-fact.ts',
    from: 'const transaction = plan(token, ...parts);',
    to: `if (source.kind === 'EVENT') await commit(ledger, plan(token, ...parts.splice(0, 1)));
  const transaction = plan(ledger.ids.token(), ...parts);`,
    tests: [PROVIDER_FAULTS],
    only: "'the event of a payment' ",
  },
  {
    name: 'a payment is booked although it is booked already',
    file: 'src/ledger/provider/event-item.ts',
    from: "putNew('payment', {",
    to: "((role, item) => ({ role, item: { Put: { Item: toAttributes(item) } } }))('payment', {",
    tests: ['test/unit/events/event-item.test.ts'],
  },
  {
    name: 'a claim is taken over before its lease ends',
    file: 'src/ledger/provider/attempts.ts',
    from: 'mayTakeOver(claim, nowMs) ? { ...claim, ...to } : undefined,',
    to: 'mayTakeOver(claim, nowMs + 3_600_000) ? { ...claim, ...to } : undefined,',
    tests: ['test/unit/attempts.test.ts', TAKEOVER],
  },
  {
    name: 'a claim is completed whoever owns it now',
    file: 'src/ledger/operations/complete-claim.ts',
    from: 'if (order === undefined || claimOwnedBy(order, claim.owner) === undefined) {',
    to: 'if (order === undefined) {',
    tests: [TAKEOVER],
  },
  {
    name: 'each call to Stripe has a key of its own',
    file: 'src/ledger/provider/attempts.ts',
    from: "idempotencyKey: providerKey(order, 'session', String(attempt.number), attempt.tries),",
    to: "idempotencyKey: providerKey(order, 'session', String(process.hrtime.bigint()), attempt.tries),",
    tests: [TAKEOVER],
  },
  {
    name: 'money that arrives does not pay a canceled order',
    file: 'src/ledger/orders/order-states.ts',
    from: "'FAILED', 'EXPIRED', 'CANCELED'], to: 'PAID' },",
    to: "'FAILED', 'EXPIRED'], to: 'PAID' },",
    tests: ['test/unit/ledger/orders/order-states.test.ts'],
  },
  {
    name: "another worker's step is taken up within its lease",
    file: 'src/ledger/orders/steps.ts',
    from: '(step.leaseEndMs ?? step.nextAttemptAtMs) <= nowMs',
    to: 'step.nextAttemptAtMs <= nowMs',
    tests: ['test/unit/fulfilment/steps.test.ts'],
  },
  {
    name: 'a claim without a key is forgotten after its window',
    file: 'src/ledger/operations/idempotency.ts',
    from: "state.status === 'PROCESSING' ? epochS(nowMs) + MARKER_LIFE_S : outcomeTtlS(ledger, ref, nowMs)",
    to: 'outcomeTtlS(ledger, ref, nowMs)',
    tests: ['test/integration/provider/without-key.test.ts'],
  },
  {
    name: 'a refund that is pending at the provider backs one that is booked',
    file: 'src/ledger/operations/find-unbacked.ts',
    from: '(status === undefined || backing.status === status) &&',
    to: '',
    tests: ['test/integration/provider/unbacked.test.ts'],
  },
  {
    name: 'the sweeper asks as fast as it can',
    file: 'src/fulfilment/paced-provider.ts',
    from: 'nextTurnMs = turnMs + 1000 / callsPerSecond;',
    to: 'nextTurnMs = turnMs;',
    tests: ['test/integration/provider/sweeper.test.ts'],
  },
  {
    name: 'the refund of a surplus payment is not waited for',
    file: 'src/ledger/orders/order-changes.ts',
    from: 'order.surplus.some((payment) => awaitsSurplusRefund(order, payment)) ||',
    to: '',
    tests: ['test/unit/ledger/orders/due.test.ts'],
  },
  {
    name: 'value that arrives while spent value is taken back stays, and is owed',
    file: 'src/ledger/orders/order-postings.ts',
    from: 'guards: lacking.gt(ZERO) ? {',
    to: 'guards: lacking.gt(ZERO) && taken.gt(ZERO) ? {',
    tests: ['test/integration/webhooks/refunds-and-disputes.test.ts'],
    only: 'that very instant',
  },
  {
    name: 'a fact is put off for as long as its wallet moves',
    file: 'src/ledger/operations/settle-fact.ts',
    from: 'isLast ? withoutGuards(judge) : judge',
    to: 'isLast ? judge : judge',
    tests: ['test/integration/webhooks/refunds-and-disputes.test.ts'],
    only: 'booked in the end',
  },
  {
    name: "a step's result whose answers got lost is taken for another worker's",
    file: 'src/ledger/operations/change-order.ts',
    from: "return { kind: 'CHANGED', before: unsettled.before, after: unsettled.after };",
    to: '',
    tests: ['test/integration/fulfilment/lost-answers.test.ts'],
    only: 'counted as done',
  },
  {
    name: 'a worker is not woken by a payment',
    file: 'src/fulfilment/wake-ups.ts',
    from: 'WALLET_CHARGED: true',
    to: 'WALLET_CHARGED: false',
    tests: ['test/unit/fulfilment/wake-ups.test.ts'],
  },
];
