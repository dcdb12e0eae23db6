import { type AttributeInput, type StoredItem, readString, optionalString } from '../kernel/attributes.ts';
import type { OrderState } from './orders/order-states.ts';

/**
 * What an idempotency record freezes, as data: each stored outcome and the names of its facts, `?` for one that may
 * be absent. Facts are texts: ids and full-scale decimals. Entities and balances are read live instead
 * (docs/DESIGN.md §5.7).
 */
const STORED = {
  CreateOrderSuccess: ['accountId', 'orderId'],
  ChargeSuccess: ['accountId', 'orderId', 'entryId', 'asset'],
  CheckoutSuccess: ['accountId', 'orderId'],
  TopUpSuccess: ['accountId', 'orderId', 'asset', 'entryId?'],
  RefundSuccess: ['accountId', 'orderId', 'refundId', 'entryId?', 'asset?'],
  CancelOrderSuccess: ['accountId', 'orderId'],
  SkipStepSuccess: ['accountId', 'orderId', 'stepName'],
  AdjustBalanceSuccess: ['accountId', 'asset', 'entryId'],
  PendingApproval: ['accountId', 'proposalId'],
  ApproveSuccess: ['accountId', 'proposalId', 'asset', 'entryId'],
  RejectProposalSuccess: ['accountId', 'proposalId'],
  InsufficientBalance: ['asset', 'required', 'available'],
  CapExceeded: ['asset', 'cap', 'room'],
  OrderNotPayable: ['accountId', 'orderId', 'state'],
  OrderNotRefundable: ['accountId', 'orderId', 'state'],
  OrderNotCancelable: ['accountId', 'orderId', 'state'],
  OrderDisputed: [],
  RefundExceedsRefundable: ['refundable'],
  ProviderRefused: ['code'],
  ProposalNotOpen: ['accountId', 'proposalId', 'state'],
  SecondAdminRequired: ['accountId', 'proposalId'],
} as const;

export type StoredKind = keyof typeof STORED;
type FieldName<Kind extends StoredKind> = (typeof STORED)[Kind][number];
type FrozenFields<Names extends string> = {
  readonly [Name in Names as Name extends `${string}?` ? never : Name]: string;
} & { readonly [Name in Names as Name extends `${infer Bare}?` ? Bare : never]?: string };

type AnyStored = {
  [Kind in StoredKind]: { readonly kind: Kind } & FrozenFields<FieldName<Kind>>;
}[StoredKind];

/** An outcome that its idempotency record keeps: a success, or a refusal that a late duplicate must not turn into a yes. */
export type Stored<Kind extends StoredKind = StoredKind> = Extract<AnyStored, { readonly kind: Kind }>;

/** A stored outcome as an answer: `replayed` tells that an earlier request with the same key got it. */
export type Answered<Kind extends StoredKind = StoredKind> = Stored<Kind> & { readonly replayed: boolean };

/** What can be wrong with an input, for machines. docs/CLIENTS.md says what each means; more may come. */
export const ISSUE_CODES = [
  'bad_code',
  'bad_decimal',
  'bad_format',
  'bad_id',
  'bad_scale',
  'bad_text',
  'bad_value',
  'consent_required',
  'exactly_one',
  'invalid',
  'moves_money',
  'not_a_purchase',
  'not_allowed',
  'not_dead',
  'not_positive',
  'required',
  'too_large',
  'too_many_attempts',
  'too_many_refunds',
  'too_small',
  'unknown_asset',
  'unknown_field',
  'unknown_sku',
  'url_not_allowed',
  'used_code',
  'wrong_asset',
  'wrong_type',
  'zero',
] as const;

export type IssueCode = (typeof ISSUE_CODES)[number];

export interface InputIssue {
  readonly path: readonly string[];
  readonly code: IssueCode;
  /** English, for developers. It repeats nothing of the input. */
  readonly message: string;
}

/** Failures that no idempotency record keeps: the key stays usable. */
export type Unstored =
  | { readonly kind: 'IdempotencyKeyReused' }
  | { readonly kind: 'IdempotencyInProgress'; readonly retryAfterMs: number }
  | { readonly kind: 'TransactionConflict'; readonly retryAfterMs: number }
  | { readonly kind: 'Throttled'; readonly retryAfterMs: number }
  | { readonly kind: 'ProviderUnavailable'; readonly retryAfterMs: number }
  | { readonly kind: 'NotFound' }
  | { readonly kind: 'InvalidInput'; readonly issues: readonly InputIssue[] };

export type UnstoredKind = Unstored['kind'];
export type UnstoredOf<Kind extends UnstoredKind> = Extract<Unstored, { readonly kind: Kind }>;

/** The failures of every operation that an idempotency record guards and that touches the ledger alone. */
export type LedgerFailure = UnstoredOf<
  'IdempotencyKeyReused' | 'TransactionConflict' | 'Throttled' | 'InvalidInput' | 'NotFound'
>;

/** The failures of an operation that also calls the provider. */
export type ProviderFailure = LedgerFailure | UnstoredOf<'IdempotencyInProgress' | 'ProviderUnavailable'>;

/** The failures of operations without a key: they set values, so repeating them is safe. */
export type PlainFailure = UnstoredOf<'TransactionConflict' | 'Throttled' | 'InvalidInput' | 'NotFound'>;

export const CONFLICT: UnstoredOf<'TransactionConflict'> = { kind: 'TransactionConflict', retryAfterMs: 500 };
export const THROTTLED: UnstoredOf<'Throttled'> = { kind: 'Throttled', retryAfterMs: 2_000 };
export const PROVIDER_UNAVAILABLE: UnstoredOf<'ProviderUnavailable'> = {
  kind: 'ProviderUnavailable',
  retryAfterMs: 5_000,
};
export const NOT_FOUND: UnstoredOf<'NotFound'> = { kind: 'NotFound' };
export const KEY_REUSED: UnstoredOf<'IdempotencyKeyReused'> = { kind: 'IdempotencyKeyReused' };

export function invalid(
  path: readonly string[],
  code: IssueCode,
  message: string,
): UnstoredOf<'InvalidInput'> {
  return { kind: 'InvalidInput', issues: [{ path, code, message }] };
}

export function storedAttributes(outcome: Stored): Readonly<Record<string, AttributeInput | undefined>> {
  return { ...outcome };
}

/** Reads a frozen outcome. Throws MalformedItemError if it lacks a fact. */
export function readStored(map: StoredItem): Stored {
  const kind = readString(map, 'kind');
  const entry = Object.entries(STORED).find(([name]) => name === kind);
  if (entry === undefined) throw new RangeError('unknown stored outcome');
  const details = entry[1].map((name: string) => [name.replace('?', ''), frozenField(map, name)] as const);
  const present = details.filter(([, value]) => value !== undefined);
  // The loop above read exactly the facts that STORED names for this kind, which is what Stored<kind> is made of.
  return { kind, ...Object.fromEntries(present) } as Stored;
}

function frozenField(map: StoredItem, name: string): string | undefined {
  return name.endsWith('?') ? optionalString(map, name.slice(0, -1)) : readString(map, name);
}

/** SAME_KEY: retry with the same key. NEW_KEY: once something has changed, by the user's decision. NEVER: it can't work. */
export type RetryAdvice = 'NEVER' | 'NEW_KEY' | 'SAME_KEY';

export const FAILURE_KINDS = [
  'InsufficientBalance',
  'CapExceeded',
  'OrderNotPayable',
  'OrderNotRefundable',
  'OrderNotCancelable',
  'OrderDisputed',
  'RefundExceedsRefundable',
  'ProviderRefused',
  'ProposalNotOpen',
  'SecondAdminRequired',
  'IdempotencyKeyReused',
  'IdempotencyInProgress',
  'TransactionConflict',
  'Throttled',
  'ProviderUnavailable',
  'NotFound',
  'InvalidInput',
] as const satisfies readonly (StoredKind | UnstoredKind)[];

export type FailureKind = (typeof FAILURE_KINDS)[number];
export type Failure = Unstored | Answered<Extract<FailureKind, StoredKind>>;

const CLOSED_FOR_GOOD: readonly string[] = [
  'PAID',
  'CONFIRMED',
  'REFUNDED',
  'CANCELED',
] satisfies OrderState[];

/** What a client should do next, for every failure there is (docs/DESIGN.md §6). */
export function retryAdvice(failure: Failure): RetryAdvice {
  switch (failure.kind) {
    case 'IdempotencyInProgress':
    case 'TransactionConflict':
    case 'Throttled':
    case 'ProviderUnavailable':
      return 'SAME_KEY';
    case 'OrderNotPayable':
    case 'OrderNotCancelable':
      return CLOSED_FOR_GOOD.includes(failure.state) ? 'NEVER' : 'NEW_KEY';
    case 'OrderNotRefundable':
      return failure.state === 'REFUNDED' || failure.state === 'CANCELED' ? 'NEVER' : 'NEW_KEY';
    case 'InsufficientBalance':
    case 'CapExceeded':
    case 'OrderDisputed':
    case 'RefundExceedsRefundable':
    case 'ProviderRefused':
      return 'NEW_KEY';
    case 'ProposalNotOpen':
    case 'SecondAdminRequired':
    case 'IdempotencyKeyReused':
    case 'NotFound':
    case 'InvalidInput':
      return 'NEVER';
  }
}
