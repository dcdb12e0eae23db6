import { isId, isTenantId, isUlid } from '../kernel/id-grammar.ts';
import { type OrderRef, isAsset } from '../kernel/keys.ts';

/**
 * Public ids: opaque Relay ids that carry the keys, so that no lookup index is needed. They are checked after decoding
 * and their tenant is never trusted: whoever uses one compares it with the viewer's (docs/DESIGN.md §3).
 */
const PARTS = {
  Wallet: [isTenantId, isId],
  Balance: [isTenantId, isId, isAsset],
  Entry: [isTenantId, isId, isUlid],
  Order: [isTenantId, isId, isUlid],
  Refund: [isTenantId, isId, isUlid, isPart],
  Dispute: [isTenantId, isId, isUlid, isPart],
  Step: [isTenantId, isId, isUlid, isPart],
  Proposal: [isTenantId, isId, isUlid],
  Merchant: [isTenantId, isId],
  Product: [isTenantId, isId, isId],
  WebhookEvent: [isTenantId, isPart],
} as const satisfies Readonly<Record<string, readonly ((text: string) => boolean)[]>>;

export type NodeKind = keyof typeof PARTS;

export interface NodeId {
  readonly kind: NodeKind;
  readonly parts: readonly string[];
}

const MAX_LENGTH = 1_024;

function isPart(text: string): boolean {
  return text.length > 0 && text.length <= 255;
}

export function encodeNodeId(kind: NodeKind, ...parts: readonly string[]): string {
  return Buffer.from([kind, ...parts].join('#'), 'utf8').toString('base64url');
}

/** The id by which clients, operators and logs name an order. */
export function orderNodeId({ tenant, accountId, orderId }: OrderRef): string {
  return encodeNodeId('Order', tenant, accountId, orderId);
}

/** Undefined for whatever isn't exactly what `encodeNodeId` makes: another alphabet, a foreign kind, a bad part. */
export function decodeNodeId(id: string): NodeId | undefined {
  if (id.length > MAX_LENGTH) return undefined;
  const [name, ...parts] = Buffer.from(id, 'base64url').toString('utf8').split('#');
  const kind = nodeKinds.find((candidate) => candidate === name);
  if (kind === undefined || encodeNodeId(kind, ...parts) !== id) return undefined;
  const checks: readonly ((text: string) => boolean)[] = PARTS[kind];
  if (parts.length !== checks.length) return undefined;
  return checks.every((check, index) => check(parts[index] ?? '')) ? { kind, parts } : undefined;
}

// Object.keys forgets that these are the table's own names.
const nodeKinds = Object.keys(PARTS) as readonly NodeKind[];

/** The parts of an id of the expected kind and tenant; undefined otherwise: not yours looks like not there. */
export function nodeParts(kind: NodeKind, tenant: string, id: string): readonly string[] | undefined {
  const decoded = decodeNodeId(id);
  return decoded?.kind === kind && decoded.parts[0] === tenant ? decoded.parts.slice(1) : undefined;
}
