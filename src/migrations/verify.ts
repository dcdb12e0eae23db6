import { type StoredItem, readString } from '../ledger/attributes.ts';
import type { AccountRef } from '../ledger/keys.ts';
import type { Store } from '../ledger/store.ts';
import { isRecord, standsFor } from './legacy-record.ts';
import { type Migration, legacyKey } from './migration.ts';
import { accountOf } from './move.ts';
import { type Difference, type ParityTotal, ParityTotals, compare, counterparts } from './parity.ts';
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
        for (const item of items) {
          const type = readString(item, 'type');
          const account = accountOf(item);
          if (type === shape.type && isRecord(shape, item)) {
            counts.records += 1;
            const parity = await compareAtRest(toolkit, migration, account);
            totals.add(parity);
            parity.differences.forEach(found);
          } else if (standsFor(shape, { uuid: '', type })) {
            if (!(await hasRecord(store, migration, account)))
              found({ kind: 'WITHOUT_RECORD', of: type, ...account });
          }
        }
      }
    }),
  );
  return { ...counts, totals: totals.printed(), listed };
}

async function hasRecord(store: Store, migration: Migration, account: AccountRef): Promise<boolean> {
  const [record] = await store.get([legacyKey(migration, account)]);
  return isRecord(migration.shape, record);
}

/** Reads the record, its counterparts, and the record again: every write of either raises the record's `writes`. */
async function compareAtRest(
  { table: { store }, wait }: Toolkit,
  migration: Migration,
  account: AccountRef,
): Promise<ReturnType<typeof compare>> {
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
