import { execFile } from 'node:child_process';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { systemClock } from '../../../src/ledger/kernel/clock.ts';
import { checkout } from '../../../src/ledger/usecases/commands/checkout.ts';
import { customer } from '../../support/harness.ts';
import { ownedClock } from '../../support/owned-time.ts';
import { type ProviderHarness, URLS, makeProviderHarness } from './support.ts';

/** The command as an operator runs it: a process of its own, against the same table and the same Stripe. */

let harness: ProviderHarness;
beforeAll(async () => {
  // The command reads the real clock: what happens here happened ten minutes ago.
  harness = await makeProviderHarness({}, ownedClock(systemClock.nowMs() - 600_000));
});
afterAll(async () => {
  await harness.stop();
});

interface Ran {
  readonly code: number;
  readonly output: string;
}

function reconcile(...options: readonly string[]): Promise<Ran> {
  const environment = {
    DYNAMODB_ENDPOINT: inject('engineEndpoint'),
    TABLE_NAME: harness.tableName,
    STRIPE_API_BASE: harness.simulator.url,
    STRIPE_SECRET_KEY: 'sk_test_1',
    STRIPE_WEBHOOK_SECRETS: 'whsec_0123456789abcdef',
    LOG_LEVEL: 'silent',
  };
  return new Promise((resolve) => {
    const args = ['--import', 'tsx', 'src/cli/reconcile.ts', ...options];
    execFile(process.execPath, args, { env: environment }, (error, stdout, stderr) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : 0, output: stdout + stderr });
    });
  });
}

it(
  'names a payment that nobody told of, fixes it when asked to, and then agrees',
  { timeout: 60_000 },
  async () => {
    const { id, orderId } = await harness.openOrder('demo', 'alice', '480');
    await checkout(harness.ledger, customer('alice', 'demo'), harness.key(), { orderId: id, ...URLS });
    const [attempt] = (await harness.order('demo', 'alice', orderId)).attempts;
    await harness.simulator.payByCard({ session: attempt?.sessionId ?? '' });
    const listed = await harness.ledger.provider.listPayments({ limit: 1 });
    const paymentId = listed.kind === 'DONE' ? (listed.value.items[0]?.paymentId ?? '') : '';
    const line = `PAYMENT ${paymentId}  demo#alice order ${id}: provider 480 JPY, ledger not booked`;
    const advice = '         Next: --fix applies it by the same decisions as its webhook.';
    const sums = '1 payment, 0 refunds, 0 disputes compared, 0 of others';

    expect(await reconcile('--since', '1h')).toEqual({
      code: 1,
      output: `DIFFERS  ${line}\n${advice}\n${sums}: 1 difference.\n`,
    });
    expect(await reconcile('--since', '1h', '--fix')).toEqual({
      code: 0,
      output: `fixed  ${line}\n${sums}: the ledger agrees with the provider, 1 fixed.\n`,
    });
    expect((await harness.order('demo', 'alice', orderId)).payment?.paymentId).toBe(paymentId);
    const agreed = await reconcile('--both-ways', '--json');
    expect(agreed.code).toBe(0);
    expect(JSON.parse(agreed.output)).toEqual({
      payments: 1,
      refunds: 0,
      disputes: 0,
      young: 0,
      foreign: 0,
      recordings: 1,
      complete: true,
      findings: [],
      unreadable: [],
    });
  },
);
