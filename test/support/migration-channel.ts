import { encodeNodeId } from '../../src/ledger/items/node-ids.ts';
import { adjustBalance } from '../../src/ledger/usecases/commands/adjust-balance.ts';
import { charge } from '../../src/ledger/usecases/commands/charge.ts';
import { createOrder } from '../../src/ledger/usecases/commands/create-order.ts';
import type { Ledger } from '../../src/ledger/usecases/runtime/ledger.ts';
import { readBalances, readProfiles } from '../../src/ledger/usecases/queries/read-wallets.ts';
import { refund } from '../../src/ledger/usecases/commands/refund.ts';
import { topUp } from '../../src/ledger/usecases/commands/top-up.ts';
import { updateProfile } from '../../src/ledger/usecases/commands/update-profile.ts';
import type { AccountRef } from '../../src/ledger/kernel/keys.ts';
import { plainDecimal } from '../../src/ledger/kernel/money.ts';
import { admin, customer, merchant, terminal } from './harness.ts';
import type { LegacyProfile } from './legacy-records.ts';

export const ASSETS = ['ECOPAY', 'POINT', 'JCREDIT'] as const;
export const FIELDS = ['displayName', 'email', 'phoneNumber'] as const;

/** A change of a profile: null clears a field, undefined leaves it. */
export type ProfileInput = Readonly<Record<(typeof FIELDS)[number], string | null | undefined>>;

/** What a gateway answered: the union's member, and of its facts those that a model looks at. */
export interface Answered {
  readonly kind: string;
  /** Public ids. */
  readonly orderId?: string | undefined;
  readonly entryId?: string | undefined;
  /** Of InsufficientBalance. */
  readonly available?: string | undefined;
}

/** No answer came: nobody knows what became of the request. */
export const LOST = 'LOST';

export interface Holdings {
  readonly amounts: Readonly<Record<string, string>>;
  readonly profile: LegacyProfile;
}

/** How customers, terminals and merchants reach one gateway. */
export interface Channel {
  readonly createOrder: (account: AccountRef, key: string, amount: string) => Promise<Answered>;
  readonly charge: (account: AccountRef, key: string, orderId: string) => Promise<Answered>;
  readonly topUp: (account: AccountRef, key: string, amount: string) => Promise<Answered>;
  readonly refund: (account: AccountRef, key: string, orderId: string) => Promise<Answered>;
  readonly adjust: (account: AccountRef, key: string, asset: string, amount: string) => Promise<Answered>;
  readonly updateProfile: (account: AccountRef, input: ProfileInput) => Promise<Answered>;
  /** Undefined: no answer came. */
  readonly read: (account: AccountRef) => Promise<Holdings | undefined>;
}

/** A gateway as far as its operations go, in this process. */
export function directChannel(ledger: Ledger): Channel {
  return {
    createOrder: async ({ tenant, accountId }, key, amount) => {
      const input = { merchantId: 'cafe', accountId, amount, description: 'coffee' };
      const outcome = await createOrder(ledger, admin(tenant), key, input);
      if (outcome.kind !== 'CreateOrderSuccess') return { kind: outcome.kind };
      return { kind: outcome.kind, orderId: encodeNodeId('Order', tenant, accountId, outcome.orderId) };
    },
    charge: async ({ tenant, accountId }, key, orderId) => {
      const outcome = await charge(ledger, customer(accountId, tenant), key, { orderId });
      if (outcome.kind === 'InsufficientBalance') {
        return { kind: outcome.kind, available: outcome.available };
      }
      if (outcome.kind !== 'ChargeSuccess') return { kind: outcome.kind };
      return {
        kind: outcome.kind,
        orderId,
        entryId: encodeNodeId('Entry', tenant, accountId, outcome.entryId),
      };
    },
    topUp: async ({ tenant, accountId }, key, amount) => {
      const input = { accountId, amount, method: 'CASH' as const };
      return { kind: (await topUp(ledger, terminal('cafe', tenant), key, input)).kind };
    },
    refund: async ({ tenant }, key, orderId) => ({
      kind: (await refund(ledger, merchant('cafe', tenant), key, { orderId })).kind,
    }),
    adjust: async ({ tenant, accountId }, key, asset, amount) => {
      const input = { accountId, asset, amount, reason: 'campaign' };
      return { kind: (await adjustBalance(ledger, admin(tenant), key, input)).kind };
    },
    updateProfile: async ({ tenant, accountId }, input) => ({
      kind: (await updateProfile(ledger, customer(accountId, tenant), { accountId, ...input })).kind,
    }),
    read: (account) => readHoldings(ledger, account),
  };
}

async function readHoldings(ledger: Ledger, { tenant, accountId }: AccountRef): Promise<Holdings> {
  const viewer = customer(accountId, tenant);
  const refs = ASSETS.map((asset) => ({ tenant, accountId, asset }));
  const balances = await readBalances(ledger, viewer, refs);
  const [profile] = await readProfiles(ledger, viewer, [{ tenant, accountId }]);
  const shown = FIELDS.flatMap((field) => {
    const text = profile?.[field];
    return text === undefined ? [] : [[field, text] as const];
  });
  return {
    amounts: Object.fromEntries(
      balances.flatMap((balance) =>
        balance === undefined ? [] : [[balance.asset, plainDecimal(balance.amount)] as const],
      ),
    ),
    profile: Object.fromEntries(shown),
  };
}
