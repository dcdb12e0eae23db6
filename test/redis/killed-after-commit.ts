import { randomUUID } from 'node:crypto';
import { charge } from '../../src/ledger/usecases/commands/charge.ts';
import { createInProcessBus } from '../../src/realtime/bus/bus.ts';
import { customer, makeHarness } from '../support/harness.ts';
import { ownedClock } from '../support/owned-time.ts';

/** A gateway that is killed in the moment between the commit of a charge and its publication. */
const [endpoint = '', tableName = '', orderId = ''] = process.argv.slice(2);
const bus = {
  ...createInProcessBus(),
  publish: () => {
    process.kill(process.pid, 'SIGKILL');
  },
};
const { ledger } = await makeHarness({
  endpoint,
  tableName,
  clock: ownedClock(Date.now()),
  overrides: { bus },
});
await charge(ledger, customer('alice', 'demo'), randomUUID(), { orderId, asset: 'ECOPAY' });
