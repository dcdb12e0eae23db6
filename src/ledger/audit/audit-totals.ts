import type { AccountItems } from './audit.ts';
import { type Decimal, ZERO, add, plainDecimal } from '../kernel/money.ts';
import { sumPostings } from './posted-sums.ts';

/** Where value sits outside wallets, by the kinds of accounts of docs/DESIGN.md §4. */
export const OUTSIDE = ['merchant', 'stripe', 'cash', 'receivable', 'surplus', 'issuer'] as const;
export type Outside = (typeof OUTSIDE)[number];

/** One tenant's whole ledger in one asset. Credits count up, debits down, so all of it sums to nothing. */
export interface AuditTotal {
  readonly tenant: string;
  readonly asset: string;
  /** Accounts that have a balance of it. */
  readonly accounts: number;
  readonly balances: string;
  readonly outside: Readonly<Record<Outside, string>>;
  /** What balances and outside sum to: 0. */
  readonly difference: string;
}

interface Sums {
  readonly accounts: number;
  readonly balances: Decimal;
  readonly outside: ReadonlyMap<Outside, Decimal>;
}

/** The sums so far, by tenant and asset. */
export type Totals = Map<string, Sums>;

const NOTHING: Sums = { accounts: 0, balances: ZERO, outside: new Map() };

/** Adds an account's balances, and what its entries moved outside, to the sums of its tenant. */
export function addToTotals(totals: Totals, { tenant, balances, entries }: AccountItems): void {
  const update = (asset: string, change: (sums: Sums) => Sums): void => {
    const key = `${tenant}\n${asset}`;
    totals.set(key, change(totals.get(key) ?? NOTHING));
  };
  for (const [asset, balance] of balances) {
    update(asset, (sums) => ({
      ...sums,
      accounts: sums.accounts + 1,
      balances: add(sums.balances, balance),
    }));
  }
  for (const { name, asset, sum } of sumPostings(entries).values()) {
    const kind = OUTSIDE.find((one) => one === name.split(':')[0]);
    if (kind === undefined) continue;
    update(asset, (sums) => ({
      ...sums,
      outside: new Map(sums.outside).set(kind, add(sums.outside.get(kind) ?? ZERO, sum)),
    }));
  }
}

/** The sums as an audit reports them, in the order of tenants and assets. */
export function printedTotals(totals: Totals): readonly AuditTotal[] {
  return [...totals]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([key, { accounts, balances, outside }]) => {
      const [tenant = '', asset = ''] = key.split('\n');
      return {
        tenant,
        asset,
        accounts,
        balances: plainDecimal(balances),
        outside: {
          merchant: printed(outside.get('merchant')),
          stripe: printed(outside.get('stripe')),
          cash: printed(outside.get('cash')),
          receivable: printed(outside.get('receivable')),
          surplus: printed(outside.get('surplus')),
          issuer: printed(outside.get('issuer')),
        },
        difference: plainDecimal(add(balances, ...outside.values())),
      };
    });
}

function printed(sum: Decimal | undefined): string {
  return plainDecimal(sum ?? ZERO);
}
