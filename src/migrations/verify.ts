import { type StoredItem, readString } from '../ledger/kernel/attributes.ts';
import type { AccountRef, ItemKey } from '../ledger/kernel/keys.ts';
import type { Store } from '../ledger/table/store.ts';
import { isRecord, standsFor } from './legacy-record.ts';
import { type Migration, legacyKey } from './migration.ts';
import { accountOf, namesAccount } from './move.ts';
import {
  type Difference,
  type ParityTotal,
  ParityTotals,
  type RecordParity,
  compare,
  counterparts,
} from './parity.ts';
import { readStates } from './read-migrations.ts';
import { pages } from './scan.ts';
import type { MigrationState, Verification } from './state.ts';
import { type Toolkit, writeState } from './steps.ts';

export interface ParityReport {
  readonly records: number;
  readonly unmoved: number;
  /** All that keeps the shapes apart, unmoved records left out. */
  readonly differences: number;
  readonly totals: readonly ParityTotal[];
  /** The first differences, unmoved records among them. */
  readonly listed: readonly Difference[];
}

export type VerifyResult =
  | { readonly kind: 'VERIFIED'; readonly report: ParityReport }
  | { readonly kind: 'REFUSED'; readonly reasons: readonly string[] };

export interface VerifyOptions {
  readonly segments: number;
  /** Compares, and keeps no result. */
  readonly dryRun?: boolean;
}

const MAX_LISTED = 100;
/** A record that is written during every reading is left unsettled: the shapes can't be told equal. */
const MAX_READINGS = 20;
const PAUSE_MS = 50;
/** A record has at most four counterparts, and one read takes a hundred keys. */
const RECORDS_AT_A_TIME = 25;
const PARTS_AT_A_TIME = 100;

/**
 * Compares both shapes of every record beside live traffic, and keeps what it found for the gates. A record counts only
 * as it was while nobody wrote it.
 */
export async function verify(
  toolkit: Toolkit,
  migration: Migration,
  options: VerifyOptions,
): Promise<VerifyResult> {
  const { store } = toolkit.table;
  const state = (await readStates(store)).find(({ id }) => id === migration.id);
  const reason = objection(migration, state);
  if (state === undefined || reason !== undefined) return { kind: 'REFUSED', reasons: [reason ?? ''] };
  const dryRun = options.dryRun ?? false;
  const begun = dryRun ? state : await note(toolkit, state, { records: 0, unmoved: 0, differences: 0 });
  const report = begun === undefined ? undefined : await compareAll(toolkit, migration, options.segments);
  if (begun === undefined || report === undefined) return changedMeanwhile();
  if (dryRun) return { kind: 'VERIFIED', report };
  const ended = await note(toolkit, begun, { ...report, finishedAtMs: toolkit.clock.nowMs() });
  return ended === undefined ? changedMeanwhile() : { kind: 'VERIFIED', report };
}

function changedMeanwhile(): VerifyResult {
  return { kind: 'REFUSED', reasons: ['The state of the migration changed meanwhile: verify again.'] };
}

function objection({ id }: Migration, state: MigrationState | undefined): string | undefined {
  if (state === undefined) return 'It has not begun.';
  if (!['backfill', 'verify', 'read-new'].includes(state.phase)) {
    return `Both shapes are kept alike from backfill to read-new; this is ${state.phase}.`;
  }
  const { walk } = state;
  return walk !== undefined && walk.finishedAtMs === undefined && walk.version === state.version
    ? `A backfill is under way: run "backfill ${id}" to its end first.`
    : undefined;
}

type Counts = Pick<Verification, 'records' | 'unmoved' | 'differences' | 'finishedAtMs'>;

async function note(
  toolkit: Toolkit,
  state: MigrationState,
  { records, unmoved, differences, finishedAtMs }: Counts,
): Promise<MigrationState | undefined> {
  const verification: Verification = {
    version: state.version,
    by: toolkit.operator,
    startedAtMs:
      finishedAtMs === undefined
        ? toolkit.clock.nowMs()
        : (state.verification?.startedAtMs ?? toolkit.clock.nowMs()),
    records,
    unmoved,
    differences,
    ...(finishedAtMs === undefined ? {} : { finishedAtMs }),
  };
  return writeState(toolkit, state, { ...state, verification });
}

async function compareAll(toolkit: Toolkit, migration: Migration, segments: number): Promise<ParityReport> {
  const { store } = toolkit.table;
  const { shape } = migration;
  const totals = new ParityTotals();
  const listed: Difference[] = [];
  const counts = { records: 0, unmoved: 0, differences: 0 };
  const found = (difference: Difference): void => {
    if (difference.kind === 'UNMOVED') counts.unmoved += 1;
    else counts.differences += 1;
    if (listed.length < MAX_LISTED) listed.push(difference);
  };
  await Promise.all(
    Array.from({ length: segments }, async (_, segment) => {
      for await (const { items } of pages(store, segment, segments)) {
        const records = items.filter(
          (item) => readString(item, 'type') === shape.type && isRecord(shape, item),
        );
        // No request reaches these, and no backfill moves them.
        for (const record of records.filter((one) => !namesAccount(one))) {
          counts.records += 1;
          found({ kind: 'UNMOVED', ...accountOf(record) });
        }
        for (const some of chunks(records.filter(namesAccount), RECORDS_AT_A_TIME)) {
          for (const parity of await compareSome(toolkit, migration, some.map(accountOf))) {
            counts.records += 1;
            totals.add(parity);
            parity.differences.forEach(found);
          }
        }
        const parts = items.filter((item) => standsFor(shape, keyOf(item)) && namesAccount(item));
        for (const some of chunks(parts, PARTS_AT_A_TIME)) {
          (await withoutRecord(store, migration, some)).forEach(found);
        }
      }
    }),
  );
  return { ...counts, totals: totals.printed(), listed };
}

function keyOf(item: StoredItem): ItemKey {
  return { uuid: readString(item, 'uuid'), type: readString(item, 'type') };
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
  parts: readonly StoredItem[],
): Promise<readonly Difference[]> {
  const records = await store.get(parts.map((part) => legacyKey(migration, accountOf(part))));
  return parts.flatMap((part, index) =>
    isRecord(migration.shape, records[index])
      ? []
      : [{ kind: 'WITHOUT_RECORD' as const, of: readString(part, 'type'), ...accountOf(part) }],
  );
}

/** Compares some records by three reads for all of them, and again, one by one, those that were written meanwhile. */
async function compareSome(
  toolkit: Toolkit,
  migration: Migration,
  accounts: readonly AccountRef[],
): Promise<readonly RecordParity[]> {
  const { store } = toolkit.table;
  const { shape } = migration;
  const keys = accounts.map((account) => legacyKey(migration, account));
  const before = await store.get(keys);
  const items = await store.get(accounts.flatMap((account) => counterparts(shape, account)));
  const after = await store.get(keys);
  const each = accounts.length === 0 ? 0 : items.length / accounts.length;
  const compared: RecordParity[] = [];
  for (const [index, account] of accounts.entries()) {
    const [was, is] = [before[index], after[index]];
    const isAtRest = was !== undefined && is !== undefined && writesOf(was) === writesOf(is);
    compared.push(
      isAtRest
        ? compare(shape, account, is, items.slice(index * each, (index + 1) * each))
        : await compareAtRest(toolkit, migration, account),
    );
  }
  return compared;
}

/** Reads the record, its counterparts, and the record again: every write of either raises the record's `writes`. */
async function compareAtRest(
  { table: { store }, wait }: Toolkit,
  migration: Migration,
  account: AccountRef,
): Promise<RecordParity> {
  const { shape } = migration;
  const key = legacyKey(migration, account);
  for (let readings = 0; readings < MAX_READINGS; readings += 1) {
    if (readings > 0) await wait(PAUSE_MS);
    const [before] = await store.get([key]);
    const items = await store.get(counterparts(shape, account));
    const [after] = await store.get([key]);
    if (before === undefined || after === undefined) continue;
    if (writesOf(before) === writesOf(after)) return compare(shape, account, after, items);
  }
  const { tenant, accountId } = account;
  return { account, moved: true, amounts: [], differences: [{ kind: 'UNSETTLED', tenant, accountId }] };
}

function writesOf(item: StoredItem): string | undefined {
  return item['writes']?.N;
}
