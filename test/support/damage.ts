import { DeleteItemCommand, PutItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import type { AttributeValue } from '../../src/ledger/kernel/attributes.ts';
import type { ItemKey } from '../../src/ledger/kernel/keys.ts';
import { type AuditReport, auditTable } from '../../src/ledger/usecases/audit/audit-ledger.ts';
import type { Store } from '../../src/ledger/table/store.ts';
import type { Harness } from './harness.ts';

/** What an audit has to find: changes that no code of ours makes, straight in the table; and what it says of them. */

type Table = Pick<Harness, 'client' | 'tableName' | 'ledger' | 'entries' | 'clock'>;
/** What it takes to change an item. */
type BareTable = Pick<Table, 'client' | 'tableName'>;

function asKey({ uuid, type }: ItemKey): Record<string, AttributeValue> {
  return { uuid: { S: uuid }, type: { S: type } };
}

/** Sets one attribute; undefined removes it. A path leads into maps and lists: `disputes.0.b`. */
export async function damage(
  { client, tableName }: BareTable,
  key: ItemKey,
  path: string,
  value: AttributeValue | undefined,
): Promise<void> {
  const steps = path.split('.');
  const names = steps.filter((step) => !/^\d+$/.test(step));
  const place = steps
    .map((step) => (/^\d+$/.test(step) ? `[${step}]` : `.#${step}`))
    .join('')
    .slice(1);
  await client.send(
    new UpdateItemCommand({
      TableName: tableName,
      Key: asKey(key),
      UpdateExpression: value === undefined ? `REMOVE ${place}` : `SET ${place} = :value`,
      ExpressionAttributeNames: Object.fromEntries(names.map((name) => [`#${name}`, name])),
      ...(value === undefined ? {} : { ExpressionAttributeValues: { ':value': value } }),
    }),
  );
}

export async function deleteItem({ client, tableName }: BareTable, key: ItemKey): Promise<void> {
  await client.send(new DeleteItemCommand({ TableName: tableName, Key: asKey(key) }));
}

/** Puts an item once more, under a key of its own and otherwise as it is, or as the changes say. */
export async function doubleItem(
  { client, tableName, ledger }: Table,
  from: ItemKey,
  to: ItemKey,
  changes: Readonly<Record<string, AttributeValue>> = {},
): Promise<void> {
  const [item] = await ledger.store.get([from]);
  // What was read goes back as it was: the two types differ in readonly alone.
  const Item = { ...(item as Record<string, AttributeValue>), ...asKey(to), ...changes };
  await client.send(new PutItemCommand({ TableName: tableName, Item }));
}

/** The key that an entry of alice's in tenant `demo` would have next. */
export function nextEntryKey({ ledger, clock }: Table): ItemKey {
  return { uuid: 'demo#alice', type: `ENTRY#${ledger.ids.ulid(clock.nowMs())}` };
}

/** The key of the only entry of alice's that books an object of the provider, or is of an operation. */
export async function entryOf(
  { entries }: Table,
  wanted: { readonly providerId?: string; readonly operation?: string },
): Promise<ItemKey> {
  const all = await entries('demo', 'alice');
  const [entry, ...others] = all.filter(
    ({ providerId, operation }) =>
      (wanted.providerId === undefined || wanted.providerId === providerId) &&
      (wanted.operation === undefined || wanted.operation === operation),
  );
  if (entry === undefined || others.length > 0) throw new Error(`not one entry: ${JSON.stringify(wanted)}`);
  return { uuid: 'demo#alice', type: `ENTRY#${entry.entryId}` };
}

export function auditNow({ ledger }: Table, store: Store = ledger.store): Promise<AuditReport> {
  return auditTable(store, { segments: 3, wait: () => Promise.resolve() });
}

/** `what: expected …, found …` of each problem. */
export async function auditedProblems(table: Table): Promise<readonly string[]> {
  const report = await auditNow(table);
  if (report.unsettled.length > 0) throw new Error('the table was not at rest');
  return report.problems.map(({ what, expected, found }) => `${what}: expected ${expected}, found ${found}`);
}
