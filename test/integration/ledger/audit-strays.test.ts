import { expect, inject, it, onTestFinished } from 'vitest';
import { auditNow, deleteItem, doubleItem } from '../../support/damage.ts';
import { makeHarness } from '../../support/harness.ts';

/** What the audit says of money where no account can be: it belongs to nobody, and is in no sum. */

const BALANCE = { uuid: 'demo#alice', type: 'BALANCE#ECOPAY' };

it.each(['demo#alice#card', 'demo', 'demo#', 'demo#a b', '#alice', 'system#alice', 'stripe#alice'])(
  'a balance in the partition %s is named, and no account is counted for it',
  async (uuid) => {
    const harness = await makeHarness({ endpoint: inject('engineEndpoint') });
    onTestFinished(harness.close);
    await harness.fund('demo', 'alice', '1000');
    const stray = { ...BALANCE, uuid };
    await doubleItem(harness, BALANCE, stray);
    const [tenant = '', accountId = ''] = uuid.split(/#(.*)/s);
    expect(await auditNow(harness)).toMatchObject({
      accounts: 1,
      problems: [
        {
          promise: 'I2',
          tenant,
          accountId,
          item: 'BALANCE#ECOPAY',
          what: 'account',
          expected: 'one of a tenant',
          found: uuid,
        },
      ],
      unsettled: [],
    });
    await deleteItem(harness, stray);
    expect((await auditNow(harness)).problems).toEqual([]);
  },
);
