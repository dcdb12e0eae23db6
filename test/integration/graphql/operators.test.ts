import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { type EventRecord, putEvent } from '../../../src/ledger/items/event-item.ts';
import { orderKey } from '../../../src/ledger/kernel/keys.ts';
import { commit } from '../../../src/ledger/usecases/runtime/ledger.ts';
import { orderRefOf } from '../../../src/ledger/usecases/runtime/input.ts';
import { touch } from '../../../src/ledger/model/orders/order-changes.ts';
import { readOrder } from '../../../src/ledger/items/order-item.ts';
import { updateOrder } from '../../../src/ledger/items/order-writes.ts';
import type { Step } from '../../../src/ledger/model/orders/order.ts';
import { type PlanPart, plan } from '../../../src/ledger/items/plan.ts';
import {
  DeadStepsDocument,
  type DeadStepsQuery,
  NodeDocument,
  WebhookProblemsDocument,
  type WebhookProblemsQuery,
} from '../../support/generated/documents.ts';
import {
  ADMIN,
  ALICE,
  type Answer,
  FOREIGN_ADMIN,
  type Gateway,
  dataOf,
  startGateway,
} from '../../support/gateway.ts';
import { openOrder } from './money.ts';

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway({ endpoint: inject('engineEndpoint') });
});
afterAll(() => gateway.close());

async function write(part: PlanPart): Promise<void> {
  const { ledger } = gateway.server.app;
  expect(await commit(ledger, plan(ledger.ids.token(), part))).toEqual({ kind: 'COMMITTED' });
}

/** An order with the named steps DEAD, and one that is done. */
async function deadOrder(...names: readonly string[]): Promise<void> {
  const { ledger } = gateway.server.app;
  const ref = orderRefOf('t_1', await openOrder(gateway, ALICE, '1.00'));
  if (ref === undefined) throw new Error('no order');
  const [item] = await ledger.store.get([orderKey(ref)]);
  const order = readOrder(item ?? {});
  const step = (name: string, state: Step['state']): Step => ({
    name,
    state,
    attempts: 9,
    nextAttemptAtMs: 0,
  });
  const steps = [step('done', 'DONE'), ...names.map((name) => step(name, 'DEAD'))];
  gateway.clock.advance(1_000);
  await write(updateOrder(order, touch(order, gateway.clock.nowMs(), { steps }), ledger.settings));
}

describe('the dead-letter queue', () => {
  it('lists dead steps, the newest order first, in pages that may end within an order', async () => {
    await deadOrder('a', 'b', 'c');
    await deadOrder('d');
    await deadOrder('e', 'f');
    const seen: string[][] = [];
    let after: string | null = null;
    do {
      const answer: Answer<DeadStepsQuery> = await gateway.run(ADMIN, DeadStepsDocument, { first: 2, after });
      const steps: DeadStepsQuery['deadSteps'] = dataOf(answer).deadSteps;
      seen.push(steps?.edges.map(({ node }) => node.name) ?? []);
      after = steps?.pageInfo.hasNextPage === true ? steps.pageInfo.endCursor : null;
    } while (after !== null);
    expect(seen).toEqual([
      ['e', 'f'],
      ['d', 'a'],
      ['b', 'c'],
    ]);
  });

  it("is another tenant's own", async () => {
    expect(dataOf(await gateway.run(FOREIGN_ADMIN, DeadStepsDocument, {})).deadSteps?.edges).toEqual([]);
  });
});

describe("the provider's events that came to nothing", () => {
  const DAY_MS = 86_400_000;

  async function event(
    eventId: string,
    outcome: EventRecord['outcome'],
    processedAtMs: number,
    tenant = 't_1',
  ): Promise<void> {
    const record: EventRecord = {
      eventId,
      type: 'payment_intent.succeeded',
      outcome,
      livemode: false,
      occurredAtMs: processedAtMs - 1_000,
      processedAtMs,
      tenant,
      detail: 'amount differs',
      transactionId: 'tx',
      ttlS: Math.floor(processedAtMs / 1_000) + 30 * 86_400,
    };
    await write(putEvent(record, 'FAILED'));
  }

  it('are listed newest first, across months, outcomes and one instant; expired ones are not', async () => {
    const nowMs = gateway.clock.nowMs();
    await event('evt_now_1', 'MISMATCH', nowMs);
    await event('evt_now_2', 'FAILED', nowMs);
    await event('evt_now_3', 'MISMATCH', nowMs);
    await event('evt_applied', 'APPLIED', nowMs);
    await event('evt_last_month', 'FAILED', nowMs - 20 * DAY_MS);
    await event('evt_expired', 'MISMATCH', nowMs - 31 * DAY_MS);
    await event('evt_foreign', 'MISMATCH', nowMs, 'demo');
    const seen: string[] = [];
    let after: string | null = null;
    do {
      const answer: Answer<WebhookProblemsQuery> = await gateway.run(ADMIN, WebhookProblemsDocument, {
        first: 2,
        after,
      });
      const problems: WebhookProblemsQuery['webhookProblems'] = dataOf(answer).webhookProblems;
      seen.push(...(problems?.edges.map(({ node }) => node.providerEventId) ?? []));
      after = problems?.pageInfo.hasNextPage === true ? problems.pageInfo.endCursor : null;
    } while (after !== null);
    expect(seen).toEqual(['evt_now_1', 'evt_now_2', 'evt_now_3', 'evt_last_month']);
  });

  it('are nodes to an admin of the tenant, and to nobody else', async () => {
    const { webhookProblems } = dataOf(await gateway.run(ADMIN, WebhookProblemsDocument, { first: 1 }));
    const id = webhookProblems?.edges[0]?.node.id ?? '';
    expect(dataOf(await gateway.run(ADMIN, NodeDocument, { id })).node).toEqual({
      __typename: 'WebhookEvent',
      id,
    });
    expect(dataOf(await gateway.run(FOREIGN_ADMIN, NodeDocument, { id })).node).toBeNull();
    expect(dataOf(await gateway.run(ALICE, NodeDocument, { id })).node).toBeNull();
  });
});
