import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { createLogger } from '../../../src/observability/logger.ts';
import { ALICE, type Gateway, SELLER, startGateway } from '../../support/gateway.ts';
import { ownedClock } from '../../support/owned-time.ts';
import { fund, openOrder } from './money.ts';

let gateway: Gateway;
const logged: string[] = [];
beforeAll(async () => {
  const destination = { write: (line: string) => logged.push(line) };
  gateway = await startGateway({
    endpoint: inject('engineEndpoint'),
    overrides: { logger: createLogger({ level: 'info', clock: ownedClock(), destination }) },
  });
});
afterAll(() => gateway.close());

function linesOf(requestId: string | null): readonly unknown[] {
  return logged.filter((line) => line.includes(requestId ?? 'none')).map((line): unknown => JSON.parse(line));
}

it('each mutation is one line: what it was, how it ended, of which order; no amount and no name', async () => {
  await fund(gateway, ALICE, '20.00');
  const id = await openOrder(gateway, ALICE, '12.34');
  const charge = `mutation { charge(idempotencyKey: "log", input: { orderId: "${id}" }) { __typename } }`;
  const refund = `mutation { refund(idempotencyKey: "log", input: { orderId: "${id}" }) { __typename } }`;
  const missing = 'mutation { charge(idempotencyKey: "none", input: { orderId: "nothing" }) { __typename } }';
  const answers = [
    await gateway.run(ALICE, charge),
    await gateway.run(ALICE, charge),
    await gateway.run(SELLER, refund),
    await gateway.run(ALICE, missing),
  ];
  const requestIds = answers.map(({ headers }) => headers.get('x-request-id'));
  const line = {
    level: 'info',
    message: 'a mutation has ended',
    tenant: 't_1',
    time: expect.any(String) as string,
  };
  expect(requestIds.map(linesOf)).toEqual([
    [
      {
        ...line,
        requestId: requestIds[0],
        operation: 'charge',
        outcome: 'ChargeSuccess',
        replayed: false,
        orderId: id,
      },
    ],
    [
      {
        ...line,
        requestId: requestIds[1],
        operation: 'charge',
        outcome: 'ChargeSuccess',
        replayed: true,
        orderId: id,
      },
    ],
    [
      {
        ...line,
        requestId: requestIds[2],
        operation: 'refund',
        outcome: 'RefundSuccess',
        replayed: false,
        orderId: id,
      },
    ],
    [{ ...line, requestId: requestIds[3], operation: 'charge', outcome: 'NotFound' }],
  ]);
  expect(logged.join('')).not.toContain('12.34');
});
