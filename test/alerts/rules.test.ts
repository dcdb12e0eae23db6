import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

/** Every rule of infra/alerts.yaml, by `promtool test rules`: what makes it fire, and what just doesn't. */

const RULES = join(import.meta.dirname, '..', '..', 'infra', 'alerts.yaml');
const run = promisify(execFile);

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hitotsu-alerts-'));
});
afterAll(async () => {
  await rm(folder, { recursive: true });
});

interface Case {
  readonly alert: string;
  /** A minute a sample, in promtool's notation. */
  readonly fires: Readonly<Record<string, string>>;
  readonly silent: Readonly<Record<string, string>>;
  /** When it is looked at, in minutes. */
  readonly at?: number;
}

const once = (name: string): Pick<Case, 'fires' | 'silent'> => ({
  fires: { [`hitotsu_${name}`]: '0x5 1x20' },
  silent: { [`hitotsu_${name}`]: '7x25' },
});

const CASES: readonly Case[] = [
  { alert: 'HitotsuMismatch', ...once('mismatch_total'), at: 10 },
  { alert: 'HitotsuRefundBeyondRefundable', ...once('refund_beyond_refundable_total'), at: 10 },
  { alert: 'HitotsuSurplusPayment', ...once('surplus_payment_total'), at: 10 },
  { alert: 'HitotsuRecordedPaymentRestored', ...once('recorded_payment_restored_total'), at: 10 },
  { alert: 'HitotsuUnreadableEvent', ...once('unreadable_event_total'), at: 10 },
  { alert: 'HitotsuEventFailed', ...once('event_failed_total'), at: 10 },
  { alert: 'HitotsuInternalError', ...once('internal_error_total'), at: 10 },
  {
    alert: 'HitotsuDeadSteps',
    fires: { hitotsu_dead_steps: '1x30' },
    silent: { hitotsu_dead_steps: '0x30' },
  },
  {
    alert: 'HitotsuProcessDown',
    fires: { 'up{job="hitotsu-gateway"}': '1x30', 'up{job="hitotsu-relay"}': '0x30' },
    silent: { 'up{job="hitotsu-gateway"}': '1x30', 'up{job="hitotsu-worker"}': '1x30' },
  },
  { alert: 'HitotsuProcessDown', fires: {}, silent: { 'up{job="hitotsu-gateway"}': '1x30' } },
  {
    alert: 'HitotsuSweeperStill',
    fires: { 'hitotsu_event_sweep_total{instance="a"}': '9x90' },
    silent: {
      'hitotsu_event_sweep_total{instance="a"}': '9x90',
      'hitotsu_event_sweep_total{instance="b"}': '0+0.2x90',
    },
    at: 85,
  },
  {
    alert: 'HitotsuClockWrong',
    fires: { hitotsu_clock_skew_seconds: '-600x30' },
    silent: { hitotsu_clock_skew_seconds: '9x30' },
  },
  {
    alert: 'HitotsuDueOrders',
    fires: { hitotsu_due_orders: '301x30' },
    silent: { hitotsu_due_orders: '300x30' },
  },
  {
    alert: 'HitotsuThrottled',
    fires: { 'hitotsu_throttled_total{operation="charge"}': '0+90x30' },
    silent: { 'hitotsu_throttled_total{operation="charge"}': '0+50x30' },
  },
  {
    alert: 'HitotsuTransactionUnknown',
    fires: { 'hitotsu_transaction_unknown_total{operation="charge"}': '0+9x30' },
    silent: { 'hitotsu_transaction_unknown_total{operation="charge"}': '0+5x30' },
  },
  {
    alert: 'HitotsuProviderFailing',
    fires: {
      'hitotsu_provider_call_total{operation="a",result="UNKNOWN"}': '0+3x30',
      'hitotsu_provider_call_total{operation="a",result="DONE"}': '0+7x30',
    },
    silent: {
      'hitotsu_provider_call_total{operation="a",result="UNKNOWN"}': '0+1x30',
      'hitotsu_provider_call_total{operation="a",result="DONE"}': '0+9x30',
    },
  },
  {
    // 120 an hour, which the rule once kept silent about.
    alert: 'HitotsuWebhookRefused',
    fires: { 'hitotsu_webhook_refused_total{reason="no signature matches"}': '0+2x60' },
    silent: { 'hitotsu_webhook_refused_total{reason="no signature matches"}': '0+0.1x60' },
    at: 60,
  },
  {
    alert: 'HitotsuBusDown',
    fires: { hitotsu_bus_publish_failed_total: '0+1x30' },
    silent: { hitotsu_bus_publish_failed_total: '4x30' },
  },
  {
    alert: 'HitotsuSlow',
    fires: {
      'hitotsu_request_duration_seconds_bucket{le="2.5"}': '0+90x30',
      'hitotsu_request_duration_seconds_bucket{le="5"}': '0+100x30',
      'hitotsu_request_duration_seconds_bucket{le="+Inf"}': '0+100x30',
    },
    silent: {
      'hitotsu_request_duration_seconds_bucket{le="2.5"}': '0+100x30',
      'hitotsu_request_duration_seconds_bucket{le="5"}': '0+100x30',
      'hitotsu_request_duration_seconds_bucket{le="+Inf"}': '0+100x30',
    },
  },
  {
    alert: 'HitotsuKeySetStale',
    fires: { 'hitotsu_key_set_fetch_total{result="FAILED"}': '0+1x60' },
    silent: {
      'hitotsu_key_set_fetch_total{result="FAILED"}': '0+1x60',
      'hitotsu_key_set_fetch_total{result="OK"}': '0+1x60',
    },
    at: 45,
  },
];

/** The alerts that fire at that time, as promtool sees it: it prints what it got where that isn't what was expected. */
async function firing(alert: string, series: Case['fires'], atMinutes: number): Promise<boolean> {
  const file = join(folder, 'case.json');
  const input_series = Object.entries(series).map(([name, values]) => ({ series: name, values }));
  const alert_rule_test = [{ eval_time: `${String(atMinutes)}m`, alertname: alert, exp_alerts: [] }];
  const tests = [{ interval: '1m', input_series, alert_rule_test }];
  // JSON is YAML.
  await writeFile(file, JSON.stringify({ rule_files: [RULES], tests }));
  try {
    await run('promtool', ['test', 'rules', file]);
    return false;
  } catch (error) {
    const said = String((error as { readonly stdout?: unknown }).stdout) + String(error);
    if (!said.includes(`alertname="${alert}"`)) throw error;
    return true;
  }
}

describe('infra/alerts.yaml', () => {
  it('is a file that Prometheus takes', async () => {
    const { stdout } = await run('promtool', ['check', 'rules', RULES]);
    expect(stdout).toContain('SUCCESS');
  });

  it('has a case here for every rule', async () => {
    const alerts = (await readFile(RULES, 'utf8')).match(/(?<=- alert: )\w+/g) ?? [];
    expect([...new Set(CASES.map(({ alert }) => alert))].sort()).toEqual([...alerts].sort());
  });

  it.each(CASES)('$alert fires on $fires and not on $silent', async ({ alert, fires, silent, at = 20 }) => {
    expect([await firing(alert, fires, at), await firing(alert, silent, at)]).toEqual([true, false]);
  });
});
