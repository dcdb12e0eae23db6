import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createMetrics } from '../../src/observability/metrics.ts';

/** Rules over metrics that nobody serves would never fire, and nobody would know. */

const ROOT = join(import.meta.dirname, '..', '..');

async function served(): Promise<string> {
  return (await createMetrics().render()).body;
}

describe('infra/alerts.yaml', () => {
  it('speaks only of metrics that are served', async () => {
    const rules = await readFile(join(ROOT, 'infra/alerts.yaml'), 'utf8');
    const names = [...new Set(rules.match(/\bhitotsu_[a-z_]+/g))].map((name) => name.replace(/_bucket$/, ''));
    const known: readonly string[] = (await served()).match(/(?<=^# TYPE )\S+/gm) ?? [];
    expect(names.length).toBeGreaterThanOrEqual(11);
    expect(names.filter((name) => !known.includes(name))).toEqual([]);
  });

  it('has a rule for every metric that is there to alert somebody', async () => {
    const rules = await readFile(join(ROOT, 'infra/alerts.yaml'), 'utf8');
    const alerting = (await served()).match(/(?<=^# HELP )\S+(?= Alert:)/gm) ?? [];
    expect(alerting).toHaveLength(9);
    expect(alerting.filter((name) => !rules.includes(name))).toEqual([]);
  });

  it('tells for each alert, in docs/OPERATIONS.md, what to do', async () => {
    const rules = await readFile(join(ROOT, 'infra/alerts.yaml'), 'utf8');
    const runbook = await readFile(join(ROOT, 'docs/OPERATIONS.md'), 'utf8');
    const alerts = rules.match(/(?<=- alert: )\w+/g) ?? [];
    expect(alerts.filter((name) => !runbook.includes(`\`${name}\``))).toEqual([]);
  });
});
