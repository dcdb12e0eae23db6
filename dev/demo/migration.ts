import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { auditTable } from '../../src/ledger/usecases/audit/audit-ledger.ts';
import { backfill } from '../../src/migrations/backfill.ts';
import { GOD_RECORD } from '../../src/migrations/manifests.ts';
import type { ParityReport } from '../../src/migrations/parity.ts';
import { takeStep } from '../../src/migrations/steps.ts';
import { unmovedRecords } from '../../src/migrations/toolkit.ts';
import { verify } from '../../src/migrations/verify.ts';
import { systemClock } from '../../src/ledger/kernel/clock.ts';
import { type Harness, makeHarness } from '../../test/support/harness.ts';
import { legacyCustomers, seedLegacy } from '../../test/support/legacy-records.ts';
import { type Gateway, startGateway, step, toolkitOf } from '../../test/support/migrating-fleet.ts';
import { directChannel } from '../../test/support/migration-channel.ts';
import { type ModelAccount, disagreement } from '../../test/support/migration-customers.ts';
import { type Traffic, startTraffic } from '../../test/support/migration-traffic.ts';
import { type Engine, startDynoxide } from '../engine/engine.ts';
import type { Narrator } from './narrator.ts';

const RECORDS = 200;
const CUSTOMERS = 8;
const REQUESTS_A_PHASE = 60;
const SEGMENTS = 4;
/** A step that is refused is asked for again, for about fifteen seconds. */
const MOST_ASKED = 30;
const ASKED_AGAIN_AFTER_MS = 500;

interface Play {
  readonly harness: Harness;
  readonly gateways: readonly Gateway[];
  readonly traffic: Traffic;
  /** What the traffic's accounts must hold. */
  readonly accounts: readonly ModelAccount[];
  readonly narrator: Narrator;
}

/**
 * `npm run demo -- --migrate`: legacy customers on a table of its own, two gateways under traffic the whole time, and
 * the God record's migration walked from its first phase to its last. Says for each phase how many requests were
 * served, how many failed and how many differences there are between the shapes; ends with an audit.
 */
export async function playMigration(narrator: Narrator): Promise<void> {
  const engine = await startDynoxide();
  try {
    await playOn(engine, narrator);
  } finally {
    await engine.stop();
  }
}

async function playOn({ endpoint }: Engine, narrator: Narrator): Promise<void> {
  const tableName = `migration-${randomUUID()}`;
  const harness = await makeHarness({
    endpoint,
    tableName,
    clock: { ...systemClock, advance: () => undefined },
  });
  const { ledger } = harness;
  const accounts = legacyCustomers({ count: RECORDS, seed: 1, atMs: systemClock.nowMs() });
  await seedLegacy(ledger.transactor, ledger.ids, accounts);
  await step(toolkitOf(harness), GOD_RECORD, 'FORWARD', []);
  const gateways = [await startGateway(harness), await startGateway(harness)];
  const active = accounts.slice(0, CUSTOMERS).map(({ tenant, accountId, amounts, profile }) => ({
    tenant,
    accountId,
    amounts: { ...amounts },
    profile,
  }));
  const traffic = startTraffic({
    channels: () => gateways.map((gateway) => directChannel(gateway.ledger)),
    accounts: active,
    seed: 1,
  });
  const play: Play = { harness, gateways, traffic, accounts: active, narrator };
  try {
    await walkThrough(play);
    await traffic.stop();
    await checkBooks(play);
  } finally {
    await traffic.stop();
    for (const { view } of gateways) await view.stop();
    harness.close();
  }
}

async function walkThrough(play: Play): Promise<void> {
  const { harness, narrator } = play;
  const toolkit = toolkitOf(harness);
  narrator.step(`${GOD_RECORD.title}, over ${RECORDS} records, with traffic the whole time`);
  await inPhase(play, 'off');
  await forward(play, 'expand');
  await inPhase(play, 'expand');
  await forward(play, 'backfill');
  const moved = await backfill(toolkit, GOD_RECORD, { segments: SEGMENTS, pageSize: 25 });
  narrator.check(moved.kind === 'FINISHED' && moved.left === 0, 'every record moved');
  const again = await backfill(toolkit, GOD_RECORD, { segments: SEGMENTS });
  narrator.check(again.kind === 'FINISHED' && again.handled === 0, 'a second backfill moved none');
  await inPhase(play, 'backfill', true);
  await forward(play, 'verify');
  await inPhase(play, 'verify', true);
  await forward(play, 'read-new');
  await inPhase(play, 'read-new', true);
  await forward(play, 'contract');
  await inPhase(play, 'contract');
  await forward(play, 'cleanup');
  const removed = await backfill(toolkit, GOD_RECORD, { segments: SEGMENTS });
  narrator.check(removed.kind === 'FINISHED' && removed.left === 0, 'the old shape is gone');
  await inPhase(play, 'cleanup');
  await forward(play, 'done');
}

/** A step, which one gateway sees before the other: requests are served by both meanwhile. */
async function forward({ harness, gateways, traffic, narrator }: Play, to: string): Promise<void> {
  let result = await takeStep(toolkitOf(harness), GOD_RECORD, 'FORWARD');
  // A process that was busy is still joining, or acts on an earlier step: not yet, so it is asked again.
  for (let asked = 1; result.kind === 'REFUSED' && asked < MOST_ASKED; asked += 1) {
    await delay(ASKED_AGAIN_AFTER_MS);
    for (const { view } of gateways) await view.refresh();
    result = await takeStep(toolkitOf(harness), GOD_RECORD, 'FORWARD');
  }
  if (result.kind !== 'TAKEN') {
    narrator.check(false, `→ ${to}: ${JSON.stringify(result)}`);
    throw new Error(`the step to ${to} was refused`);
  }
  for (const { view } of gateways) {
    await view.refresh();
    await traffic.whenServed(10);
  }
}

/** `compares`: both shapes are there to be compared; what the customers must hold is compared in every phase. */
async function inPhase(play: Play, phase: string, compares = false): Promise<void> {
  const { harness, traffic, narrator } = play;
  const before = traffic.served();
  await traffic.whenServed(REQUESTS_A_PHASE);
  const parity = compares ? await compared(harness) : undefined;
  const differences =
    (parity?.differences ?? 0) + (parity?.unmoved ?? 0) + (await traffic.atRest(() => disagreements(play)));
  narrator.check(
    traffic.failures.length === 0 && differences === 0 && (!compares || parity !== undefined),
    `${phase.padEnd(9)} ${traffic.served() - before} requests served, ${traffic.failures.length} failures, ${differences} differences`,
  );
}

async function disagreements({ gateways, accounts }: Play): Promise<number> {
  const found = await Promise.all(
    gateways.flatMap(({ ledger }) => accounts.map((account) => disagreement(ledger, account))),
  );
  return found.filter((one) => one !== undefined).length;
}

async function compared(harness: Harness): Promise<ParityReport | undefined> {
  const result = await verify(toolkitOf(harness), GOD_RECORD, { segments: SEGMENTS });
  return result.kind === 'VERIFIED' ? result.report : undefined;
}

async function checkBooks({ harness, traffic, narrator }: Play): Promise<void> {
  const { store } = harness.ledger;
  narrator.step('The audit of the whole ledger');
  const unmoved = await unmovedRecords(store);
  const report = await auditTable(store, {
    segments: SEGMENTS,
    wait: () => Promise.resolve(),
    ...(unmoved === undefined ? {} : { unmoved }),
  });
  const isClean = report.problems.length === 0 && report.unsettled.length === 0;
  narrator.check(isClean, `${report.accounts} accounts, ${report.entries} entries: everything balances`);
  narrator.tell(`${traffic.served()} requests were served, ${traffic.failures.length} failed.`);
  for (const failure of traffic.failures.slice(0, 5)) narrator.tell(failure);
}
