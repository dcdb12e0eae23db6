import { z } from 'zod';
import { mayOpenOrder, mayPerform } from '../../../auth/permissions.ts';
import type { PaymentCodeClaims } from '../../../auth/payment-code.ts';
import type { Viewer } from '../../../auth/viewer.ts';
import type { Tenant } from '../../../config/tenants.ts';
import type { StoredItem } from '../../kernel/attributes.ts';
import { epochS } from '../../kernel/clock.ts';
import { type Currency, currency } from '../../kernel/currencies.ts';
import { defined } from '../../kernel/defined.ts';
import { integer } from '../../kernel/integers.ts';
import { paymentCodeKey, productKey } from '../../kernel/keys.ts';
import { type Decimal, add } from '../../kernel/money.ts';
import { MAX_LINES } from '../../model/orders/order-changes.ts';
import { putMetadata } from '../../items/order-metadata-item.ts';
import { putOrder } from '../../items/order-writes.ts';
import type { OrderLine } from '../../model/orders/order.ts';
import {
  MAX_METADATA,
  MAX_METADATA_VALUE,
  METADATA_KEY,
  type MetadataEntry,
} from '../../model/orders/order-metadata.ts';
import {
  type Answered,
  type InputIssue,
  type LedgerFailure,
  NOT_FOUND,
  invalid,
} from '../../model/outcomes.ts';
import { openOrder } from '../../model/orders/payments.ts';
import { type PlanPart, putNew } from '../../items/plan.ts';
import { readProduct } from '../../model/product.ts';
import { type Decision, runLedgerCommand } from '../runtime/guarded-command.ts';
import {
  decimalText,
  idText,
  invalidWith,
  optional,
  parseInput,
  priceIssue,
  shortText,
} from '../runtime/input.ts';
import { type Ledger, tenantOf } from '../runtime/ledger.ts';

export type CreateOrderOutcome = Answered<'CreateOrderSuccess'> | LedgerFailure;
type CreateOrderDecision = Decision<'CreateOrderSuccess'>;

/** A used code's mark outlives the code by a day; then the code itself has long expired. */
const CODE_MARK_LIFE_S = 86_400;

/** Short enough that an order with it costs no more than one without. */
const MAX_REFERENCE_BYTES = 64;
const TOO_LONG = { params: { code: 'too_large' }, error: 'must have at most 64 bytes in UTF-8' };

const metadataEntry = z.strictObject({
  key: z.string().regex(METADATA_KEY),
  value: shortText(MAX_METADATA_VALUE),
});

const inputSchema = z.strictObject({
  merchantId: idText,
  accountId: optional(idText),
  paymentCode: optional(z.string().max(2_048)),
  items: optional(
    z
      .array(z.strictObject({ sku: idText, quantity: z.int().min(1).max(9_999) }))
      .min(1)
      .max(MAX_LINES),
  ),
  amount: optional(decimalText),
  description: optional(shortText(200)),
  reference: optional(shortText(2_048).refine(fitsReference, TOO_LONG)),
  metadata: optional(z.array(metadataEntry).max(MAX_METADATA).superRefine(eachKeyOnce)),
});
type Input = z.output<typeof inputSchema>;

function fitsReference(text: string): boolean {
  return Buffer.byteLength(text) <= MAX_REFERENCE_BYTES;
}

function eachKeyOnce(metadata: readonly MetadataEntry[], context: z.RefinementCtx): void {
  for (const [index, { key }] of metadata.entries()) {
    if (metadata.findIndex((one) => one.key === key) === index) continue;
    const path = [index, 'key'];
    context.addIssue({ code: 'custom', path, params: { code: 'bad_value' }, message: 'is there already' });
  }
}

/**
 * Opens an order. Prices come from the catalogue, on the server; only a merchant, terminal or admin may name an amount.
 * A scanned payment code names the account, is its consent, and is used up in the same transaction.
 */
export async function createOrder(
  ledger: Ledger,
  viewer: Viewer,
  key: string | undefined,
  input: z.input<typeof inputSchema>,
): Promise<CreateOrderOutcome> {
  const parsed = parseInput(inputSchema, input);
  if (parsed.kind === 'INVALID') return parsed.failure;
  const { value } = parsed;
  const tenant = tenantOf(ledger, viewer.tenant);
  const unit = currency(tenant.currency);
  const issue = shapeIssue(viewer, value, unit);
  if (issue !== undefined) return invalidWith(issue);
  const { merchantId } = value;

  return runLedgerCommand(ledger, viewer, {
    operation: 'createOrder',
    key,
    input: value,
    reads: (value.items ?? []).map(({ sku }) => productKey({ tenant: viewer.tenant, merchantId, sku })),
    decide: async (found, nowMs) => {
      // Judged after the idempotency record: a merchant that has gone since must not break a replay.
      if (!tenant.merchants.has(merchantId)) return { kind: 'ANSWER', failure: NOT_FOUND };
      const owner = await accountOf(ledger, viewer, value, nowMs);
      if ('kind' in owner) return { kind: 'ANSWER', failure: owner };
      const lines = value.items === undefined ? namedLine(value) : catalogueLines(value.items, found, unit);
      if ('kind' in lines) return { kind: 'ANSWER', failure: lines };
      return open(ledger, viewer, { tenant, unit, merchantId, lines, input: value, ...owner }, nowMs);
    },
  });
}

/** What can be told from the input alone, before anything is read. */
function shapeIssue(viewer: Viewer, input: Input, unit: Currency): InputIssue | undefined {
  const { items, amount, description, paymentCode, accountId } = input;
  if ((items === undefined) === (amount === undefined)) {
    return { path: ['items'], code: 'exactly_one', message: 'give exactly one of items and amount' };
  }
  if (paymentCode !== undefined && accountId !== undefined) {
    return {
      path: ['paymentCode'],
      code: 'exactly_one',
      message: 'names the account already: give one of it and accountId',
    };
  }
  if (paymentCode !== undefined && viewer.role !== 'TERMINAL') {
    return {
      path: ['paymentCode'],
      code: 'not_allowed',
      message: 'is for terminals, which scan payment codes',
    };
  }
  if (viewer.role !== 'CUSTOMER' && paymentCode === undefined && accountId === undefined) {
    return { path: ['accountId'], code: 'required', message: 'is missing: whose order it is' };
  }
  if (amount === undefined) return undefined;
  if (!mayPerform(viewer.role, 'NAME_AMOUNT')) {
    return {
      path: ['amount'],
      code: 'not_allowed',
      message: 'a customer names products, the server prices them',
    };
  }
  if (description === undefined)
    return { path: ['description'], code: 'required', message: 'is missing: it names the line of an amount' };
  return priceIssue(['amount'], amount, unit);
}

interface Owner {
  readonly accountId: string;
  readonly code?: PaymentCodeClaims;
}

/** Whose order it will be. A code is judged here, after the idempotency record: its expiry must not break a replay. */
async function accountOf(
  ledger: Ledger,
  viewer: Viewer,
  { accountId, paymentCode, merchantId }: Input,
  nowMs: number,
): Promise<Owner | LedgerFailure> {
  const { tenant } = viewer;
  if (paymentCode === undefined) {
    const owner = accountId ?? viewer.subject;
    return mayOpenOrder(viewer, { tenant, accountId: owner, merchantId }) ? { accountId: owner } : NOT_FOUND;
  }
  const code = await ledger.paymentCodes.read(paymentCode, nowMs);
  if (code?.tenant !== tenant)
    return invalid(['paymentCode'], 'bad_code', 'not a payment code, or an expired one');
  const mayOpen = mayOpenOrder(viewer, { tenant, accountId: code.accountId, merchantId });
  return mayOpen ? { accountId: code.accountId, code } : NOT_FOUND;
}

function namedLine({ amount, description }: Input): readonly OrderLine[] {
  if (amount === undefined || description === undefined) throw new RangeError('checked by shapeIssue');
  return [{ name: description, quantity: 1, unitPrice: amount, amount }];
}

function catalogueLines(
  items: NonNullable<Input['items']>,
  found: readonly (StoredItem | undefined)[],
  unit: Currency,
): readonly OrderLine[] | LedgerFailure {
  const issues: InputIssue[] = [];
  const lines: OrderLine[] = [];
  for (const [index, { sku, quantity }] of items.entries()) {
    const item = found[index];
    const product = item === undefined ? undefined : readProduct(item);
    // A price in the currency that its tenant had before says nothing of today's.
    if (product?.active !== true || product.currency !== unit.code) {
      const path = ['items', String(index), 'sku'];
      issues.push({ path, code: 'unknown_sku', message: 'the merchant sells no such product' });
      continue;
    }
    const amount = product.price.times(quantity);
    lines.push({ sku, name: product.name, quantity, unitPrice: product.price, amount });
  }
  return issues.length === 0 ? lines : invalidWith(...issues);
}

interface Opening extends Owner {
  readonly tenant: Tenant;
  readonly unit: Currency;
  readonly merchantId: string;
  readonly lines: readonly OrderLine[];
  readonly input: Input;
}

function open(ledger: Ledger, viewer: Viewer, opening: Opening, nowMs: number): CreateOrderDecision {
  const { tenant, unit, merchantId, lines, accountId, code, input } = opening;
  const { reference, metadata = [] } = input;
  const amount: Decimal = add(...lines.map((line) => line.amount));
  const issue = priceIssue(['items'], amount, unit);
  if (issue !== undefined) return { kind: 'ANSWER', failure: invalidWith(issue) };
  const order = openOrder({
    tenant: tenant.tenant,
    accountId,
    orderId: ledger.ids.ulid(nowMs),
    kind: 'PURCHASE',
    merchantId,
    currency: unit.code,
    amount,
    lines,
    actor: viewer.subject,
    consented: code !== undefined,
    ...defined({ reference }),
    hasMetadata: metadata.length > 0,
    atMs: nowMs,
  });
  return {
    kind: 'COMMIT',
    parts: [
      putOrder(order, ledger.settings),
      ...(metadata.length === 0 ? [] : [putMetadata(order, metadata)]),
      ...(code === undefined ? [] : [useUp(code)]),
    ],
    outcome: { kind: 'CreateOrderSuccess', accountId, orderId: order.orderId },
    whenRefused: (failed) =>
      failed.has('code')
        ? { kind: 'ANSWER', failure: invalid(['paymentCode'], 'used_code', 'a payment code opens one order') }
        : undefined,
  };
}

/** The code's single-use mark: it commits with the order that the code opens, or not at all. */
function useUp(code: PaymentCodeClaims): PlanPart {
  const ttl = integer(epochS(code.expiresAtMs) + CODE_MARK_LIFE_S);
  return { items: [putNew('code', { ...paymentCodeKey(code, code.codeId), ttl })] };
}
