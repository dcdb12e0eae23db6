import { describe, expect, test } from 'vitest';
import {
  mayCancel,
  mayCheckOut,
  mayListMerchantOrders,
  mayManageMerchant,
  mayOpenOrder,
  mayPerform,
  mayRefund,
  maySeeBalances,
  maySeeHistory,
  maySeeOrder,
  maySeeProviderReference,
  type OrderOwnership,
  type Permission,
} from '../../../src/auth/permissions.ts';
import { type Role, ROLES, type Viewer } from '../../../src/auth/viewer.ts';

/** C customer, M merchant, T terminal, A admin. The type demands a row for every permission. */
const WHO: Readonly<Record<Permission, string>> = {
  CREATE_ORDER: 'CMTA',
  NAME_AMOUNT: 'MTA',
  CHARGE: 'CT',
  CHECKOUT: 'C',
  TOP_UP_CASH: 'T',
  TOP_UP_CHECKOUT: 'C',
  REFUND: 'MTA',
  CANCEL_ORDER: 'CMTA',
  ADJUST_BALANCE: 'A',
  APPROVE: 'A',
  REJECT_PROPOSAL: 'A',
  ISSUE_PAYMENT_CODE: 'C',
  UPDATE_PROFILE: 'CA',
  PUT_PRODUCT: 'MA',
  RETRY_STEP: 'A',
  SKIP_STEP: 'MA',
  REPLAY_WEBHOOK_EVENT: 'A',
  READ_OTHER_WALLET: 'TA',
  READ_DEAD_STEPS: 'A',
  READ_WEBHOOK_PROBLEMS: 'A',
  READ_PROPOSALS: 'A',
  REPAIR: 'A',
  WATCH_WALLET_ENTRIES: 'CA',
  WATCH_MERCHANT_ORDERS: 'MA',
};

// The keys of a Record of Permission are permissions.
const permissions = Object.keys(WHO) as readonly Permission[];

describe('what a role may ever do', () => {
  test.each(permissions.flatMap((permission) => ROLES.map((role) => [role, permission] as const)))(
    '%s %s',
    (role, permission) => {
      expect(mayPerform(role, permission)).toBe(WHO[permission].includes(role.charAt(0)));
    },
  );
});

function viewer(role: Role, subject: string, tenant = 'demo', merchantId?: string): Viewer {
  return { tenant, subject, role, expiresAtMs: 0, ...(merchantId !== undefined && { merchantId }) };
}

const viewers = {
  alice: viewer('CUSTOMER', 'alice'),
  bob: viewer('CUSTOMER', 'bob'),
  foreignAlice: viewer('CUSTOMER', 'alice', 'other'),
  cafe: viewer('MERCHANT', 'cafe-owner', 'demo', 'cafe'),
  books: viewer('MERCHANT', 'books-owner', 'demo', 'books'),
  foreignCafe: viewer('MERCHANT', 'cafe-owner', 'other', 'cafe'),
  // Named like the customer, to show that a name alone opens no wallet.
  merchantAlice: viewer('MERCHANT', 'alice', 'demo', 'books'),
  till: viewer('TERMINAL', 'till-1', 'demo', 'cafe'),
  secondTill: viewer('TERMINAL', 'till-2', 'demo', 'cafe'),
  booksTill: viewer('TERMINAL', 'till-3', 'demo', 'books'),
  foreignTill: viewer('TERMINAL', 'till-1', 'other', 'cafe'),
  terminalAlice: viewer('TERMINAL', 'alice', 'demo', 'books'),
  admin: viewer('ADMIN', 'root'),
  foreignAdmin: viewer('ADMIN', 'root', 'other'),
} as const;

function namesOf(isAllowed: (who: Viewer) => boolean): string {
  return Object.entries(viewers)
    .filter(([, who]) => isAllowed(who))
    .map(([name]) => name)
    .join(' ');
}

const purchase: OrderOwnership = { tenant: 'demo', accountId: 'alice', merchantId: 'cafe' };
const cardTopUp: OrderOwnership = { tenant: 'demo', accountId: 'alice' };
const cashTopUp: OrderOwnership = {
  tenant: 'demo',
  accountId: 'alice',
  payment: { terminalId: 'cafe/till-1' },
};

describe('a purchase of alice at the café', () => {
  test('is seen by its customer, its merchant, its tills and the tenant’s admin', () => {
    expect(namesOf((who) => maySeeOrder(who, purchase))).toBe('alice cafe till secondTill admin');
  });

  test('is opened by the same', () => {
    expect(namesOf((who) => mayOpenOrder(who, purchase))).toBe('alice cafe till secondTill admin');
  });

  test('is checked out by its customer alone', () => {
    expect(namesOf((who) => mayCheckOut(who, purchase))).toBe('alice');
  });

  test('is refunded by its merchant or an admin', () => {
    expect(namesOf((who) => mayRefund(who, purchase))).toBe('cafe admin');
  });

  test('is canceled by whoever sees it', () => {
    expect(namesOf((who) => mayCancel(who, purchase))).toBe('alice cafe till secondTill admin');
  });

  test('shows the provider’s id to its merchant and an admin', () => {
    expect(namesOf((who) => maySeeProviderReference(who, purchase))).toBe('cafe admin');
  });
});

describe('a top-up of alice', () => {
  test('by card is seen by herself and an admin: it has no merchant', () => {
    expect(namesOf((who) => maySeeOrder(who, cardTopUp))).toBe('alice admin');
    expect(namesOf((who) => mayCheckOut(who, cardTopUp))).toBe('alice');
    expect(namesOf((who) => mayRefund(who, cardTopUp))).toBe('admin');
    expect(namesOf((who) => mayCancel(who, cardTopUp))).toBe('alice admin');
    expect(namesOf((who) => maySeeProviderReference(who, cardTopUp))).toBe('admin');
  });

  test('in cash is also seen and refunded by the till that took it, and by no other', () => {
    expect(namesOf((who) => maySeeOrder(who, cashTopUp))).toBe('alice till admin');
    expect(namesOf((who) => mayRefund(who, cashTopUp))).toBe('till admin');
  });

  test('isn’t seen by a merchant’s token without a merchant', () => {
    expect(maySeeOrder(viewer('MERCHANT', 'x'), cardTopUp)).toBe(false);
    expect(maySeeOrder(viewer('TERMINAL', 'x'), cardTopUp)).toBe(false);
  });
});

describe('the wallet of alice', () => {
  test('its balances are hers, the tenant’s tills’ and an admin’s to see', () => {
    expect(namesOf((who) => maySeeBalances(who, 'demo', 'alice'))).toBe(
      'alice till secondTill booksTill terminalAlice admin',
    );
  });

  test('its history is hers and an admin’s', () => {
    expect(namesOf((who) => maySeeHistory(who, 'demo', 'alice'))).toBe('alice admin');
  });
});

describe('the café', () => {
  test('manages itself; an admin may too', () => {
    expect(namesOf((who) => mayManageMerchant(who, 'demo', 'cafe'))).toBe('cafe admin');
  });

  test('its orders are listed for itself, its tills and an admin', () => {
    expect(namesOf((who) => mayListMerchantOrders(who, 'demo', 'cafe'))).toBe('cafe till secondTill admin');
  });
});
