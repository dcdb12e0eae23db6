import { z } from 'zod';
import type { Viewer } from '../../../auth/viewer.ts';
import type { Tenant } from '../../../config/tenants.ts';
import type { Decimal } from '../../kernel/money.ts';
import type { Answered, InputIssue, ProviderFailure } from '../../model/outcomes.ts';
import { cardTopUp } from './card-top-up.ts';
import { cashTopUp } from './cash-top-up.ts';
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
import { type TopUpTerms, topUpTerms } from './open-top-up.ts';
import { type Ledger, tenantOf } from '../runtime/ledger.ts';

export type TopUpKind = 'TopUpSuccess' | 'CapExceeded' | 'ProviderRefused';
export type TopUpOutcome = Answered<TopUpKind> | ProviderFailure;

const inputSchema = z.strictObject({
  accountId: optional(idText),
  asset: assetText.default('ECOPAY'),
  amount: decimalText,
  method: z.enum(['CASH', 'CHECKOUT']),
  successUrl: optional(z.string().max(2_048)),
  cancelUrl: optional(z.string().max(2_048)),
});
export type TopUpInput = z.output<typeof inputSchema>;

/** A top-up whose input is in order, as far as the input alone tells. */
export interface TopUp {
  readonly tenant: Tenant;
  readonly terms: TopUpTerms | undefined;
  readonly input: TopUpInput;
}

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
  const request: TopUp = { tenant, terms, input: value };
  return value.method === 'CASH'
    ? cashTopUp(ledger, viewer, key, request)
    : cardTopUp(ledger, viewer, key, request);
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
