import type { PlantedBug } from './planted-bug.ts';

type Answer = 'double-charges' | 'balances' | 'tampering' | 'webhooks' | 'failures' | 'audits';

/** A bug that this answer of `npm run prove` has to turn red under, tried in its short form. */
function noticedBy(answer: Answer, bug: Pick<PlantedBug, 'name' | 'file' | 'from' | 'to'>): PlantedBug {
  return { ...bug, tests: ['test/prove/answers.test.ts'], only: answer };
}

/** What `npm run prove` says of each answer would be worth nothing if it said it under these. */
export const PROVE: readonly PlantedBug[] = [
  noticedBy('double-charges', {
    name: 'proof: a request overwrites the record of the same request',
    file: 'src/ledger/items/idempotency-record.ts',
    from: "'attribute_not_exists(#uuid) OR #ttl < :now'",
    to: "'attribute_not_exists(#uuid) OR #ttl >= :now'",
  }),
  noticedBy('double-charges', {
    name: 'proof: another request under a key gets the answer of the first',
    file: 'src/ledger/usecases/runtime/idempotency.ts',
    from: 'if (record.fingerprint !== request.fingerprint) {',
    to: 'if (record.fingerprint === undefined) {',
  }),
  noticedBy('balances', {
    name: 'proof: charges at once take more than there is',
    file: 'src/ledger/items/entry-writes.ts',
    from: "{ kind: 'AT_LEAST', amount: grossDebit } : undefined;",
    to: "{ kind: 'AT_LEAST', amount: ZERO } : undefined;",
  }),
  noticedBy('balances', {
    name: 'proof: what goes into a wallet is booked the wrong way round',
    file: 'src/ledger/model/entries/entry.ts',
    from: 'net: subtract(add(before.net, credited), debited),',
    to: 'net: add(subtract(before.net, credited), debited),',
  }),
  noticedBy('balances', {
    name: 'proof: refunds at once give back more than was paid',
    file: 'src/ledger/items/order-writes.ts',
    from: 'ConditionExpression: `#rev = :before${bound}`',
    to: "ConditionExpression: `#rev = :before${bound.replace('AND', 'OR')} OR attribute_exists(#rev)`",
  }),
  noticedBy('tampering', {
    name: 'proof: an event with any amount pays the order',
    file: 'src/ledger/model/provider/update-decision.ts',
    from: "return amount?.eq(order.amount) === true ? undefined : mismatch('another amount than the order');",
    to: "return amount !== undefined ? undefined : mismatch('another amount than the order');",
  }),
  noticedBy('tampering', {
    name: 'proof: a customer names the price',
    file: 'src/auth/permissions.ts',
    from: "NAME_AMOUNT: ['MERCHANT', 'TERMINAL', 'ADMIN'],",
    to: "NAME_AMOUNT: ['CUSTOMER', 'MERCHANT', 'TERMINAL', 'ADMIN'],",
  }),
  noticedBy('tampering', {
    name: 'proof: a payment page leads back to any site',
    file: 'src/config/tenants.ts',
    from: 'return isAllowedReturnUrl(tenant.returnUrls, url);',
    to: 'return isAllowedReturnUrl(tenant.returnUrls, url) || url.length > 0;',
  }),
  noticedBy('webhooks', {
    name: 'proof: any signature is one of ours',
    file: 'src/provider/stripe/webhook-signature.ts',
    from: 'timingSafeEqual(signature, expected)',
    to: 'timingSafeEqual(signature, expected) || signature.length > 0',
  }),
  noticedBy('webhooks', {
    name: 'proof: money that arrives late does not pay a canceled order',
    file: 'src/ledger/model/orders/order-states.ts',
    from: "'FAILED', 'EXPIRED', 'CANCELED'], to: 'PAID' },",
    to: "'FAILED', 'EXPIRED'], to: 'PAID' },",
  }),
  noticedBy('failures', {
    name: 'proof: what nobody knows is told as done',
    file: 'src/ledger/usecases/runtime/guarded-command.ts',
    from: 'resolve: () => resolveUnknown(ledger, request, sent),',
    to: "resolve: () => Promise.resolve({ kind: 'ANSWER', answer: transaction.committed() }),",
  }),
  noticedBy('failures', {
    name: 'proof: a repeated call to Stripe is another call',
    file: 'src/ledger/model/provider/attempts.ts',
    from: "idempotencyKey: providerKey(order, 'session', String(attempt.number), attempt.tries),",
    to: "idempotencyKey: providerKey(order, 'session', String(process.hrtime.bigint()), attempt.tries),",
  }),
  noticedBy('audits', {
    name: 'proof: the audit passes over money in no account',
    file: 'src/ledger/usecases/audit/audit-ledger.ts',
    from: 'strays.push(...page.strays);',
    to: '',
  }),
  noticedBy('audits', {
    name: 'proof: the audit takes any balance for the sum of its postings',
    file: 'src/ledger/audit/audit.ts',
    from: '...judgeBalances(account),',
    to: '...judgeBalances(account).slice(9),',
  }),
];
