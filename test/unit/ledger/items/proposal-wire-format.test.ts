import { describe, expect, it } from 'vitest';
import { decideProposal, putProposal, readProposal } from '../../../../src/ledger/items/proposal-item.ts';
import { decimal } from '../../../../src/ledger/kernel/money.ts';
import type { Proposal } from '../../../../src/ledger/model/proposal.ts';
import { AT_MS, ENTRY_ID, text, vector } from './golden-vectors.ts';

const REST = {
  tenant: 'demo',
  accountId: 'alice',
  proposalId: ENTRY_ID,
  state: 'OPEN',
  reason: 'goodwill',
  proposer: 'admin/ada',
  proposedAtMs: AT_MS,
  expiresAtMs: AT_MS + 604_800_000,
} as const;

const ADJUSTMENT: Proposal = { ...REST, adjustment: { asset: 'ECOPAY', amount: decimal('-250.50') } };
const REPAIR: Proposal = {
  ...REST,
  repair: {
    findingId: 'F-1',
    finding: 'balance',
    writes: [
      {
        uuid: 'demo#alice',
        type: 'BALANCE#ECOPAY',
        before: '{"balance":{"N":"5"}}',
        after: '{"balance":{"N":"4"}}',
        read: 'abcd',
      },
    ],
  },
};

const KEY = { uuid: { S: 'demo#alice' }, type: { S: `PROPOSAL#${ENTRY_ID}` } };

describe('the golden vectors of proposals', () => {
  it('an adjustment that is proposed', () => {
    expect(text(putProposal(ADJUSTMENT).items)).toBe(
      vector('proposal', {
        Put: {
          Item: {
            ...KEY,
            state: { S: 'OPEN' },
            adjustment: { M: { a: { S: 'ECOPAY' }, n: { N: '-250.5' } } },
            reason: { S: 'goodwill' },
            proposer: { S: 'admin/ada' },
            proposed_at: { N: '1900000000000' },
            expires_at: { N: '1900604800000' },
            listed: { S: 'proposal#demo' },
            listed_at: { N: '1900604800000' },
          },
          ConditionExpression: 'attribute_not_exists(#uuid)',
          ExpressionAttributeNames: { '#uuid': 'uuid' },
          ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
        },
      }),
    );
  });

  it('a repair, with its writes', () => {
    const [put] = putProposal(REPAIR).items;
    expect(put?.item).toMatchObject({
      Put: {
        Item: {
          repair: {
            M: {
              i: { S: 'F-1' },
              f: { S: 'balance' },
              w: {
                L: [
                  {
                    M: {
                      u: { S: 'demo#alice' },
                      t: { S: 'BALANCE#ECOPAY' },
                      b: { S: '{"balance":{"N":"5"}}' },
                      f: { S: '{"balance":{"N":"4"}}' },
                      r: { S: 'abcd' },
                    },
                  },
                ],
              },
            },
          },
        },
      },
    });
  });

  it('a decision: only of what is open and has not expired', () => {
    const decision = { by: 'admin/ben', atMs: AT_MS + 1, entryId: ENTRY_ID };
    expect(text(decideProposal(ADJUSTMENT, 'APPROVED', decision).items)).toBe(
      vector('proposal', {
        Update: {
          Key: KEY,
          UpdateExpression: 'SET #state = :state, #decision = :decision REMOVE #listed, #listed_at',
          ConditionExpression: '#state = :open AND #expires_at > :now',
          ExpressionAttributeNames: {
            '#state': 'state',
            '#decision': 'decision',
            '#listed': 'listed',
            '#listed_at': 'listed_at',
            '#expires_at': 'expires_at',
          },
          ExpressionAttributeValues: {
            ':state': { S: 'APPROVED' },
            ':decision': { M: { w: { S: 'admin/ben' }, t: { N: '1900000000001' }, e: { S: ENTRY_ID } } },
            ':open': { S: 'OPEN' },
            ':now': { N: '1900000000001' },
          },
          ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
        },
      }),
    );
  });

  it.each([
    ['an adjustment', ADJUSTMENT],
    ['a repair', REPAIR],
    [
      'a decided one',
      { ...REPAIR, state: 'APPROVED', decision: { by: 'admin/ben', atMs: 1, transactionId: 'tx' } },
    ],
  ] as const)('reads back as it was: %s', (_name, proposal) => {
    const [put] = putProposal(proposal).items;
    const item = put !== undefined && 'Put' in put.item ? put.item.Put.Item : {};
    expect(readProposal(item)).toEqual(proposal);
  });
});
