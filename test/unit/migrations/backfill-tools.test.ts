import { describe, expect, it } from 'vitest';
import { toAttributes } from '../../../src/ledger/kernel/attributes.ts';
import { decimal } from '../../../src/ledger/kernel/money.ts';
import { migrationProgressLine } from '../../../src/cli/migrate-output.ts';
import { objectionToMove } from '../../../src/migrations/legacy-record.ts';
import { GOD_RECORD, METRICS_SPLIT } from '../../../src/migrations/manifests.ts';
import { moveRecords, removal } from '../../../src/migrations/move.ts';
import { compare } from '../../../src/migrations/parity.ts';
import { createCapacityLimiter } from '../../../src/migrations/scan.ts';
import { ownedClock, recordedWaits } from '../../support/owned-time.ts';

const record = toAttributes({
  uuid: 'demo#alice',
  type: 'CUSTOMER',
  ecopay: decimal('900'),
  point: decimal('7'),
  name: 'Alice',
});
const entry = { entryId: '01ARZ3NDEKTSV4RRFFQ69G5FAV', atMs: 1_900_000_000_000 };

describe('the move of a record', () => {
  it('books from the issuer what its earlier postings do not account for', () => {
    const posted = new Map([
      ['ECOPAY', decimal('-100')],
      ['POINT', decimal('10')],
    ]);
    const [opening] = moveRecords(GOD_RECORD, record, posted, entry).entries ?? [];
    expect(
      opening?.postings.map(({ debit, credit, asset, amount }) => [debit, credit, asset, amount.toFixed()]),
    ).toEqual([
      ['issuer', 'wallet:alice', 'ECOPAY', '1000'],
      ['wallet:alice', 'issuer', 'POINT', '3'],
    ]);
  });

  it('holds to everything as it was read, and puts no balance over one that is there', () => {
    const { items } = moveRecords(GOD_RECORD, record, new Map(), entry);
    expect(items.map(({ role }) => role)).toEqual([
      'legacy:demo#alice',
      'balance:ECOPAY',
      'balance:POINT',
      'profile',
      'entry',
    ]);
    expect(items[0]?.item).toMatchObject({
      Update: {
        ConditionExpression:
          'attribute_not_exists(#mark) AND attribute_not_exists(#writes) AND #ecopay = :ecopay AND #point = :point' +
          ' AND attribute_not_exists(#jcredit) AND #name = :name AND attribute_not_exists(#mail) AND attribute_not_exists(#phone)',
      },
    });
    expect(items[1]?.item).toMatchObject({ Put: { ConditionExpression: 'attribute_not_exists(#uuid)' } });
    expect(items[3]?.item).toMatchObject({
      Update: { UpdateExpression: 'SET #display_name = if_not_exists(#display_name, :display_name)' },
    });
  });

  it('is refused to a record that owes: no balance is ever negative', () => {
    const owing = { ...record, point: { N: '-1' } };
    expect(objectionToMove(GOD_RECORD, owing)).toBe('POINT is negative');
    expect(objectionToMove(GOD_RECORD, record)).toBeUndefined();
  });
});

describe('the removal of an old shape', () => {
  const Key = { uuid: { S: 'demo#alice' }, type: { S: 'CUSTOMER' } };

  it('takes the whole item, or of one that stays what has moved out of it, and only where it is marked', () => {
    expect(removal(GOD_RECORD, record).item).toMatchObject({
      Delete: { Key, ConditionExpression: '#moved_at > :never' },
    });
    expect(removal(METRICS_SPLIT, record).item).toMatchObject({
      Update: {
        Key: { ...Key, type: { S: 'METRICS' } },
        UpdateExpression: 'REMOVE #split_at, #points, #jcredit',
        ConditionExpression: '#split_at > :never',
      },
    });
  });
});

describe('parity', () => {
  it('names what differs, and of a profile the field alone', () => {
    const moved = { ...record, moved_at: { N: '1' } };
    const items = [
      toAttributes({ balance: decimal('901') }),
      toAttributes({ balance: decimal('7') }),
      undefined,
      toAttributes({ display_name: 'Bob' }),
    ];
    const account = { tenant: 'demo', accountId: 'alice' };
    expect(compare(GOD_RECORD, account, moved, items).differences).toEqual([
      { kind: 'BALANCE', ...account, of: 'ECOPAY', old: '900', new: '901' },
      { kind: 'PROFILE', ...account, of: 'display_name' },
    ]);
    expect(compare(GOD_RECORD, account, record, items).differences).toEqual([
      { kind: 'UNMOVED', ...account },
    ]);
  });
});

describe('the pace of a backfill', () => {
  it('waits off exactly what was consumed beyond the rate', async () => {
    const clock = ownedClock();
    const { wait, waitedMs } = recordedWaits();
    const limiter = createCapacityLimiter(100, clock, wait);
    await limiter.settle();
    limiter.spend(25);
    limiter.spend(5);
    await limiter.settle();
    clock.advance(1_000);
    limiter.spend(10);
    await limiter.settle();
    expect(waitedMs).toEqual([300, 100]);
    expect(limiter.spentUnits()).toBe(40);
  });

  it('shows a bar and an estimate, and none while nothing is known', () => {
    const progress = { scanned: 250, handled: 40, failed: 1, elapsedMs: 60_000, units: 1_234.5 };
    expect(migrationProgressLine({ ...progress, expectedItems: 1_000 })).toBe(
      '███████░░░░░░░░░░░░░░░░░░░░░░░  25 %  250 items, 40 records, 1 left, 1235 units, about 3 min to go',
    );
    expect(migrationProgressLine({ ...progress, expectedItems: 0 })).toContain('no estimate yet');
  });
});
