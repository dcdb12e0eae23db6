import { setTimeout as delay } from 'node:timers/promises';
import { createDynamoDbClient } from '../../src/ledger/table/dynamodb.ts';
import { type Entry, readEntry } from '../../src/ledger/model/entries/entry.ts';
import { randomIds } from '../../src/ledger/kernel/ids.ts';
import { PREFIX, balanceKey, partition } from '../../src/ledger/kernel/keys.ts';
import { decimal, plainDecimal } from '../../src/ledger/kernel/money.ts';
import { encodeNodeId } from '../../src/ledger/items/node-ids.ts';
import { type AuditReport, auditTable } from '../../src/ledger/usecases/audit/audit-ledger.ts';
import { balanceOf } from '../../src/ledger/items/balance-item.ts';
import { type Store, createStore } from '../../src/ledger/table/store.ts';
import { TABLE_NAME, startKillableFleet } from './killable-fleet.ts';
import { FUNDS, startLoad } from './killer-load.ts';
import { seededFractions } from './seeded.ts';

export interface KillerOptions {
  /** How many processes are killed, one after another. */
  readonly kills: number;
  readonly customers: number;
  /** Who is killed next, and after how many charges. */
  readonly seed: number;
}

/** What is left after the last kill, once every customer has asked again. */
export interface Aftermath {
  readonly acknowledged: number;
  /** Answers that were lost, or asked to be asked again. */
  readonly lost: number;
  /** Charges that were acknowledged, and whose entry isn't there. */
  readonly missing: readonly string[];
  /** Orders that were charged more than once. */
  readonly doubled: readonly string[];
  /** Requests whose outcome one more try with the same key didn't settle. */
  readonly unsettled: number;
  /** Customers whose balance isn't what their charges leave. */
  readonly wrongBalances: readonly string[];
  readonly audit: AuditReport;
}

const PRICE = '480';

/** Kills the gateway and the engine under load, again and again, and then looks at what the table holds (I8). */
export async function runKiller({ kills, customers: count, seed }: KillerOptions): Promise<Aftermath> {
  const customers = Array.from({ length: count }, (_, index) => `c_${String(index)}`);
  const fraction = seededFractions(seed);
  const fleet = await startKillableFleet();
  try {
    const load = await startLoad(fleet.gatewayUrl, customers);
    for (let killed = 0; killed < kills; killed += 1) {
      await load.whenAcknowledged(1 + Math.floor(fraction() * count * 2));
      await fleet.killAndRestart(killed % 2 === 0 ? 'engine' : 'gateway');
    }
    await load.whenAcknowledged(count);
    const unknown = await load.stop();
    const settled = await Promise.all(unknown.map((request) => load.sendAgain(request)));
    const unsettled = settled.filter((charged) => charged === undefined).length;

    const client = createDynamoDbClient({ region: 'local', endpoint: fleet.engineEndpoint });
    const store = createStore({ client, tableName: TABLE_NAME, ids: randomIds(), wait: (ms) => delay(ms) });
    const seen = await Promise.all(customers.map((customer) => readCustomer(store, customer)));
    const entryIds = new Set(seen.flatMap(({ charges }) => charges.map(publicId)));
    const audit = await auditTable(store, { segments: 4, wait: (ms) => delay(ms) });
    client.destroy();
    return {
      acknowledged: load.acknowledged.length,
      lost: load.lost(),
      missing: load.acknowledged.map(({ entryId }) => entryId).filter((entryId) => !entryIds.has(entryId)),
      doubled: seen.flatMap(({ charges }) => repeated(charges.map(({ orderId }) => orderId ?? ''))),
      unsettled,
      wrongBalances: seen.filter(isOff).map(({ customer }) => customer),
      audit,
    };
  } finally {
    await fleet.stop();
  }
}

interface SeenCustomer {
  readonly customer: string;
  readonly charges: readonly Entry[];
  readonly balance: string;
}

async function readCustomer(store: Store, customer: string): Promise<SeenCustomer> {
  const account = { tenant: 'demo', accountId: customer };
  const [balance] = await store.get([balanceKey({ ...account, asset: 'ECOPAY' })]);
  const range = {
    uuid: partition('demo', customer),
    prefix: PREFIX.entry,
    limit: 100_000,
    newestFirst: false,
  };
  const entries = (await store.query(range)).map(readEntry);
  const charges = entries.filter(({ operation }) => operation === 'CHARGE');
  return { customer, charges, balance: plainDecimal(balanceOf(balance)) };
}

function isOff({ charges, balance }: SeenCustomer): boolean {
  return balance !== plainDecimal(decimal(FUNDS).minus(decimal(PRICE).times(charges.length)));
}

function publicId({ tenant, accountId, entryId }: Entry): string {
  return encodeNodeId('Entry', tenant, accountId, entryId);
}

function repeated(names: readonly string[]): readonly string[] {
  return names.filter((name, index) => names.indexOf(name) !== index);
}
