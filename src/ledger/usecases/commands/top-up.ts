import { z } from 'zod';
import type { Viewer } from '../../../auth/viewer.ts';
import { balanceOf } from '../../items/balance-item.ts';
import { balanceKey } from '../../kernel/keys.ts';
import type { Decimal } from '../../kernel/money.ts';
import { type Answered, type InputIssue, NOT_FOUND, type ProviderFailure } from '../../model/outcomes.ts';
import { answerRun } from '../provider-calls/resume-request.ts';
import { type ClaimFailure, runGuardedCommand } from '../runtime/guarded-command.ts';
import {
  amountIssue,
  assetText,
  decimalText,
  idText,
  invalidWith,
  optional,
  parseInput,
  priceIssue,
} from '../runtime/input.ts';
import {
  type TopUpKind,
  type TopUpTerms,
  type TopUpToMake,
  cardTopUp,
  cashTopUp,
  topUpTerms,
} from './decide-top-up.ts';
import { type Ledger, tenantOf } from '../runtime/ledger.ts';
import { notForSale } from '../runtime/outcomes.ts';

export type TopUpOutcome = Answered<TopUpKind> | ProviderFailure;

const inputSchema = z.strictObject({
  accountId: optional(idText),
  asset: assetText.default('ECOPAY'),
  amount: decimalText,
  method: z.enum(['CASH', 'CHECKOUT']),
  successUrl: optional(z.string().max(2_048)),
  cancelUrl: optional(z.string().max(2_048)),
});
type TopUpInput = z.output<typeof inputSchema>;

/** Adds value to a wallet: CASH at a terminal is credited at once, CHECKOUT when Stripe confirms. */
export async function topUp(
  ledger: Ledger,
  viewer: Viewer,
  key: string | undefined,
  input: z.input<typeof inputSchema>,
): Promise<TopUpOutcome> {
  const parsed = parseInput(inputSchema, input);
  if (parsed.kind === 'INVALID') return parsed.failure;
  const { value } = parsed;
  const tenant = tenantOf(ledger, viewer.tenant);
  // Whether the asset is sold is judged after the idempotency record: one that isn't any more must not break a replay.
  const terms = topUpTerms(tenant, value.asset);
  const issue = (terms === undefined ? undefined : amountIssueOf(value.amount, terms)) ?? shapeIssue(value);
  if (issue !== undefined) return invalidWith(issue);
  const { asset, amount, successUrl = '', cancelUrl = '' } = value;
  const accountId = walletOwner(viewer, value);
  if (accountId === undefined) return NOT_FOUND;
  const run = await runGuardedCommand<TopUpKind, ClaimFailure>(ledger, viewer, {
    operation: 'topUp',
    key,
    input: value,
    reads: [balanceKey({ tenant: viewer.tenant, accountId, asset })],
    decide: ([item], nowMs, request) => {
      if (terms === undefined) return { kind: 'ANSWER', failure: notForSale(tenant, asset) };
      const balance = balanceOf(item);
      const toMake: TopUpToMake = { viewer, tenant, terms, accountId, amount, balance, request, nowMs };
      return value.method === 'CASH'
        ? cashTopUp(ledger, toMake)
        : cardTopUp(ledger, toMake, { successUrl, cancelUrl });
    },
  });
  return answerRun(ledger, run);
}

/** Whose wallet the viewer may add to: with cash a terminal any, with a card a customer its own. Undefined: none. */
function walletOwner({ role, subject }: Viewer, { method, accountId }: TopUpInput): string | undefined {
  if (method === 'CASH') return role === 'TERMINAL' ? accountId : undefined;
  return role === 'CUSTOMER' && (accountId ?? subject) === subject ? subject : undefined;
}

function amountIssueOf(amount: Decimal, { rule, unit }: TopUpTerms): InputIssue | undefined {
  return amountIssue(['amount'], amount, rule.scale) ?? priceIssue(['amount'], amount, unit);
}

function shapeIssue({ method, accountId, successUrl, cancelUrl }: TopUpInput): InputIssue | undefined {
  if (method === 'CASH') {
    if (accountId === undefined)
      return { path: ['accountId'], code: 'required', message: 'is missing: whose wallet it is' };
    const given =
      successUrl === undefined ? (cancelUrl === undefined ? undefined : 'cancelUrl') : 'successUrl';
    return given === undefined
      ? undefined
      : { path: [given], code: 'not_allowed', message: 'cash has no payment page' };
  }
  if (successUrl === undefined)
    return { path: ['successUrl'], code: 'required', message: 'is missing: where to go once paid' };
  if (cancelUrl === undefined)
    return { path: ['cancelUrl'], code: 'required', message: 'is missing: where to go if not paid' };
  return undefined;
}
