import { setImmediate as nextTurn } from 'node:timers/promises';
import { DynamoDBClient, TransactWriteItemsCommand } from '@aws-sdk/client-dynamodb';
import { beforeEach, describe, expect, it } from 'vitest';
import { type ItemRole, type PlanPart, plan, putNew } from '../../../../src/ledger/items/plan.ts';
import {
  type CommitResult,
  InvalidTransactionError,
  type Transactor,
  createTransactor,
} from '../../../../src/ledger/table/transact.ts';
import { recordedWaits } from '../../../support/owned-time.ts';

/** What the table answers to the transactions that come, in order; after them it commits. */
type Scripted = 'COMMIT' | Error;

function named(name: string, more: object = {}): Error {
  return Object.assign(new Error(name), { name }, more);
}
function canceled(...codes: readonly (string | { Code: string; Item: object })[]): Error {
  const CancellationReasons = codes.map((code) => (typeof code === 'string' ? { Code: code } : code));
  return named('TransactionCanceledException', { CancellationReasons });
}

const CONFLICTED = canceled('None', 'TransactionConflict', 'None', 'None');
const TOKEN = 'token-1';

function guardedBy(role: 'record' | 'event' | 'order'): PlanPart[] {
  const item = (itemRole: ItemRole, type: string): PlanPart => ({
    items: [putNew(itemRole, { uuid: 't_1#u_1', type })],
  });
  const rest = [item('balance:ECOPAY', 'B'), item('entry', 'E'), item('order', 'O')];
  return role === 'order' ? rest : [item(role, 'M'), ...rest];
}

let sent: TransactWriteItemsCommand[];
let waitedMs: number[];
let conflicts: number;
let fraction: number;
let transactor: Transactor;
let answers: Scripted[];

beforeEach(() => {
  sent = [];
  answers = [];
  conflicts = 0;
  fraction = 0;
  const waits = recordedWaits();
  waitedMs = waits.waitedMs;
  const client = Object.assign(new DynamoDBClient({ region: 'local' }), {
    send: async (command: unknown) => {
      await nextTurn();
      if (command instanceof TransactWriteItemsCommand) sent.push(command);
      const answer = answers.shift() ?? 'COMMIT';
      if (answer !== 'COMMIT') throw answer;
      return { $metadata: {} };
    },
  });
  transactor = createTransactor({
    client,
    tableName: 'payments',
    ids: { ulid: () => '', token: () => 'never-asked-for', fraction: () => fraction },
    wait: waits.wait,
  });
});

async function commit(...script: readonly Scripted[]): Promise<CommitResult> {
  answers = [...script];
  return await transactor.commit(plan(TOKEN, ...guardedBy('record')), {
    onConflict: () => {
      conflicts += 1;
    },
  });
}

function times(count: number, answer: Scripted): Scripted[] {
  return Array.from({ length: count }, () => answer);
}

describe('the transaction executor', () => {
  it('sends every item for the table, under the token of the plan', async () => {
    expect(await commit('COMMIT')).toEqual({ kind: 'COMMITTED' });
    expect(sent).toHaveLength(1);
    expect(sent[0]?.input.ClientRequestToken).toBe(TOKEN);
    expect(sent[0]?.input.TransactItems?.map((item) => item.Put?.TableName)).toEqual(
      Array.from({ length: 4 }, () => 'payments'),
    );
  });

  it('waits 50 ms, 100 ms and 200 ms at a conflict, counts each, and gives up after the third retry', async () => {
    expect(await commit(...times(9, CONFLICTED))).toEqual({ kind: 'CONFLICT' });
    expect(waitedMs).toEqual([50, 100, 200]);
    expect(sent).toHaveLength(4);
    expect(conflicts).toBe(4);
  });

  it('adds a random part of half of each wait as jitter', async () => {
    fraction = 0.5;
    await commit(...times(9, CONFLICTED));
    expect(waitedMs).toEqual([62.5, 125, 250]);
  });

  it('commits when a conflict has passed', async () => {
    expect(await commit(CONFLICTED, CONFLICTED, 'COMMIT')).toEqual({ kind: 'COMMITTED' });
    expect(waitedMs).toEqual([50, 100]);
  });

  it('backs off longer at throttling, whichever way it is told, and then says so', async () => {
    const ways = [
      canceled('None', 'ThrottlingError', 'None', 'None'),
      canceled('None', 'TransactionConflict', 'ProvisionedThroughputExceeded', 'None'),
      named('ThrottlingException'),
      named('ProvisionedThroughputExceededException'),
      named('RequestLimitExceeded'),
    ];
    expect(await commit(...ways)).toEqual({ kind: 'THROTTLED' });
    expect(waitedMs).toEqual([200, 400, 800, 1_600]);
    expect(conflicts).toBe(0);
  });

  it('waits for its own earlier send, and never takes the end of its patience for a failure', async () => {
    const inProgress = named('TransactionInProgressException');
    expect(await commit(inProgress, 'COMMIT')).toEqual({ kind: 'COMMITTED' });
    waitedMs.length = 0;
    expect(await commit(...times(9, inProgress))).toEqual({ kind: 'UNKNOWN' });
    expect(waitedMs).toEqual([50, 100, 200, 400, 800]);
  });

  it.each(['TimeoutError', 'InternalServerError', 'ECONNRESET', 'SyntaxError', 'ServiceUnavailable'])(
    'sends again after %s, twice, and leaves the outcome unknown',
    async (name) => {
      expect(await commit(...times(9, named(name)))).toEqual({ kind: 'UNKNOWN' });
      expect(sent).toHaveLength(3);
      expect(waitedMs).toEqual([50, 100]);
    },
  );

  it('sends the same token and the same bytes every time, whatever the reason', async () => {
    await commit(
      CONFLICTED,
      named('ThrottlingException'),
      named('TransactionInProgressException'),
      named('TimeoutError'),
      'COMMIT',
    );
    expect(sent.map(({ input }) => input.ClientRequestToken)).toEqual(Array.from({ length: 5 }, () => TOKEN));
    expect(new Set(sent.map(({ input }) => JSON.stringify(input))).size).toBe(1);
  });

  it('keeps the outcome unknown when a lost answer is followed by conflicts or throttling', async () => {
    expect(await commit(named('TimeoutError'), ...times(9, CONFLICTED))).toEqual({ kind: 'UNKNOWN' });
    expect(await commit(named('TimeoutError'), ...times(9, named('ThrottlingException')))).toEqual({
      kind: 'UNKNOWN',
    });
  });

  it('takes a marker of its own transaction for its commit, whose answer was lost', async () => {
    const own = canceled(
      { Code: 'ConditionalCheckFailed', Item: { tx: { S: TOKEN } } },
      'ConditionalCheckFailed',
      'TransactionConflict',
      'None',
    );
    expect(await commit(named('TimeoutError'), own)).toEqual({ kind: 'COMMITTED' });
  });

  it("answers another request's marker as seen, whatever else failed, at once", async () => {
    const record = { tx: { S: 'another-transaction' } };
    const seen = canceled(
      { Code: 'ConditionalCheckFailed', Item: record },
      'ConditionalCheckFailed',
      'ThrottlingError',
      'None',
    );
    expect(await commit(seen)).toEqual({ kind: 'SEEN', record });
    expect(sent).toHaveLength(1);
    expect(waitedMs).toEqual([]);
  });

  it("takes an event's record of its own transaction for its commit, and another delivery's as seen", async () => {
    const delivery = plan(TOKEN, ...guardedBy('event'));
    const found = (tx: string): Error =>
      canceled(
        { Code: 'ConditionalCheckFailed', Item: { tx: { S: tx } } },
        'ConditionalCheckFailed',
        'TransactionConflict',
        'None',
      );
    answers = [named('TimeoutError'), found(TOKEN)];
    expect(await transactor.commit(delivery)).toEqual({ kind: 'COMMITTED' });
    answers = [found('another-delivery')];
    expect(await transactor.commit(delivery)).toEqual({
      kind: 'SEEN',
      record: { tx: { S: 'another-delivery' } },
    });
    expect(sent).toHaveLength(3);
  });

  it('gives the roles whose conditions failed, with their old items', async () => {
    const balance = { balance: { N: '3' } };
    const result = await commit(
      canceled('None', { Code: 'ConditionalCheckFailed', Item: balance }, 'None', 'ConditionalCheckFailed'),
    );
    expect(result).toEqual({
      kind: 'REFUSED',
      failed: new Map<string, object | undefined>([
        ['balance:ECOPAY', balance],
        ['order', undefined],
      ]),
    });
    expect(sent).toHaveLength(1);
  });

  it('reads item 0 as a marker only where the plan has one', async () => {
    answers = [canceled('ConditionalCheckFailed', 'None', 'None')];
    const result = await transactor.commit(plan(TOKEN, ...guardedBy('order')));
    expect(result).toEqual({ kind: 'REFUSED', failed: new Map([['balance:ECOPAY', undefined]]) });
  });

  it.each([
    ['a rule and a conflict', canceled('None', 'ConditionalCheckFailed', 'TransactionConflict', 'None')],
    ['a rule and a throttle', canceled('None', 'ConditionalCheckFailed', 'None', 'ThrottlingError')],
    ['fewer reasons than items', canceled('None', 'ConditionalCheckFailed')],
    ['more reasons than items', canceled('None', 'None', 'None', 'None', 'ConditionalCheckFailed')],
    ['no reasons', named('TransactionCanceledException')],
    ['a reason that nobody knows', canceled('None', 'SomethingNew', 'None', 'None')],
  ])('never makes a business answer of %s, and waits before anybody reads again', async (_, error) => {
    fraction = 0.5;
    expect(await commit(error)).toEqual({ kind: 'UNCLEAR' });
    expect(sent).toHaveLength(1);
    expect(waitedMs).toEqual([62.5]);
  });

  it.each([
    ['ValidationException', named('ValidationException')],
    [
      'a validation reason, also beside a conflict',
      canceled('None', 'ValidationError', 'TransactionConflict', 'None'),
    ],
    ['a table that is not there', named('ResourceNotFoundException')],
  ])('fails loudly and never retries: %s', async (_, error) => {
    await expect(commit(error)).rejects.toThrow(InvalidTransactionError);
    expect(sent).toHaveLength(1);
  });
});
