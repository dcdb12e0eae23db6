import { describe, expect, it } from 'vitest';
import { toAttributes } from '../../../src/ledger/kernel/attributes.ts';
import { recordEntry, checkRoom } from '../../../src/ledger/items/entry-writes.ts';
import { type Entry, ledgerAccount } from '../../../src/ledger/model/entries/entry.ts';
import { integer } from '../../../src/ledger/kernel/integers.ts';
import { decimal } from '../../../src/ledger/kernel/money.ts';
import { plan } from '../../../src/ledger/items/plan.ts';
import { updateProfileFields } from '../../../src/ledger/items/profile-writes.ts';
import { CLEAR } from '../../../src/ledger/model/record-changes.ts';
import { legacyWrite, refusalOf, rewrite } from '../../../src/migrations/dual-write.ts';
import { GOD_RECORD, METRICS_SPLIT } from '../../../src/migrations/manifests.ts';
import { policyOf } from '../../../src/migrations/phases.ts';

const account = { tenant: 'demo', accountId: 'alice' };
const wallet = ledgerAccount.wallet('alice');
const charge: Entry = {
  ...account,
  entryId: '01ARZ3NDEKTSV4RRFFQ69G5FAV',
  operation: 'CHARGE',
  postings: [
    { debit: wallet, credit: 'merchant:cafe', asset: 'ECOPAY', amount: decimal('480') },
    { debit: 'issuer', credit: wallet, asset: 'POINT', amount: decimal('4') },
    { debit: 'issuer', credit: 'metrics:alice', asset: 'METRIC/CHARGED', amount: decimal('480') },
  ],
  actor: 'alice',
  atMs: 1_900_000_000_000,
};
const record = { uuid: 'demo#alice', type: 'CUSTOMER', ecopay: decimal('300'), writes: integer(2) };

describe('the write of an old shape', () => {
  it('is nothing where nothing changes', () => {
    expect(legacyWrite(GOD_RECORD, account, [], 'DUAL_WRITE')).toEqual([]);
    const room = checkRoom({ ...account, asset: 'ECOPAY' }, decimal('5'), decimal('10')).change;
    expect(room === undefined ? [] : legacyWrite(GOD_RECORD, account, [room], 'DUAL_WRITE')).toEqual([]);
    const untouched = updateProfileFields(account, {}, 1).change;
    expect(
      untouched === undefined ? [] : legacyWrite(GOD_RECORD, account, [untouched], 'DUAL_WRITE'),
    ).toEqual([]);
  });

  it('tells a field that is to be cleared from one that is not given', () => {
    const { change } = updateProfileFields(account, { display_name: 'Alice', email: CLEAR }, 7);
    const [item] = change === undefined ? [] : legacyWrite(GOD_RECORD, account, [change], 'DUAL_WRITE');
    expect(item?.item).toMatchObject({
      Update: {
        UpdateExpression: 'SET #updated_at = :at, #name = :name REMOVE #mail ADD #writes :one',
        ConditionExpression: 'attribute_exists(#mark)',
        ExpressionAttributeValues: { ':name': { S: 'Alice' } },
      },
    });
  });
});

describe('a plan in another shape', () => {
  it('becomes one write of a record that has not moved, judged there', () => {
    const { plan: rewritten } = rewrite(GOD_RECORD, policyOf('expand'), plan('t', recordEntry(charge)), [
      toAttributes(record),
    ]);
    expect(rewritten.items.map(({ role }) => role)).toEqual(['metrics', 'entry', 'legacy:demo#alice']);
    expect(rewritten.items[2]?.item).toMatchObject({
      Update: {
        Key: { uuid: { S: 'demo#alice' }, type: { S: 'CUSTOMER' } },
        UpdateExpression: 'SET #updated_at = :at ADD #ecopay :ecopay, #point :point, #writes :one',
        ConditionExpression: 'attribute_not_exists(#mark) AND (#ecopay >= :bound_ecopay)',
        ExpressionAttributeValues: {
          ':ecopay': { N: '-480' },
          ':point': { N: '4' },
          ':bound_ecopay': { N: '480' },
        },
      },
    });
  });

  it('keeps its own items beside the write of the old shape of a record that has moved', () => {
    const { plan: rewritten } = rewrite(GOD_RECORD, policyOf('verify'), plan('t', recordEntry(charge)), [
      toAttributes({ ...record, moved_at: integer(1) }),
    ]);
    expect(rewritten.items.map(({ role }) => role)).toEqual([
      'balance:ECOPAY',
      'balance:POINT',
      'metrics',
      'entry',
      'legacy:demo#alice',
    ]);
  });

  it('creates an account in both shapes from backfill on, and in the old shape before', () => {
    const parts = (phase: 'expand' | 'backfill'): unknown =>
      rewrite(GOD_RECORD, policyOf(phase), plan('t', recordEntry(charge)), [undefined]).parts.get(
        'legacy:demo#alice',
      );
    expect(parts('expand')).toMatchObject({ part: 'LEGACY_ONLY' });
    expect(parts('backfill')).toMatchObject({ part: 'CREATE_BOTH' });
  });

  it('writes METRICS once, with the metrics, where points are kept in it', () => {
    const { plan: rewritten } = rewrite(METRICS_SPLIT, policyOf('expand'), plan('t', recordEntry(charge)), [
      toAttributes({ uuid: 'demo#alice', type: 'METRICS', points: decimal('9') }),
    ]);
    expect(rewritten.items.map(({ role }) => role)).toEqual(['balance:ECOPAY', 'entry', 'legacy:demo#alice']);
    expect(rewritten.items[2]?.item).toMatchObject({
      Update: { ExpressionAttributeValues: { ':points': { N: '4' }, ':charged': { N: '480' } } },
    });
  });

  it('tells which balance refused from the record as it stood, and asks to look again at one that moved', () => {
    const rewritten = rewrite(GOD_RECORD, policyOf('expand'), plan('t', recordEntry(charge)), [
      toAttributes(record),
    ]);
    const refused = refusalOf(GOD_RECORD, rewritten, new Map([['legacy:demo#alice', toAttributes(record)]]));
    expect([...(refused ?? [])]).toEqual([
      [
        'balance:ECOPAY',
        {
          uuid: { S: 'demo#alice' },
          type: { S: 'BALANCE#ECOPAY' },
          writes: { N: '2' },
          balance: { N: '300' },
        },
      ],
    ]);
    const moved = toAttributes({ ...record, moved_at: integer(1) });
    expect(refusalOf(GOD_RECORD, rewritten, new Map([['legacy:demo#alice', moved]]))).toBeUndefined();
  });
});
