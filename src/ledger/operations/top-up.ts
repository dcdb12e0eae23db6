import { z } from 'zod';
import type { Viewer } from '../../auth/viewer.ts';
import type { AssetRule, Tenant } from '../../tenants.ts';
import { type Currency, currency } from '../currencies.ts';
import type { Decimal } from '../money.ts';
import type { Answered, InputIssue, ProviderFailure } from '../outcomes.ts';
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
} from './input.ts';
import { type Ledger, tenantOf } from './ledger.ts';

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

/** A top-up whose input is in order: an asset that can be bought, an amount that can be paid. */
export interface TopUp {
  readonly tenant: Tenant;
  readonly input: TopUpInput;
  readonly rule: AssetRule;
  /** What is paid in, one to one. */
  readonly unit: Currency;
  readonly amount: Decimal;
}

/** Adds value to a wallet: CASH at a terminal is credited at once, CHECKOUT when Stripe confirms. */
export async function topUp(
  ledger: Ledger,
  viewer: Viewer,
  key: string | undefined,
  input: unknown,
): Promise<TopUpOutcome> {
  const parsed = parseInput(inputSchema, input);
  if (parsed.kind === 'INVALID') return parsed.failure;
  const { value } = parsed;
  const tenant = tenantOf(ledger, viewer.tenant);
  const rule = tenant.assets.get(value.asset);
  if (rule?.pays === undefined) {
    return invalidWith({
      path: ['asset'],
      code: 'unknown_asset',
      message: 'not an asset that can be bought',
    });
  }
  const unit = currency(rule.pays);
  const issue = topUpIssue(value, rule, unit);
  if (issue !== undefined) return invalidWith(issue);
  const request: TopUp = { tenant, input: value, rule, unit, amount: value.amount };
  return value.method === 'CASH'
    ? cashTopUp(ledger, viewer, key, request)
    : cardTopUp(ledger, viewer, key, request);
}

function topUpIssue(input: TopUpInput, rule: AssetRule, unit: Currency): InputIssue | undefined {
  const { method, accountId, successUrl, cancelUrl, amount } = input;
  const issue = amountIssue(['amount'], amount, rule.scale) ?? priceIssue(['amount'], amount, unit);
  if (issue !== undefined) return issue;
  if (method === 'CASH') {
    if (accountId === undefined)
      return { path: ['accountId'], code: 'required', message: 'whose wallet it is' };
    const given =
      successUrl === undefined ? (cancelUrl === undefined ? undefined : 'cancelUrl') : 'successUrl';
    return given === undefined
      ? undefined
      : { path: [given], code: 'not_allowed', message: 'cash has no payment page' };
  }
  if (successUrl === undefined)
    return { path: ['successUrl'], code: 'required', message: 'where to go once paid' };
  if (cancelUrl === undefined)
    return { path: ['cancelUrl'], code: 'required', message: 'where to go if not paid' };
  return undefined;
}
