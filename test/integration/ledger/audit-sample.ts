import { UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { expect } from 'vitest';
import { auditTable, type AuditReport } from '../../../src/ledger/usecases/audit/audit-ledger.ts';
import { charge } from '../../../src/ledger/usecases/commands/charge.ts';
import { refund } from '../../../src/ledger/usecases/commands/refund.ts';
import { topUp } from '../../../src/ledger/usecases/commands/top-up.ts';
import type { Store } from '../../../src/ledger/table/store.ts';
import { type Harness, customer, merchant, terminal } from '../../support/harness.ts';

/** What the sample is: the ids of an order that was charged 480 points-earning yen and refunded 120 of them. */
export interface Sample {
  readonly orderId: string;
  readonly id: string;
}

/** A small ledger with everything in it: adjustments, a cash top-up, charges with rewards, a refund in part. */
export async function fillSample(harness: Harness): Promise<Sample> {
  const { ledger, key } = harness;
  await harness.fund('demo', 'alice', '1000');
  const cash = { accountId: 'alice', amount: '500', method: 'CASH' } as const;
  expect(await topUp(ledger, terminal('cafe', 'demo'), key(), cash)).toMatchObject({ kind: 'TopUpSuccess' });
  const order = await harness.openOrder('demo', 'alice', '480');
  const paid = await charge(ledger, customer('alice', 'demo'), key(), { orderId: order.id });
  expect(paid.kind).toBe('ChargeSuccess');
  const back = { orderId: order.id, amount: '120' };
  expect((await refund(ledger, merchant('cafe', 'demo'), key(), back)).kind).toBe('RefundSuccess');
  await harness.fund('t_1', 'u_1', '50.00');
  await harness.openOrder('t_1', 'u_1', '20.00');
  return order;
}

export const noWait = (): Promise<void> => Promise.resolve();

export function audit(
  harness: Harness,
  store: Store = harness.ledger.store,
  segments = 4,
): Promise<AuditReport> {
  return auditTable(store, { segments, wait: noWait });
}

/** The sort key of the only entry of an operation. */
export async function entryType(harness: Harness, operation: string): Promise<string> {
  const entries = await harness.entries('demo', 'alice');
  const found = entries.filter((entry) => entry.operation === operation);
  expect(found).toHaveLength(1);
  return `ENTRY#${found[0]?.entryId ?? ''}`;
}

export function setNumber(
  harness: Harness,
  type: string,
  attribute: string,
  value: string,
): Promise<unknown> {
  return harness.client.send(
    new UpdateItemCommand({
      TableName: harness.tableName,
      Key: { uuid: { S: 'demo#alice' }, type: { S: type } },
      UpdateExpression: 'SET #attribute = :value',
      ExpressionAttributeNames: { '#attribute': attribute },
      ExpressionAttributeValues: { ':value': { N: value } },
    }),
  );
}
