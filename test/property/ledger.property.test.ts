import fc from 'fast-check';
import { ScanCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Engine } from '../../dev/engine/engine.ts';
import { auditTable } from '../../src/ledger/usecases/audit/audit-ledger.ts';
import { issuePaymentCode } from '../../src/ledger/usecases/commands/issue-payment-code.ts';
import { putProduct } from '../../src/ledger/usecases/commands/put-product.ts';
import { startEngine } from '../support/engine.ts';
import { type Harness, customer, makeHarness, merchant } from '../support/harness.ts';
import {
  type Model,
  type ModelCode,
  type ModelRequest,
  type ModelTenant,
  amountText,
  createModel,
} from '../support/model.ts';
import { MODEL_TENANTS, compare, send } from '../support/model-run.ts';
import { propertySettings } from '../support/property-settings.ts';
import { seededIds } from '../support/seeded-ids.ts';
import { type Command, sequence } from '../support/random-commands.ts';

const { runs, seed } = propertySettings();

/** A fresh engine after this many sequences: it gets slower with every client token of the last ten minutes. */
const SEQUENCES_PER_ENGINE = 500;

interface World {
  readonly engine: Engine;
  readonly harness: Harness;
}

async function makeWorld(tableName: string): Promise<World> {
  const engine = await startEngine();
  const ids = seededIds(seed, tableName);
  return { engine, harness: await makeHarness({ endpoint: engine.endpoint, tableName, ids }) };
}

async function endWorld({ engine, harness }: World): Promise<void> {
  harness.close();
  await engine.stop();
}

type Answer = Awaited<ReturnType<typeof send>>;

/** A sequence while it is played. */
interface Play {
  readonly harness: Harness;
  readonly rules: ModelTenant;
  readonly model: Model;
  readonly name: string;
  readonly requests: ModelRequest[];
  lastCode: ModelCode | undefined;
}

/** Plays a sequence on accounts of its own, compares every answer with the model's, and in the end the table too. */
async function play(
  harness: Harness,
  name: string,
  { tenant, commands }: { readonly tenant: number; readonly commands: readonly Command[] },
): Promise<readonly Answer[]> {
  const rules = MODEL_TENANTS[tenant];
  if (rules === undefined) throw new Error('no such tenant');
  const model = createModel(rules, [`${name}a`, `${name}b`]);
  const state: Play = { harness, rules, model, name, requests: [], lastCode: undefined };
  const answers: Answer[] = [];
  for (const step of commands) {
    const request = await prepare(state, step);
    if (request === undefined) continue;
    const nowMs = harness.clock.nowMs();
    const expected = model.request(request, nowMs);
    const padded = step.kind === 'repeat' && step.padded;
    const answer = await send(harness.ledger, rules, request, padded);
    expect(answer, JSON.stringify(step)).toMatchObject(expected.outcome);
    model.recordAttemptDetails(request, expected, answer, nowMs);
    state.requests.push(request);
    answers.push(answer);
  }
  await compare(harness.ledger, rules, model);
  return answers;
}

/** What a command asks for now; undefined if there is nothing that it could be about, or it asks for nothing. */
async function prepare(state: Play, step: Command): Promise<ModelRequest | undefined> {
  const { harness, model, rules, name, requests } = state;
  const key = `${name}-${requests.length}`;
  const accountOf = (which: number): string => model.accounts[which] ?? '';
  const assetOf = (which: number): string => [...rules.paying, 'POINT'][which] ?? '';
  const pick = <Item>(items: readonly Item[], at: number): Item | undefined =>
    items[at % Math.max(items.length, 1)];
  switch (step.kind) {
    case 'open':
      return { kind: 'open', key, accountId: accountOf(step.account), amount: BigInt(step.amount) };
    case 'openWithCode': {
      if (step.fresh || state.lastCode === undefined)
        state.lastCode = await issue(state, accountOf(step.account));
      return { kind: 'openWithCode', key, code: state.lastCode, amount: BigInt(step.amount) };
    }
    case 'sell':
      await sell(state, step);
      return undefined;
    case 'buy':
      return {
        kind: 'buy',
        key,
        accountId: accountOf(step.account),
        sku: skuOf(state, step.sku),
        quantity: step.quantity,
      };
    case 'charge': {
      const open = model.orders.filter((order) => order.kind === 'PURCHASE' && order.state === 'CREATED');
      const order = pick(step.likely && open.length > 0 ? open : model.orders, step.order);
      if (order === undefined) return undefined;
      return {
        kind: 'charge',
        key,
        order,
        asset: assetOf(step.asset),
        by: step.byTerminal ? 'terminal' : 'customer',
      };
    }
    case 'cash': {
      const bought = step.asset % rules.paying.length;
      return {
        kind: 'cash',
        key,
        accountId: accountOf(step.account),
        asset: assetOf(bought),
        amount: BigInt(step.amount),
      };
    }
    case 'adjust':
      return {
        kind: 'adjust',
        key,
        accountId: accountOf(step.account),
        asset: assetOf(step.asset),
        amount: BigInt(step.amount),
      };
    case 'refund': {
      const paid = model.orders.filter((order) => order.state === 'PAID');
      const order = pick(step.likely && paid.length > 0 ? paid : model.orders, step.order);
      if (order === undefined) return undefined;
      return {
        kind: 'refund',
        key,
        order,
        amount: step.amount === undefined ? undefined : BigInt(step.amount),
      };
    }
    case 'cancel': {
      const order = pick(model.orders, step.order);
      return order === undefined ? undefined : { kind: 'cancel', key, order };
    }
    case 'repeat':
      return pick(requests, step.request);
    case 'reuse': {
      const earlier = pick(requests, step.request);
      return earlier === undefined ? undefined : altered(earlier, rules);
    }
    case 'wait':
      harness.clock.advance(step.minutes * 60_000);
      return undefined;
  }
}

function altered(request: ModelRequest, { paying }: ModelTenant): ModelRequest | undefined {
  switch (request.kind) {
    case 'charge':
      return { ...request, asset: paying.find((other) => other !== request.asset) ?? '' };
    case 'buy':
      return { ...request, quantity: request.quantity + 1 };
    case 'refund':
      return { ...request, amount: (request.amount ?? 7n) + 1n };
    case 'cancel':
      return undefined;
    case 'open':
    case 'openWithCode':
    case 'cash':
    case 'adjust':
      return { ...request, amount: request.amount * 2n };
  }
}

async function issue({ harness, rules }: Play, accountId: string): Promise<ModelCode> {
  const { code, expiresAtMs } = await issuePaymentCode(harness.ledger, customer(accountId, rules.tenant));
  return { text: code, accountId, expiresAtMs };
}

function skuOf({ name }: Play, which: number): string {
  return `${name}-sku-${which}`;
}

async function sell(state: Play, step: Extract<Command, { kind: 'sell' }>): Promise<void> {
  const { harness, rules, model } = state;
  const sku = skuOf(state, step.sku);
  const price = amountText(BigInt(step.price), rules.currencyScale);
  const input = { merchantId: rules.merchantId, sku, name: 'Thing', price, active: step.active };
  const outcome = await putProduct(harness.ledger, merchant(rules.merchantId, rules.tenant), input);
  expect(outcome.kind).toBe('PutProductSuccess');
  model.sell(sku, BigInt(step.price), step.active);
}

/** What so many sequences must have come across, so that none of them is only there for show. */
const ANSWERS = [
  'AdjustBalanceSuccess',
  'AdjustBalanceSuccess again',
  'CancelOrderSuccess',
  'CancelOrderSuccess again',
  'CapExceeded',
  'CapExceeded again',
  'ChargeSuccess',
  'ChargeSuccess again',
  'CreateOrderSuccess',
  'CreateOrderSuccess again',
  'IdempotencyKeyReused',
  'InsufficientBalance',
  'InsufficientBalance again',
  'InvalidInput',
  'OrderNotCancelable',
  'OrderNotCancelable again',
  'OrderNotPayable',
  'OrderNotPayable again',
  'OrderNotRefundable',
  'OrderNotRefundable again',
  'RefundExceedsRefundable',
  'RefundExceedsRefundable again',
  'RefundSuccess',
  'RefundSuccess again',
  'TopUpSuccess',
  'TopUpSuccess again',
];

describe(`random histories (PROPERTY_SEED=${seed} PROPERTY_RUNS=${runs})`, () => {
  let world: World;
  let played = 0;
  beforeAll(async () => {
    world = await makeWorld(`sequences-${seed}`);
  }, 60_000);
  afterAll(async () => {
    await endWorld(world);
  });

  it('answer and leave behind what the model says, and audit clean', async () => {
    const answered = new Map<string, number>();
    const property = fc.asyncProperty(sequence, async (one) => {
      played += 1;
      if (played % SEQUENCES_PER_ENGINE === 0) {
        await auditClean(world.harness);
        await endWorld(world);
        world = await makeWorld(`sequences-${seed}-${played}`);
      }
      for (const answer of await play(world.harness, `s${played}`, one)) {
        const kind = `${answer.kind}${answer['replayed'] === true ? ' again' : ''}`;
        answered.set(kind, (answered.get(kind) ?? 0) + 1);
      }
    });
    await fc.assert(property, { seed, numRuns: runs, endOnFailure: false });
    await auditClean(world.harness);
    expect([...answered.keys()].filter((kind) => !ANSWERS.includes(kind))).toEqual([]);
    // In 500 sequences it may happen that a rare refusal isn't asked for again; in 5,000 it doesn't.
    const asked = ANSWERS.filter((kind) => runs >= 5_000 || (runs >= 500 && !kind.endsWith(' again')));
    expect(asked.filter((kind) => !answered.has(kind))).toEqual([]);
  }, 1_800_000);

  it('are the same to the byte for the same seed', async () => {
    const history = async (tableName: string): Promise<unknown> => {
      const own = await makeWorld(tableName);
      try {
        const answers: unknown[] = [];
        for (const [at, one] of fc.sample(sequence, { seed, numRuns: 8 }).entries()) {
          answers.push(await play(own.harness, `h${at}`, one));
        }
        return { answers, items: await dump(own.harness) };
      } finally {
        await endWorld(own);
      }
    };
    const first = await history('history');
    expect(await history('history')).toEqual(first);
  }, 120_000);
});

async function auditClean({ ledger }: Harness): Promise<void> {
  const report = await auditTable(ledger.store, { segments: 4, wait: () => Promise.resolve() });
  expect(report.problems).toEqual([]);
  expect(report.totals.map((total) => total.difference)).toEqual(report.totals.map(() => '0'));
}

/** Every item of the table, as text, in an order of its own. */
async function dump({ client, tableName }: Harness): Promise<readonly string[]> {
  const texts: string[] = [];
  let from: Record<string, never> | undefined;
  do {
    const page = await client.send(
      new ScanCommand({ TableName: tableName, ...(from === undefined ? {} : { ExclusiveStartKey: from }) }),
    );
    texts.push(...(page.Items ?? []).map((item) => JSON.stringify(sorted(item))));
    // A page's end is passed on as it came.
    from = page.LastEvaluatedKey as Record<string, never> | undefined;
  } while (from !== undefined);
  return texts.sort();
}

/** Engines give maps back in an order of their own. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([name, field]) => [name, sorted(field)]),
  );
}
