import { readString } from '../../kernel/attributes.ts';
import { type AccountRef, PREFIX, partition } from '../../kernel/keys.ts';
import { leastUlidAt } from '../../kernel/ulid-time.ts';
import { type Entry, readEntry } from '../../model/entries/entry.ts';
import type { Store } from '../../table/store.ts';

const PAGE_SIZE = 1_000;

/** The entries of an account that were made since then, oldest first, by consistent reads. Throws MalformedItemError. */
export async function readEntriesSince(
  store: Store,
  { tenant, accountId }: AccountRef,
  sinceMs: number,
): Promise<readonly Entry[]> {
  const entries: Entry[] = [];
  let after = `${PREFIX.entry}${leastUlidAt(sinceMs)}`;
  for (;;) {
    const uuid = partition(tenant, accountId);
    const page = await store.query({
      uuid,
      prefix: PREFIX.entry,
      limit: PAGE_SIZE,
      newestFirst: false,
      after,
    });
    entries.push(...page.map(readEntry));
    const last = page.at(-1);
    if (page.length < PAGE_SIZE || last === undefined) return entries;
    after = readString(last, 'type');
  }
}
