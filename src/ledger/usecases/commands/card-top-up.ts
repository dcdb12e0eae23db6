import type { Viewer } from '../../../auth/viewer.ts';
import { claimAttempt } from '../../model/provider/attempts.ts';
import { balanceOf } from '../../items/balance-item.ts';
import { checkRoom } from '../../items/entry-writes.ts';
import { balanceKey } from '../../kernel/keys.ts';
import { type Decimal, add } from '../../kernel/money.ts';
import { putOrder } from '../../items/order-writes.ts';
import { type Answered, NOT_FOUND, type ProviderFailure } from '../../model/outcomes.ts';
import { answerSessionRun, returnUrlIssue } from './checkout.ts';
import { newLease } from '../provider-calls/complete-claim.ts';
import { type ClaimFailure, type Decision, runGuardedCommand } from '../runtime/guarded-command.ts';
import type { Request } from '../runtime/idempotency.ts';
import { invalidWith } from '../runtime/input.ts';
import type { Ledger } from '../runtime/ledger.ts';
import { notForSale, openTopUp, overCap, whenOverCap } from './open-top-up.ts';
import type { TopUp } from './top-up.ts';

type CardTopUpKind = 'TopUpSuccess' | 'CapExceeded' | 'ProviderRefused';
type CardTopUpDecision = Decision<CardTopUpKind, ClaimFailure>;

/**
 * Opens a payment page for value of the customer's own wallet. The cap binds here; when the provider confirms, the
 * wallet is credited without one, since money that has arrived is never stranded (docs/DESIGN.md §4).
 */
export async function cardTopUp(
  ledger: Ledger,
  viewer: Viewer,
  key: string | undefined,
  request: TopUp,
): Promise<Answered<CardTopUpKind> | ProviderFailure> {
  const { input } = request;
  const { asset, accountId = viewer.subject } = input;
  if (viewer.role !== 'CUSTOMER' || accountId !== viewer.subject) return NOT_FOUND;
  const run = await runGuardedCommand<CardTopUpKind, ClaimFailure>(ledger, viewer, {
    operation: 'topUp',
    key,
    input,
    reads: [balanceKey({ tenant: viewer.tenant, accountId, asset })],
    decide: ([balance], nowMs, guarded) =>
      decide(ledger, { viewer, accountId, topUp: request, guarded }, balanceOf(balance), nowMs),
  });
  return answerSessionRun(ledger, run);
}

interface Wanted {
  readonly viewer: Viewer;
  readonly accountId: string;
  readonly topUp: TopUp;
  readonly guarded: Request;
}

function decide(ledger: Ledger, wanted: Wanted, balance: Decimal, nowMs: number): CardTopUpDecision {
  const { viewer, accountId, topUp, guarded } = wanted;
  const { tenant, terms, input } = topUp;
  const { asset, amount, successUrl, cancelUrl } = input;
  if (successUrl === undefined || cancelUrl === undefined) throw new RangeError('checked by topUp');
  if (terms === undefined) return notForSale(tenant, asset);
  const issue = returnUrlIssue(tenant, { successUrl, cancelUrl });
  if (issue !== undefined) return { kind: 'ANSWER', failure: invalidWith(issue) };
  const { rule } = terms;
  const { cap } = rule;
  const full = cap !== undefined && add(balance, amount).gt(cap) ? overCap(rule, balance) : undefined;
  if (full !== undefined) return full;
  const opened = openTopUp(ledger, viewer, accountId, input, terms, nowMs);
  const page = { successUrl, cancelUrl, paymentMethodTypes: tenant.paymentMethods };
  const order = claimAttempt(opened, page, newLease(ledger, guarded, nowMs), nowMs);
  const ref = { tenant: viewer.tenant, accountId, asset };
  return {
    kind: 'CLAIM',
    parts: [
      putOrder(order, ledger.settings),
      ...(cap === undefined ? [] : [{ items: [checkRoom(ref, amount, cap)] }]),
    ],
    order,
    whenRefused: whenOverCap(rule),
  };
}
