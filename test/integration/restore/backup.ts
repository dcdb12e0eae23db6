import { BatchWriteItemCommand } from '@aws-sdk/client-dynamodb';
import type { AttributeValue, StoredItem } from '../../../src/ledger/kernel/attributes.ts';
import type { Harness } from '../../support/harness.ts';

/** All items of a table, as they stood at one moment. */
export type Backup = readonly StoredItem[];

type Table = Pick<Harness, 'client' | 'tableName' | 'ledger'>;

const AT_ONCE = 25;

export async function backUp({ ledger }: Pick<Table, 'ledger'>): Promise<Backup> {
  const items: StoredItem[] = [];
  let from: StoredItem | undefined;
  do {
    const page = await ledger.store.scan(0, 1, from);
    items.push(...page.items);
    from = page.next;
  } while (from !== undefined);
  return items;
}

/** Makes a table hold what a backup has, and nothing else. */
export async function restoreFrom(table: Table, backup: Backup): Promise<void> {
  const keyOf = ({ uuid, type }: StoredItem): string => JSON.stringify([uuid, type]);
  const kept = new Set(backup.map(keyOf));
  const gone = (await backUp(table)).filter((item) => !kept.has(keyOf(item)));
  // What was read goes back as it was: the two types differ in readonly alone.
  const mutable = (item: StoredItem): Record<string, AttributeValue> =>
    item as Record<string, AttributeValue>;
  const requests = [
    ...gone.map(({ uuid, type }) => ({ DeleteRequest: { Key: mutable({ uuid, type } as StoredItem) } })),
    ...backup.map((item) => ({ PutRequest: { Item: mutable(item) } })),
  ];
  for (let start = 0; start < requests.length; start += AT_ONCE) {
    const some = requests.slice(start, start + AT_ONCE);
    await table.client.send(new BatchWriteItemCommand({ RequestItems: { [table.tableName]: some } }));
  }
}
