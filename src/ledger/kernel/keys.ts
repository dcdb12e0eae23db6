import { isId, isTenantId, isUlid } from './id-grammar.ts';

/** A primary key of the table: partition `uuid` and sort `type` (docs/DESIGN.md §3). */
export interface ItemKey {
  readonly uuid: string;
  readonly type: string;
}

export interface AccountRef {
  readonly tenant: string;
  readonly accountId: string;
}

export interface BalanceRef extends AccountRef {
  readonly asset: string;
}

export interface OrderRef extends AccountRef {
  readonly orderId: string;
}

export interface RefundRef extends OrderRef {
  readonly refundId: string;
}

export interface EntryRef extends AccountRef {
  readonly entryId: string;
}

export interface ProposalRef extends AccountRef {
  readonly proposalId: string;
}

export interface ProductRef {
  readonly tenant: string;
  readonly merchantId: string;
  readonly sku: string;
}

/** The scope of an idempotency key: tenant, the whole principal (`terminal/cafe/till-1`), and operation (docs/DESIGN.md §5.1). */
export interface IdempotencyRef {
  readonly tenant: string;
  readonly principal: string;
  readonly operation: string;
  readonly key: string;
}

/** The sort-key prefixes of items that are listed. */
export const PREFIX = {
  balance: 'BALANCE#',
  entry: 'ENTRY#',
  order: 'ORDER#',
  metadata: 'METADATA#',
  product: 'PRODUCT#',
  refund: 'REFUND#',
  proposal: 'PROPOSAL#',
  record: 'card_op_idem#',
} as const;

const ASSET_GRAMMAR = /^(ECOPAY|POINT|JCREDIT|REGIONAL\/[A-Za-z0-9][A-Za-z0-9_.:|-]{0,127})$/;

/** Whether a text may name an asset: one of three, or `REGIONAL/<key>`. */
export function isAsset(text: string): boolean {
  return ASSET_GRAMMAR.test(text);
}

export function partition(tenant: string, owner: string): string {
  if (!isTenantId(tenant) || !isId(owner)) throw new RangeError('a key part is no id');
  return `${tenant}#${owner}`;
}

export function balanceKey({ tenant, accountId, asset }: BalanceRef): ItemKey {
  if (!isAsset(asset)) throw new RangeError('no asset');
  return { uuid: partition(tenant, accountId), type: `${PREFIX.balance}${asset.replace('/', '#')}` };
}

/** The asset that a balance item's sort key names. */
export function assetOfBalanceType(type: string): string {
  return type.slice(PREFIX.balance.length).replace('#', '/');
}

export function metricsKey({ tenant, accountId }: AccountRef): ItemKey {
  return { uuid: partition(tenant, accountId), type: 'METRICS' };
}

export function profileKey({ tenant, accountId }: AccountRef): ItemKey {
  return { uuid: partition(tenant, accountId), type: 'PROFILE' };
}

export function orderKey({ tenant, accountId, orderId }: OrderRef): ItemKey {
  return { uuid: partition(tenant, accountId), type: `${PREFIX.order}${ulidPart(orderId)}` };
}

export function metadataKey({ tenant, accountId, orderId }: OrderRef): ItemKey {
  return { uuid: partition(tenant, accountId), type: `${PREFIX.metadata}${ulidPart(orderId)}` };
}

export function entryKey({ tenant, accountId, entryId }: EntryRef): ItemKey {
  return { uuid: partition(tenant, accountId), type: `${PREFIX.entry}${ulidPart(entryId)}` };
}

/** Our own refunds are named by ULIDs, so they come before those that the provider named (`re_…`, `pyr_…`). */
export function refundKey({ refundId, ...order }: RefundRef): ItemKey {
  if (!isId(refundId)) throw new RangeError('a key part is no id');
  return { uuid: orderKey(order).uuid, type: `${refundPrefix(order)}${refundId}` };
}

/** What the sort keys of an order's refunds begin with. */
export function refundPrefix({ orderId }: Pick<OrderRef, 'orderId'>): string {
  return `${PREFIX.refund}${ulidPart(orderId)}#`;
}

export function proposalKey({ tenant, accountId, proposalId }: ProposalRef): ItemKey {
  return { uuid: partition(tenant, accountId), type: `${PREFIX.proposal}${ulidPart(proposalId)}` };
}

export function productKey({ tenant, merchantId, sku }: ProductRef): ItemKey {
  if (!isId(sku)) throw new RangeError('a key part is no id');
  return { uuid: partition(tenant, merchantId), type: `${PREFIX.product}${sku}` };
}

export function idempotencyRecordKey({ tenant, principal, operation, key }: IdempotencyRef): ItemKey {
  if (!isTenantId(tenant) || !principal.split('/').every(isId)) throw new RangeError('a key part is no id');
  return { uuid: `${tenant}#${principal}`, type: `${PREFIX.record}${operation}#${key}` };
}

export function paymentCodeKey({ tenant, accountId }: AccountRef, codeId: string): ItemKey {
  return { uuid: partition(tenant, accountId), type: `CODE#${codeId}` };
}

/** Which order a provider payment was booked for: no tenant, since the provider's ids are global. */
export function paymentKey(paymentId: string): ItemKey {
  return { uuid: `stripe#${paymentId}`, type: 'PAYMENT' };
}

export function eventKey(eventId: string): ItemKey {
  return { uuid: `stripe#${eventId}`, type: 'EVENT' };
}

export function systemKey(name: string, type: string): ItemKey {
  return { uuid: `system#${name}`, type };
}

export function sameKey(one: ItemKey, other: ItemKey): boolean {
  return one.uuid === other.uuid && one.type === other.type;
}

function ulidPart(id: string): string {
  if (!isUlid(id)) throw new RangeError('no ULID');
  return id;
}
