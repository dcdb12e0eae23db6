import { isId, isTenantId, isUlid } from '../../kernel/id-grammar.ts';
import { isCurrency } from '../../kernel/currencies.ts';
import { parseInteger } from '../../kernel/integers.ts';
import { isAsset } from '../../kernel/keys.ts';
import { type Decimal, ZERO, add, parseDecimal, plainDecimal } from '../../kernel/money.ts';
import { ulidTimeMs } from '../../kernel/ulid-time.ts';
import type { Order, OrderLine } from '../orders/order.ts';
import type { OrderOpening } from '../orders/payments.ts';

/*
 * What an attempt's session and its payment intent carry at the provider: enough to make order and attempt again after a
 * loss (docs/DESIGN.md §8, "Metadata"). Ids and amounts alone; what people wrote stays here. The provider takes 50 names of
 * 40 characters with values of 500.
 */

const MAX_VALUE = 500;
/** Names for lines: so many beside the others, of the provider's fifty twenty are the merchant's. */
const MAX_LINE_VALUES = 16;

type Texts = Readonly<Record<string, string>>;

/** An order as its metadata describes it, with the attempt that it was written for. */
export interface DescribedOrder {
  readonly opening: OrderOpening;
  readonly attempt: number;
}

/** The order as the provider's metadata names it: the account names the partition, so that no index is needed. */
export function providerOrderId({ accountId, orderId }: Pick<Order, 'accountId' | 'orderId'>): string {
  return `${accountId}/${orderId}`;
}

/** Of what never changes of an order, and of the attempt's number. */
export function sessionMetadata(order: Order, attempt: number): Texts {
  const { merchantId, asset, reference } = order;
  const lines = packedLines(order);
  return {
    tenant: order.tenant,
    order_id: providerOrderId(order),
    attempt: String(attempt),
    h_kind: order.kind,
    h_currency: order.currency,
    h_amount: plainDecimal(order.amount),
    h_actor: order.actor,
    ...(merchantId === undefined ? {} : { h_merchant: merchantId }),
    ...(asset === undefined ? {} : { h_asset: asset }),
    ...(reference === undefined ? {} : { h_reference: reference }),
    ...(order.consented ? { h_consented: '1' } : {}),
    ...Object.fromEntries(lines.map((text, index) => [`h_l${String(index + 1)}`, text])),
  };
}

/** `sku*quantity*price`, joined by commas. What there is no room for becomes one line of the rest. */
function packedLines({ lines }: Order): readonly string[] {
  const packed: string[] = [];
  for (const [index, line] of lines.entries()) {
    const text = packedLine(line);
    const last = packed.at(-1);
    const joined = last === undefined ? text : `${last},${text}`;
    if (last !== undefined && joined.length <= MAX_VALUE) packed[packed.length - 1] = joined;
    else if (packed.length < MAX_LINE_VALUES - 1) packed.push(text);
    else {
      const rest = add(...lines.slice(index).map(({ amount }) => amount));
      return [...packed, packedLine({ name: '', quantity: 1, unitPrice: rest, amount: rest })];
    }
  }
  return packed;
}

function packedLine({ sku = '', quantity, unitPrice }: OrderLine): string {
  return `${sku}*${String(quantity)}*${plainDecimal(unitPrice)}`;
}

/**
 * Reads such metadata, whose seal was checked before; undefined for what isn't of this form, or doesn't add up.
 */
export function readSessionMetadata(texts: Texts): DescribedOrder | undefined {
  const { tenant = '', order_id: path = '', h_kind: kind, h_currency: currency = '' } = texts;
  const { h_actor: actor = '', h_merchant: merchantId, h_asset: asset } = texts;
  const [accountId = '', orderId = '', ...more] = path.split('/');
  const amount = parseDecimal(texts['h_amount'] ?? '');
  const attempt = /^[1-9]\d{0,5}$/.test(texts['attempt'] ?? '')
    ? parseInteger(texts['attempt'] ?? '')
    : undefined;
  const lines = readLines(texts);
  if (kind !== 'PURCHASE' && kind !== 'TOP_UP') return undefined;
  if (amount === undefined || attempt === undefined || lines === undefined || more.length > 0)
    return undefined;
  const isNamed =
    isTenantId(tenant) && isId(accountId) && isUlid(orderId) && isCurrency(currency) && isId(actor);
  const isGoal =
    kind === 'PURCHASE'
      ? merchantId !== undefined && isId(merchantId)
      : asset !== undefined && isAsset(asset);
  const adds = kind === 'TOP_UP' ? lines.length === 0 : add(...lines.map((line) => line.amount)).eq(amount);
  if (!isNamed || !isGoal || !adds) return undefined;
  const opening: OrderOpening = {
    tenant,
    accountId,
    orderId,
    kind,
    currency,
    amount,
    lines,
    actor,
    consented: texts['h_consented'] === '1',
    // What the merchant wrote down has an item of its own, which is lost.
    hasMetadata: false,
    // An order's id has the instant at which it was opened.
    atMs: ulidTimeMs(orderId),
    ...(merchantId === undefined ? {} : { merchantId }),
    ...(asset === undefined ? {} : { asset }),
    ...(texts['h_reference'] === undefined ? {} : { reference: texts['h_reference'] }),
  };
  return { opening, attempt };
}

function readLines(texts: Texts): readonly OrderLine[] | undefined {
  const lines: OrderLine[] = [];
  for (let place = 1; place <= MAX_LINE_VALUES; place += 1) {
    const text = texts[`h_l${String(place)}`];
    if (text === undefined) return lines;
    for (const packed of text.split(',')) {
      const line = readLine(packed);
      if (line === undefined) return undefined;
      lines.push(line);
    }
  }
  return lines;
}

function readLine(packed: string): OrderLine | undefined {
  const [, sku = '', quantityText = '', priceText = ''] =
    /^([^*]*)\*([1-9]\d{0,3})\*([\d.]+)$/.exec(packed) ?? [];
  const unitPrice: Decimal | undefined = parseDecimal(priceText);
  if (unitPrice?.gte(ZERO) !== true || (sku !== '' && !isId(sku))) return undefined;
  const quantity = parseInteger(quantityText);
  return {
    ...(sku === '' ? {} : { sku }),
    // What people wrote isn't at the provider: whoever makes the order again looks the product up.
    name: sku === '' ? 'Restored' : sku,
    quantity,
    unitPrice,
    amount: unitPrice.times(quantity),
  };
}
