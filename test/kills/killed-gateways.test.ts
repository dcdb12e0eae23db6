import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { backfill } from '../../src/migrations/backfill.ts';
import { hasMoved, isRecord } from '../../src/migrations/legacy-record.ts';
import { GOD_RECORD } from '../../src/migrations/manifests.ts';
import { COUNTS_FOR_MS, type Heartbeat } from '../../src/migrations/state.ts';
import { verify } from '../../src/migrations/verify.ts';
import { type KilledMigration, aftermath, startKilledMigration, until } from '../support/killed-migration.ts';
import { step, toolkitOf } from '../support/migrating-fleet.ts';

const REQUESTS = 10;
const ID = GOD_RECORD.id;
const UNBOUND = ['--units-per-second', '1000000'];

let scene: KilledMigration;
beforeAll(async () => {
  scene = await startKilledMigration({
    endpoint: inject('engineEndpoint'),
    records: 30,
    customers: 4,
    seed: 9,
  });
}, 60_000);
afterAll(async () => {
  await scene.stop();
});

/** What must hold at the border of two phases, once the living act on the step of now and have served requests in it. */
async function settled(): Promise<void> {
  await scene.whenSettled();
  await audited();
}

async function audited(): Promise<void> {
  await scene.traffic.whenServed(REQUESTS);
  const report = await scene.audit();
  expect({ ...report, failures: scene.traffic.failures }).toMatchObject({
    problems: [],
    unsettled: [],
    failures: [],
  });
}

function later(one: Heartbeat, other: Heartbeat): Heartbeat {
  return one.atMs > other.atMs ? one : other;
}

/** A step that a dead process holds up as long as it counts, and not a moment longer. */
async function heldUpBy(
  dead: Heartbeat,
  to: string,
  direction: 'FORWARD' | 'BACK' = 'FORWARD',
): Promise<void> {
  expect(await scene.stepAfter(dead, COUNTS_FOR_MS - 1, direction)).toEqual({
    kind: 'REFUSED',
    reasons: [`Process ${dead.process} still acts on an earlier step.`],
  });
  expect(await scene.stepAfter(dead, COUNTS_FOR_MS)).toMatchObject({
    kind: 'TAKEN',
    state: { phase: to },
  });
  await settled();
}

async function whenSomeMoved(): Promise<void> {
  await until(async () => {
    const { items } = await scene.harness.ledger.store.scan(0, 1, undefined);
    return items.filter((item) => hasMoved(GOD_RECORD, item)).length >= 5 ? true : undefined;
  });
}

async function verified(): Promise<void> {
  const parity = await verify(toolkitOf(scene.harness), GOD_RECORD, { segments: 2 });
  expect(parity).toMatchObject({ kind: 'VERIFIED', report: { unmoved: 0, differences: 0 } });
}

describe('a migration whose gateways and backfill are killed under load', () => {
  it('serves every request, loses and doubles none, and comes to its end', { timeout: 240_000 }, async () => {
    const { command, traffic, harness } = scene;
    const toolkit = toolkitOf(harness);
    await settled();
    await step(toolkit, GOD_RECORD, 'FORWARD', []);
    await settled();

    const deadInExpand = await scene.kill(0);
    await traffic.whenServed(REQUESTS);
    // It died in the phase of now: the next step makes it a neighbour, which is no harm.
    expect(await step(toolkit, GOD_RECORD, 'FORWARD', [])).toBe('backfill');
    await settled();

    await scene.restart(0);
    const walk = command.start('backfill', ID, '--segments', '2', '--units-per-second', '30');
    await whenSomeMoved();
    await walk.kill();
    const deadInBackfill = later(await scene.stranger(), await scene.kill(1));
    const [held] = await Promise.all([command.run('advance', ID), scene.restart(1)]);
    expect(held.code).toBe(1);
    expect(held.out).toContain(`Process ${deadInExpand.process} still acts on an earlier step.`);
    expect(held.out).toContain('The backfill has not come to its end');
    expect(JSON.parse((await command.run('backfill', ID, '--json', ...UNBOUND)).out)).toMatchObject({
      ok: true,
      result: { kind: 'FINISHED', resumed: true, left: 0 },
    });
    expect(await backfill(toolkit, GOD_RECORD, { segments: 2 })).toMatchObject({ handled: 0, left: 0 });
    await settled();
    await heldUpBy(deadInExpand, 'verify');

    await verified();
    await heldUpBy(deadInBackfill, 'read-new');

    const deadInReadNew = await scene.kill(0);
    await traffic.whenServed(REQUESTS);
    expect(await scene.stepAfter(deadInBackfill, COUNTS_FOR_MS, 'BACK')).toMatchObject({
      state: { phase: 'verify' },
    });
    await settled();
    await Promise.all([verified(), scene.restart(0)]);
    await scene.whenSettled();
    await heldUpBy(deadInReadNew, 'read-new');
    await verified();
    for (const to of ['contract', 'cleanup']) {
      expect(await scene.stepAfter(deadInReadNew, COUNTS_FOR_MS)).toMatchObject({ state: { phase: to } });
      await settled();
    }
    expect(await backfill(toolkit, GOD_RECORD, { segments: 2 })).toMatchObject({ left: 0 });
    expect(await scene.stepAfter(deadInReadNew, COUNTS_FOR_MS)).toMatchObject({ state: { phase: 'done' } });
    // Of what is done no process tells any more.
    await audited();

    await traffic.stop();
    expect(traffic.failures).toEqual([]);
    expect(await aftermath(scene)).toEqual({ missing: [], doubled: [], wrong: [] });
    expect(traffic.charged.length).toBeGreaterThan(10);
    expect(scene.lost()).toBeGreaterThanOrEqual(3);
    const { items } = await harness.ledger.store.scan(0, 1, undefined);
    expect(items.filter((item) => item['type']?.S === 'CUSTOMER' && isRecord(GOD_RECORD, item))).toEqual([]);
  });
});
