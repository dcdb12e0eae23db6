import { describe, expect, it } from 'vitest';
import type { AccountItems } from '../../../../src/ledger/audit/audit.ts';
import {
  type AuditTotal,
  type Totals,
  addToTotals,
  printedTotals,
} from '../../../../src/ledger/audit/audit-totals.ts';
import { decimal } from '../../../../src/ledger/kernel/money.ts';
import { SURPLUS, accountItems, entry, posting } from './audited.ts';

const NOWHERE = { merchant: '0', stripe: '0', cash: '0', receivable: '0', surplus: '0', issuer: '0' };

function totalsOf(...accounts: readonly AccountItems[]): readonly AuditTotal[] {
  const totals: Totals = new Map();
  for (const account of accounts) addToTotals(totals, account);
  return printedTotals(totals);
}

describe('the totals of an audit', () => {
  it('are none of nothing', () => {
    expect(totalsOf(accountItems())).toEqual([]);
  });

  it('sum balances, and what lies outside by its kind, to nothing where all is well', () => {
    const entries = [
      entry('TOP_UP', [posting('stripe', 'wallet:alice', '500', 'ECOPAY')]),
      entry('TOP_UP', [posting('cash:till', 'wallet:alice', '200', 'ECOPAY')]),
      entry('CHARGE', [posting('wallet:alice', 'merchant:cafe', '120', 'ECOPAY')]),
      entry('CHARGE', [posting('wallet:alice', 'merchant:bar', '30', 'ECOPAY')]),
      entry('REFUND', [posting('receivable:alice', 'stripe', '40', 'ECOPAY')]),
      entry('SURPLUS', [posting('stripe', SURPLUS, '5', 'ECOPAY')]),
      entry('ADJUSTMENT', [posting('issuer', 'wallet:alice', '1', 'ECOPAY')]),
    ];
    const balances = new Map([['ECOPAY', decimal('551')]]);
    expect(totalsOf(accountItems({ balances, entries }))).toEqual([
      {
        tenant: 'demo',
        asset: 'ECOPAY',
        accounts: 1,
        balances: '551',
        outside: {
          merchant: '150',
          stripe: '-465',
          cash: '-200',
          receivable: '-40',
          surplus: '5',
          issuer: '-1',
        },
        difference: '0',
      },
    ]);
  });

  it('say what balances and outside differ by', () => {
    const entries = [entry('ADJUSTMENT', [posting('issuer', 'wallet:alice', '10', 'ECOPAY')])];
    expect(totalsOf(accountItems({ balances: new Map([['ECOPAY', decimal('7.5')]]), entries }))).toEqual([
      {
        tenant: 'demo',
        asset: 'ECOPAY',
        accounts: 1,
        balances: '7.5',
        outside: { ...NOWHERE, issuer: '-10' },
        difference: '-2.5',
      },
    ]);
  });

  it('add accounts up, each tenant and asset by itself, in the order of their names', () => {
    const account = (tenant: string, accountId: string, asset: string, balance: string): AccountItems =>
      accountItems({
        tenant,
        accountId,
        balances: new Map([[asset, decimal(balance)]]),
        entries: [entry('ADJUSTMENT', [posting('issuer', `wallet:${accountId}`, balance, asset)])],
      });
    const total = (tenant: string, asset: string, accounts: number, balances: string): AuditTotal => ({
      tenant,
      asset,
      accounts,
      balances,
      outside: { ...NOWHERE, issuer: `-${balances}` },
      difference: '0',
    });
    expect(
      totalsOf(
        account('t_1', 'u_1', 'ECOPAY', '4'),
        account('demo', 'alice', 'POINT', '3'),
        account('demo', 'bob', 'ECOPAY', '20'),
        account('demo', 'alice', 'ECOPAY', '1'),
      ),
    ).toEqual([
      total('demo', 'ECOPAY', 2, '21'),
      total('demo', 'POINT', 1, '3'),
      total('t_1', 'ECOPAY', 1, '4'),
    ]);
  });

  it('count an account only where it has a balance', () => {
    const entries = [entry('PAYMENT', [posting('stripe', 'merchant:cafe', '500')])];
    expect(totalsOf(accountItems({ entries }))).toEqual([
      {
        tenant: 'demo',
        asset: 'JPY',
        accounts: 0,
        balances: '0',
        outside: { ...NOWHERE, merchant: '500', stripe: '-500' },
        difference: '0',
      },
    ]);
  });
});
