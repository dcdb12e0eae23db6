import type { PlantedBug } from './planted-bug.ts';
import { AUDIT } from './planted-bugs-audit.ts';
import { EDGE } from './planted-bugs-edge.ts';
import { PROVE } from './planted-bugs-prove.ts';
import { REPAIR } from './planted-bugs-repair.ts';
import { PROVIDER } from './planted-bugs-provider.ts';
import { REFUNDS } from './planted-bugs-refunds.ts';
import { RESTORE } from './planted-bugs-restore.ts';

const FIELD_CASES = 'test/integration/faults/field-cases.test.ts';
const GUARDS = 'test/integration/faults/guards.test.ts';
const CHARGE = 'test/integration/ledger/charge.test.ts';
const TRANSACT = 'test/unit/ledger/table/transact.test.ts';
const CANCELLATION = 'test/unit/ledger/table/cancellation.test.ts';
const LEDGER_FAULTS = 'test/integration/faults/ledger-operations.test.ts';

/** The record and what rests on it. */
const IDEMPOTENCY: readonly PlantedBug[] = [
  {
    name: 'the marker overwrites a live one',
    file: 'src/ledger/items/idempotency-record.ts',
    from: "'attribute_not_exists(#uuid) OR #ttl < :now'",
    to: "'attribute_not_exists(#uuid) OR #ttl >= :now'",
    tests: [FIELD_CASES],
  },
  {
    name: 'the marker is written before the transaction',
    file: 'src/ledger/usecases/runtime/guarded-command.ts',
    from: 'plan: plan(token, putIdempotencyRecordIfNew(request.ref, record, epochS(nowMs)), ...decision.parts),',
    to: `plan: await ledger.transactor
      .commit(plan(ledger.ids.token(), putIdempotencyRecordIfNew(request.ref, record, epochS(nowMs))))
      .then(() => plan(token, ...decision.parts)),`,
    tests: [FIELD_CASES],
  },
  {
    name: 'an expired marker that is still there counts',
    file: 'src/ledger/items/idempotency-record.ts',
    from: 'return record.ttlS >= nowS;',
    to: 'return record.ttlS >= nowS || true;',
    tests: [GUARDS],
    only: 'C18',
  },
  {
    name: 'an expired marker that is still there blocks the write',
    file: 'src/ledger/items/idempotency-record.ts',
    from: "'attribute_not_exists(#uuid) OR #ttl < :now'",
    to: "'attribute_not_exists(#uuid) OR (#ttl < :now AND #ttl > :now)'",
    tests: [GUARDS],
    only: 'C18',
  },
  {
    name: 'the fingerprint ignores the amount',
    file: 'src/ledger/kernel/fingerprint.ts',
    from: '.filter(([, field]) => field !== undefined)',
    to: ".filter(([name, field]) => field !== undefined && name !== 'amount')",
    tests: ['test/unit/ledger/kernel/fingerprint.test.ts'],
  },
  {
    name: 'another fingerprint under the key gets the first answer',
    file: 'src/ledger/usecases/runtime/idempotency.ts',
    from: 'if (record.fingerprint !== request.fingerprint) {',
    to: 'if (record.fingerprint === undefined) {',
    tests: [GUARDS],
    only: 'C18',
  },
  {
    name: 'a replay is not counted',
    file: 'src/ledger/usecases/runtime/idempotency.ts',
    from: "  ledger.count('IdempotencyReplay');\n",
    to: '',
    tests: ['test/integration/ledger/idempotency.test.ts'],
    only: 'operators count',
  },
  {
    name: 'a refusal is not stored',
    file: 'src/ledger/usecases/runtime/idempotency.ts',
    from: `const result = await commit(
    ledger,
    plan(token, putIdempotencyRecordIfNew(request.ref, record, epochS(nowMs))),
  );`,
    to: "const result = { kind: 'COMMITTED', of: [plan, commit, putIdempotencyRecordIfNew, record, token] };",
    tests: [FIELD_CASES],
    only: 'refusal',
  },
  {
    name: 'a refusal is told though its put is unknown',
    file: 'src/ledger/usecases/runtime/idempotency.ts',
    from: "return seen.kind === 'ANSWER' ? seen.answer : THROTTLED;",
    to: "return seen.kind === 'ANSWER' ? seen.answer : answered(outcome, false);",
    tests: [FIELD_CASES],
    only: 'refusal',
  },
  {
    name: 'an unknown outcome is answered as a success',
    file: 'src/ledger/usecases/runtime/guarded-command.ts',
    from: 'resolve: () => resolveUnknown(ledger, request, sent),',
    to: "resolve: () => Promise.resolve({ kind: 'ANSWER', answer: transaction.committed() }),",
    tests: [FIELD_CASES],
    only: 'late',
  },
  {
    name: 'an unknown outcome is not asked about',
    file: 'src/ledger/usecases/runtime/guarded-command.ts',
    from: 'resolve: () => resolveUnknown(ledger, request, sent),',
    to: '',
    tests: [FIELD_CASES],
    only: 'every answer was lost',
  },
  {
    name: 'a claim that came late is taken for another caller',
    file: 'src/ledger/usecases/runtime/guarded-command.ts',
    from: 'if (own !== undefined) return',
    to: "if (own?.committed().kind === 'ANSWERED') return",
    tests: [FIELD_CASES],
    only: 'own claim',
  },
];

/** The executor, and how it reads what DynamoDB says. */
const EXECUTOR: readonly PlantedBug[] = [
  {
    name: 'a retry has a new token',
    file: 'src/ledger/table/transact.ts',
    from: 'ClientRequestToken: plan.requestToken ?? plan.token,',
    to: 'ClientRequestToken: ids.token(),',
    tests: [TRANSACT],
  },
  {
    name: 'its own marker is taken for another request',
    file: 'src/ledger/table/transact.ts',
    from: "return isOwn(outcome.record, plan) ? { kind: 'COMMITTED' } : outcome;",
    to: 'return outcome;',
    tests: [TRANSACT],
  },
  {
    name: "an event's own record after a lost answer is taken for a refusal",
    file: 'src/ledger/table/transact.ts',
    from: "return role === 'record' || role === 'event';",
    to: "return role === 'record';",
    tests: [TRANSACT],
  },
  {
    name: 'a lost answer followed by conflicts is a failure',
    file: 'src/ledger/table/transact.ts',
    from: "if (maybeCommitted) return { kind: 'UNKNOWN' };",
    to: "if (maybeCommitted && kind === 'UNKNOWN') return { kind: 'UNKNOWN' };",
    tests: [TRANSACT],
  },
  {
    name: 'the back-off does not grow',
    file: 'src/ledger/table/transact.ts',
    from: 'firstMs * 2 ** (times - left)',
    to: 'firstMs',
    tests: [TRANSACT],
  },
  {
    name: 'what is unclear is decided again at once',
    file: 'src/ledger/table/transact.ts',
    from: 'await wait(jittered(CONTENTION_MS, ids.fraction()));',
    to: '',
    tests: [TRANSACT],
  },
  {
    name: 'a validation error is retried',
    file: 'src/ledger/table/request-errors.ts',
    from: "ValidationException: 'INVALID'",
    to: "ValidationException: 'THROTTLED'",
    tests: [TRANSACT],
  },
  {
    name: 'the SDK retries by itself',
    file: 'src/ledger/table/dynamodb.ts',
    from: 'maxAttempts: 1,',
    to: 'maxAttempts: 3,',
    tests: ['test/integration/faults/fault-proxy.test.ts'],
    only: 'is sent once',
  },
  {
    name: 'the reasons are read one item off',
    file: 'src/ledger/table/cancellation.ts',
    from: '[[index, reasons[index]?.Item] as const]',
    to: '[[index, reasons[index + 1]?.Item] as const]',
    tests: [CANCELLATION],
  },
  {
    name: 'a replay among other failures is not seen',
    file: 'src/ledger/table/cancellation.ts',
    from: 'if (recordFirst && codes[0] !== undefined && isCondition(codes[0])) {',
    to: 'if (recordFirst && codes[0] !== undefined && codes.filter(isCondition).length === 1 && isCondition(codes[0])) {',
    tests: [CANCELLATION],
  },
  {
    name: 'a mix of rule and conflict is a business answer',
    file: 'src/ledger/table/cancellation.ts',
    from: "if (rest.length > 0) return { kind: 'UNCLEAR' };",
    to: '',
    tests: [CANCELLATION],
  },
  {
    name: 'an answer without content is an empty table',
    file: 'src/ledger/table/store.ts',
    from: 'return whole(await read());',
    to: 'return await read();',
    tests: [LEDGER_FAULTS],
    only: "'charge' .*cut to nothing",
  },
  {
    name: 'what a read left undone is taken for absent',
    file: 'src/ledger/table/store.ts',
    from: 'answer.UnprocessedKeys?.[options.tableName]?.Keys',
    to: "answer.UnprocessedKeys?.['another table']?.Keys",
    tests: [LEDGER_FAULTS],
    only: "'charge' .*but for its last key",
  },
];

/** The rules of money that the database judges. */
const CONDITIONS: readonly PlantedBug[] = [
  {
    name: 'the cap is not lowered by the amount',
    file: 'src/ledger/items/entry-writes.ts',
    from: 'amount: subtract(guard.cap, net) };',
    to: 'amount: guard.cap };',
    tests: [GUARDS],
    only: 'cap',
  },
  {
    name: 'a balance cannot be spent to the last coin',
    file: 'src/ledger/model/record-changes.ts',
    from: 'return `${name} >= ${value}`;',
    to: 'return `${name} > ${value}`;',
    tests: [CHARGE],
  },
  {
    name: 'a debit need not be covered',
    file: 'src/ledger/items/entry-writes.ts',
    from: "{ kind: 'AT_LEAST', amount: grossDebit } : undefined;",
    to: "{ kind: 'AT_LEAST', amount: ZERO } : undefined;",
    tests: [CHARGE],
  },
  {
    name: 'a sign is flipped',
    file: 'src/ledger/model/entries/entry.ts',
    from: 'net: subtract(add(before.net, credited), debited),',
    to: 'net: add(subtract(before.net, credited), debited),',
    tests: [CHARGE],
  },
  {
    name: 'a wallet refund goes the wrong way',
    file: 'src/ledger/model/orders/postings.ts',
    from: 'return { debit: seller(order), credit: ledgerAccount.wallet(order.accountId), asset, amount };',
    to: 'return { debit: ledgerAccount.wallet(order.accountId), credit: seller(order), asset, amount };',
    tests: [GUARDS],
    only: 'refund',
  },
  {
    name: 'an order is written whoever wrote it meanwhile',
    file: 'src/ledger/items/order-writes.ts',
    from: 'ConditionExpression: `#rev = :before${bound}`',
    to: 'ConditionExpression: `(#rev = :before OR attribute_exists(#rev))${bound}`',
    tests: [GUARDS],
    only: 'pay an order once',
  },
  {
    name: 'neither rev nor what is refundable bounds a refund',
    file: 'src/ledger/items/order-writes.ts',
    from: 'ConditionExpression: `#rev = :before${bound}`',
    to: "ConditionExpression: `#rev = :before${bound.replace('AND', 'OR')} OR attribute_exists(#rev)`",
    tests: [GUARDS],
    only: 'refund',
  },
  {
    name: 'a lost race on the order is told as a lack of money',
    file: 'src/ledger/usecases/runtime/guarded-command.ts',
    from: "result.failed.has('order') || result.failed.has('proposal')",
    to: "result.failed.has('proposal')",
    tests: [GUARDS],
    only: 'pay an order once',
  },
  {
    name: 'a payment code opens any number of orders',
    file: 'src/ledger/usecases/commands/create-order.ts',
    from: '...(code === undefined ? [] : [useUp(code)])',
    to: '...(code === undefined || useUp(code).items.length > 0 ? [] : [])',
    tests: [GUARDS],
    only: 'payment code',
  },
  {
    name: 'a price of another currency is taken for one of the tenant’s',
    file: 'src/ledger/usecases/commands/create-order.ts',
    from: ' || product.currency !== unit.code',
    to: '',
    tests: ['test/integration/ledger/changed-tenant.test.ts'],
  },
  {
    name: 'a change is published before it is committed',
    file: 'src/ledger/usecases/runtime/ledger.ts',
    from: 'const result = await ledger.transactor.commit(plan, {',
    to: 'publish(ledger.bus, plan);\n  const result = await ledger.transactor.commit(plan, {',
    tests: [GUARDS],
    only: 'published',
  },
];

/** Every planted bug. Each has to be noticed by its tests. */
export const PLANTED_BUGS: readonly PlantedBug[] = [
  ...IDEMPOTENCY,
  ...EXECUTOR,
  ...CONDITIONS,
  ...PROVIDER,
  ...AUDIT,
  ...EDGE,
  ...PROVE,
  ...REFUNDS,
  ...REPAIR,
  ...RESTORE,
];
