/**
 * A small model of the ledger: what every operation must answer and leave behind, in plain bigints and maps. It shares
 * no code with the product, so that a fault there can't hide in here.
 */

/** What the model must know of a tenant's file. Amounts are whole numbers of the asset's smallest unit. */
export interface ModelTenant {
  readonly tenant: string;
  readonly merchantId: string;
  readonly scales: Readonly<Record<string, number>>;
  readonly caps: Readonly<Record<string, bigint>>;
  /** Assets that pay for orders; all have the currency's scale. */
  readonly paying: readonly string[];
  readonly currencyScale: number;
  /** One point and a hundredth of a kilogram a hundred, or nothing. */
  readonly rewards: boolean;
}

/** A request as it is made, and made again under the same key. */
export type ModelRequest = { readonly key: string } & Intent;

export type Intent =
  | { readonly kind: 'open'; readonly accountId: string; readonly amount: bigint }
  | { readonly kind: 'openWithCode'; readonly code: ModelCode; readonly amount: bigint }
  | { readonly kind: 'buy'; readonly accountId: string; readonly sku: string; readonly quantity: number }
  | {
      readonly kind: 'charge';
      readonly order: ModelOrder;
      readonly asset: string;
      readonly by: 'customer' | 'terminal';
    }
  | { readonly kind: 'cash'; readonly accountId: string; readonly asset: string; readonly amount: bigint }
  | { readonly kind: 'adjust'; readonly accountId: string; readonly asset: string; readonly amount: bigint }
  | { readonly kind: 'refund'; readonly order: ModelOrder; readonly amount: bigint | undefined }
  | { readonly kind: 'cancel'; readonly order: ModelOrder };

export interface ModelCode {
  readonly text: string;
  readonly accountId: string;
  readonly expiresAtMs: number;
}

export interface ModelOrder {
  /** Known once the product has answered. */
  orderId: string;
  readonly accountId: string;
  readonly kind: 'PURCHASE' | 'TOP_UP';
  readonly amount: bigint;
  readonly consented: boolean;
  state: 'CREATED' | 'PAID' | 'CANCELED' | 'REFUNDED';
  version: number;
  asset: string;
  points: bigint;
  refunds: bigint[];
}

/** What a request must answer: the fields of its outcome that the model knows. */
export interface Expected {
  readonly outcome: Readonly<Record<string, unknown>>;
  /** The order that it opened, whose id only the product knows. */
  readonly opened?: ModelOrder;
}

interface ModelRecord {
  readonly print: string;
  readonly expiresAtMs: number;
  readonly answer: Readonly<Record<string, unknown>>;
}

export const TILL = 'till';
const RECORD_LIFE_MS = 90 * 86_400_000;

export interface Model {
  readonly orders: readonly ModelOrder[];
  readonly accounts: readonly string[];
  /** By account and asset; absent is nothing. */
  readonly balance: (accountId: string, asset: string) => bigint;
  /** Charged total and CO2 in hundredths of a kilogram. */
  readonly metric: (accountId: string, metric: 'CHARGED' | 'CO2_KG') => bigint;
  /** Every entry, in order: its operation and its postings as `debit>credit asset amount`. */
  readonly entries: (accountId: string) => readonly string[];
  readonly sell: (sku: string, price: bigint, active: boolean) => void;
  readonly request: (request: ModelRequest, nowMs: number) => Expected;
  /** Tells what the product answered, so that a replay can be compared with it. */
  readonly recordAttemptDetails: (
    request: ModelRequest,
    expected: Expected,
    answer: Readonly<Record<string, unknown>>,
    nowMs: number,
  ) => void;
}

/** An amount in full scale, as the wire shows it. */
export function amountText(amount: bigint, scale: number): string {
  const sign = amount < 0n ? '-' : '';
  const digits = (amount < 0n ? -amount : amount).toString().padStart(scale + 1, '0');
  const whole = digits.slice(0, digits.length - scale);
  return scale === 0 ? `${sign}${whole}` : `${sign}${whole}.${digits.slice(-scale)}`;
}

/** An amount in its shortest form, as the table holds it. */
export function plainText(amount: bigint, scale: number): string {
  const text = amountText(amount, scale);
  return text.includes('.') ? text.replace(/\.?0+$/, '') : text;
}

function refundedOf(order: ModelOrder): bigint {
  return order.refunds.reduce((sum, amount) => sum + amount, 0n);
}

export function refundableOf(order: ModelOrder): bigint {
  return order.state === 'PAID' || order.state === 'REFUNDED' ? order.amount - refundedOf(order) : 0n;
}

export function createModel(rules: ModelTenant, accounts: readonly string[]): Model {
  const orders: ModelOrder[] = [];
  const balances = new Map<string, bigint>();
  const entries = new Map<string, string[]>(accounts.map((accountId) => [accountId, []]));
  const products = new Map<string, { readonly price: bigint; readonly active: boolean }>();
  const usedCodes = new Set<string>();
  const records = new Map<string, ModelRecord>();
  const merchant = `merchant:${rules.merchantId}`;

  const held = (account: string, asset: string): bigint => balances.get(`${account} ${asset}`) ?? 0n;
  const scaleOf = (asset: string): number =>
    asset === 'METRIC/CO2_KG'
      ? 2
      : asset === 'METRIC/CHARGED'
        ? rules.currencyScale
        : (rules.scales[asset] ?? 0);

  function book(
    accountId: string,
    operation: string,
    postings: readonly (readonly [string, string, string, bigint])[],
  ): void {
    const moved = postings.filter(([, , , amount]) => amount > 0n);
    for (const [debit, credit, asset, amount] of moved) {
      balances.set(`${debit} ${asset}`, held(debit, asset) - amount);
      balances.set(`${credit} ${asset}`, held(credit, asset) + amount);
    }
    const texts = moved.map(
      ([debit, credit, asset, amount]) => `${debit}>${credit} ${asset} ${plainText(amount, scaleOf(asset))}`,
    );
    entries.get(accountId)?.push([operation, ...texts].join(' | '));
  }

  function open(accountId: string, kind: ModelOrder['kind'], amount: bigint, consented: boolean): ModelOrder {
    const order: ModelOrder = {
      orderId: '',
      accountId,
      kind,
      amount,
      consented,
      state: 'CREATED',
      version: 1,
      asset: '',
      points: 0n,
      refunds: [],
    };
    orders.push(order);
    return order;
  }

  function insufficient(asset: string, required: bigint, available: bigint): Expected {
    const scale = scaleOf(asset);
    return {
      outcome: {
        kind: 'InsufficientBalance',
        asset,
        required: amountText(required, scale),
        available: amountText(available, scale),
        replayed: false,
      },
    };
  }

  /** Undefined if the credit fits. */
  function capObjection(accountId: string, asset: string, amount: bigint): Expected | undefined {
    const cap = rules.caps[asset];
    const balance = held(`wallet:${accountId}`, asset);
    if (cap === undefined || balance + amount <= cap) return undefined;
    const room = balance > cap ? 0n : cap - balance;
    return {
      outcome: { kind: 'CapExceeded', asset, room: amountText(room, scaleOf(asset)), replayed: false },
    };
  }

  function create(accountId: string, amount: bigint, consented: boolean): Expected {
    const opened = open(accountId, 'PURCHASE', amount, consented);
    return { outcome: { kind: 'CreateOrderSuccess', accountId, replayed: false }, opened };
  }

  function charge(order: ModelOrder, asset: string, by: 'customer' | 'terminal'): Expected {
    const wrong = (code: string): Expected => ({ outcome: { kind: 'InvalidInput', issues: [{ code }] } });
    if (by === 'terminal' && !order.consented) return wrong('consent_required');
    if (order.kind !== 'PURCHASE') return wrong('not_a_purchase');
    if (!rules.paying.includes(asset)) return wrong('wrong_asset');
    const { accountId, orderId, amount, state } = order;
    if (state !== 'CREATED') return { outcome: { kind: 'OrderNotPayable', orderId, state, replayed: false } };
    const wallet = `wallet:${accountId}`;
    if (held(wallet, asset) < amount) return insufficient(asset, amount, held(wallet, asset));
    const points = rules.rewards ? amount / 100n : 0n;
    const metrics: readonly (readonly [string, string, string, bigint])[] = rules.rewards
      ? [
          ['issuer', `metrics:${accountId}`, 'METRIC/CHARGED', amount],
          ['issuer', `metrics:${accountId}`, 'METRIC/CO2_KG', amount],
        ]
      : [];
    book(accountId, 'CHARGE', [
      [wallet, merchant, asset, amount],
      ['issuer', wallet, 'POINT', points],
      ...metrics,
    ]);
    Object.assign(order, { state: 'PAID', version: order.version + 1, asset, points });
    return { outcome: { kind: 'ChargeSuccess', accountId, orderId, asset, replayed: false } };
  }

  function cash(accountId: string, asset: string, amount: bigint): Expected {
    const objection = capObjection(accountId, asset, amount);
    if (objection !== undefined) return objection;
    const opened = open(accountId, 'TOP_UP', amount, false);
    Object.assign(opened, { state: 'PAID', version: 2, asset });
    book(accountId, 'TOP_UP', [[`cash:${rules.merchantId}/${TILL}`, `wallet:${accountId}`, asset, amount]]);
    return { outcome: { kind: 'TopUpSuccess', accountId, asset, replayed: false }, opened };
  }

  function adjust(accountId: string, asset: string, amount: bigint): Expected {
    const wallet = `wallet:${accountId}`;
    if (amount > 0n) {
      const objection = capObjection(accountId, asset, amount);
      if (objection !== undefined) return objection;
      book(accountId, 'ADJUSTMENT', [['issuer', wallet, asset, amount]]);
    } else {
      if (held(wallet, asset) < -amount) return insufficient(asset, -amount, held(wallet, asset));
      book(accountId, 'ADJUSTMENT', [[wallet, 'issuer', asset, -amount]]);
    }
    return { outcome: { kind: 'AdjustBalanceSuccess', accountId, asset, replayed: false } };
  }

  function refund(order: ModelOrder, wanted: bigint | undefined): Expected {
    const { accountId, orderId, state, kind, asset } = order;
    if (state !== 'PAID') return { outcome: { kind: 'OrderNotRefundable', orderId, state, replayed: false } };
    const refundable = refundableOf(order);
    const amount = wanted ?? refundable;
    if (amount > refundable) {
      const left = amountText(refundable, rules.currencyScale);
      return { outcome: { kind: 'RefundExceedsRefundable', refundable: left, replayed: false } };
    }
    const wallet = `wallet:${accountId}`;
    if (kind === 'TOP_UP') {
      if (held(wallet, asset) < amount) return insufficient(asset, amount, held(wallet, asset));
      book(accountId, 'REFUND', [[wallet, `cash:${rules.merchantId}/${TILL}`, asset, amount]]);
    } else refundToWallet(order, amount);
    order.refunds.push(amount);
    const inFull = refundableOf(order) === 0n;
    Object.assign(order, { version: order.version + 1, state: inFull ? 'REFUNDED' : 'PAID' });
    return { outcome: { kind: 'RefundSuccess', accountId, orderId, asset, replayed: false } };
  }

  /** Points go back in proportion to all that was refunded so far; what is spent of them is the account's debt. */
  function refundToWallet(order: ModelOrder, amount: bigint): void {
    const { accountId, asset, points } = order;
    const wallet = `wallet:${accountId}`;
    const before = refundedOf(order);
    const back = (points * (before + amount)) / order.amount - (points * before) / order.amount;
    const there = held(wallet, 'POINT');
    const taken = there < back ? there : back;
    const metrics: readonly (readonly [string, string, string, bigint])[] = rules.rewards
      ? [
          [`metrics:${accountId}`, 'issuer', 'METRIC/CHARGED', amount],
          [`metrics:${accountId}`, 'issuer', 'METRIC/CO2_KG', amount],
        ]
      : [];
    book(accountId, 'REFUND', [
      [merchant, wallet, asset, amount],
      [wallet, 'issuer', 'POINT', taken],
      [`receivable:${accountId}`, 'issuer', 'POINT', back - taken],
      ...metrics,
    ]);
  }

  function cancel(order: ModelOrder): Expected {
    const { orderId, state, accountId } = order;
    if (state !== 'CREATED')
      return { outcome: { kind: 'OrderNotCancelable', orderId, state, replayed: false } };
    Object.assign(order, { state: 'CANCELED', version: order.version + 1 });
    return { outcome: { kind: 'CancelOrderSuccess', accountId, orderId, replayed: false } };
  }

  function decide(request: ModelRequest, nowMs: number): Expected {
    switch (request.kind) {
      case 'open':
        return create(request.accountId, request.amount, false);
      case 'openWithCode': {
        const { text, accountId, expiresAtMs } = request.code;
        if (nowMs >= expiresAtMs)
          return { outcome: { kind: 'InvalidInput', issues: [{ code: 'bad_code' }] } };
        if (usedCodes.has(text))
          return { outcome: { kind: 'InvalidInput', issues: [{ code: 'used_code' }] } };
        usedCodes.add(text);
        return create(accountId, request.amount, true);
      }
      case 'buy': {
        const product = products.get(request.sku);
        if (product?.active !== true)
          return { outcome: { kind: 'InvalidInput', issues: [{ code: 'unknown_sku' }] } };
        return create(request.accountId, product.price * BigInt(request.quantity), false);
      }
      case 'charge':
        return charge(request.order, request.asset, request.by);
      case 'cash':
        return cash(request.accountId, request.asset, request.amount);
      case 'adjust':
        return adjust(request.accountId, request.asset, request.amount);
      case 'refund':
        return refund(request.order, request.amount);
      case 'cancel':
        return cancel(request.order);
    }
  }

  return {
    orders,
    accounts,
    balance: (accountId, asset) => held(`wallet:${accountId}`, asset),
    metric: (accountId, metric) => held(`metrics:${accountId}`, `METRIC/${metric}`),
    entries: (accountId) => entries.get(accountId) ?? [],
    sell: (sku, price, active) => {
      products.set(sku, { price, active });
    },
    request: (request, nowMs) => {
      const record = records.get(scopeOf(request));
      if (record === undefined || record.expiresAtMs < nowMs) return decide(request, nowMs);
      if (record.print !== printOf(request)) return { outcome: { kind: 'IdempotencyKeyReused' } };
      return { outcome: { ...record.answer, replayed: true } };
    },
    recordAttemptDetails: (request, { opened }, answer, nowMs) => {
      if (opened !== undefined) opened.orderId = String(answer['orderId']);
      if (answer['replayed'] !== false) return;
      records.set(scopeOf(request), {
        print: printOf(request),
        expiresAtMs: nowMs + RECORD_LIFE_MS,
        answer,
      });
    },
  };
}

/** Whose request it is, as the product's token would say. */
export function subjectOf(request: Intent): string {
  switch (request.kind) {
    case 'buy':
      return request.accountId;
    case 'openWithCode':
    case 'cash':
      return TILL;
    case 'charge':
      return request.by === 'terminal' ? TILL : request.order.accountId;
    case 'cancel':
      return request.order.accountId;
    case 'open':
    case 'adjust':
    case 'refund':
      return 'root';
  }
}

function scopeOf(request: ModelRequest): string {
  const isOpening = ['open', 'openWithCode', 'buy'].includes(request.kind);
  return `${subjectOf(request)} ${isOpening ? 'createOrder' : request.kind} ${request.key}`;
}

/** What makes two requests the same one: everything but the key, and who asks. */
function printOf(request: ModelRequest): string {
  return JSON.stringify(request, (name, value: unknown) => {
    if (typeof value === 'bigint') return value.toString();
    if (name === 'key' || name === 'by') return undefined;
    // Only a request's order is called that.
    return name === 'order' ? (value as ModelOrder).orderId : value;
  });
}
