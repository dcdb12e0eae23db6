import { type StoredItem, readString } from '../ledger/kernel/attributes.ts';
import type { AccountRef } from '../ledger/kernel/keys.ts';
import type { Store } from '../ledger/table/store.ts';
import {
  type Migration,
  accountOf,
  isNewType,
  isRecord,
  legacyKey,
  namesAccount,
  newKeys,
} from './legacy-record.ts';
import { type RecordDifference, ParityFindings, type ParityReport, compare } from './parity.ts';
import { inSegments, pages } from './scan.ts';
import type { MigrationState, Verification } from './state.ts';
import { type StepRefusal, type Toolkit, stepRefusal, stateOf, writeState } from './toolkit.ts';

export type VerifyResult = { readonly kind: 'VERIFIED'; readonly report: ParityReport } | StepRefusal;

export interface VerifyOptions {
  readonly segments: number;
  /** Compares, and keeps no result. */
  readonly dryRun?: boolean;
}

/** A record that is written during every reading is left unsettled: the shapes can't be told equal. */
const MAX_READINGS = 21;
const PAUSE_MS = 50;
/** A record has at most four items in the new shape, and one read takes a hundred keys. */
const RECORDS_AT_A_TIME = 25;
const NEW_ITEMS_AT_A_TIME = 100;

/**
 * Compares both shapes of every record beside live traffic, and keeps what it found for the gates. A record counts only
 * as it was while nobody wrote it.
 */
export async function verify(
  toolkit: Toolkit,
  migration: Migration,
  { segments, dryRun = false }: VerifyOptions,
): Promise<VerifyResult> {
  const { table, clock, operator } = toolkit;
  const state = await stateOf(table.store, migration);
  const reason = objection(migration, state);
  if (state === undefined || reason !== undefined) return stepRefusal(reason ?? '');
  if (dryRun) return { kind: 'VERIFIED', report: await compareAll(toolkit, migration, segments) };
  const { version } = state;
  const started = {
    version,
    by: operator,
    startedAtMs: clock.nowMs(),
    records: 0,
    unmoved: 0,
    differences: 0,
  };
  const begun = await writeState(toolkit, state, { ...state, verification: started });
  if (begun === undefined) return changedMeanwhile();
  const report = await compareAll(toolkit, migration, segments);
  const { records, unmoved, differences } = report;
  const verification: Verification = {
    ...started,
    records,
    unmoved,
    differences,
    finishedAtMs: clock.nowMs(),
  };
  const ended = await writeState(toolkit, begun, { ...begun, verification });
  return ended === undefined ? changedMeanwhile() : { kind: 'VERIFIED', report };
}

function changedMeanwhile(): VerifyResult {
  return stepRefusal('The state of the migration changed meanwhile: verify again.');
}

function objection({ id }: Migration, state: MigrationState | undefined): string | undefined {
  if (state === undefined) return 'It has not begun.';
  if (!['backfill', 'verify', 'read-new'].includes(state.phase))
    return `Both shapes are kept alike from backfill to read-new; this is ${state.phase}.`;
  const { walk } = state;
  return walk !== undefined && walk.finishedAtMs === undefined && walk.version === state.version
    ? `A backfill is under way: run "backfill ${id}" to its end first.`
    : undefined;
}

async function compareAll(toolkit: Toolkit, migration: Migration, segments: number): Promise<ParityReport> {
  const { store } = toolkit.table;
  const findings = new ParityFindings();
  await inSegments(segments, async (segment) => {
    for await (const { items } of pages(store, segment, segments)) {
      const records = items.filter(
        (item) => readString(item, 'type') === migration.type && isRecord(migration, item),
      );
      // No request reaches these, and no backfill moves them.
      for (const account of records.filter((record) => !namesAccount(record)).map(accountOf)) {
        findings.add(account, { amounts: [], differences: [{ kind: 'UNMOVED', ...account }] });
      }
      for (const some of chunks(records.filter(namesAccount), RECORDS_AT_A_TIME)) {
        await compareSome(toolkit, migration, some.map(accountOf), findings);
      }
      const newItems = items.filter(
        (item) => isNewType(migration, readString(item, 'type')) && namesAccount(item),
      );
      for (const some of chunks(newItems, NEW_ITEMS_AT_A_TIME)) {
        findings.list(await withoutRecord(store, migration, some));
      }
    }
  });
  return findings.report();
}

function chunks<Value>(values: readonly Value[], size: number): readonly (readonly Value[])[] {
  return Array.from({ length: Math.ceil(values.length / size) }, (_, index) =>
    values.slice(index * size, (index + 1) * size),
  );
}

/** Items of the new shape whose account has no record: a way back would lose them. */
async function withoutRecord(
  store: Store,
  migration: Migration,
  newItems: readonly StoredItem[],
): Promise<readonly RecordDifference[]> {
  const records = await store.get(newItems.map((item) => legacyKey(migration, accountOf(item))));
  return newItems
    .filter((_, index) => !isRecord(migration, records[index]))
    .map((item) => ({ kind: 'WITHOUT_RECORD', of: readString(item, 'type'), ...accountOf(item) }));
}

/**
 * Reads records, their items in the new shape, and the records again, all of them by three reads: every write of either
 * shape raises the record's `writes`. What was written meanwhile is read again.
 */
async function compareSome(
  { table: { store }, wait }: Toolkit,
  migration: Migration,
  accounts: readonly AccountRef[],
  findings: ParityFindings,
): Promise<void> {
  let open = accounts;
  for (let readings = 0; readings < MAX_READINGS && open.length > 0; readings += 1) {
    if (readings > 0) await wait(PAUSE_MS);
    const keys = open.map((account) => legacyKey(migration, account));
    const before = await store.get(keys);
    const items = await store.get(open.flatMap((account) => newKeys(migration, account)));
    const after = await store.get(keys);
    const each = items.length / open.length;
    open = open.filter((account, index) => {
      const [was, is] = [before[index], after[index]];
      if (was === undefined || is === undefined || was['writes']?.N !== is['writes']?.N) return true;
      const own = items.slice(index * each, (index + 1) * each);
      findings.add(account, compare(migration, account, is, own));
      return false;
    });
  }
  for (const account of open) {
    findings.add(account, { amounts: [], differences: [{ kind: 'UNSETTLED', ...account }] });
  }
}
