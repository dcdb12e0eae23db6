import { adjustBalance } from '../../ledger/usecases/commands/adjust-balance.ts';
import { builder } from '../../schema/builder.ts';
import { CapExceeded, InsufficientBalance, LEDGER_FAILURES } from '../../schema/failures.ts';
import {
  BALANCE_NOW,
  ENTRY_OF_OPERATION,
  PROPOSAL_NOW,
  guardedSuccess,
  resultUnion,
} from '../../schema/results.ts';
import { guardedMutation } from '../declare-mutation.ts';

const AdjustBalanceInput = builder.inputType('AdjustBalanceInput', {
  description: 'What an admin corrects.',
  fields: (t) => ({
    accountId: t.id({
      description: "Whose balance, by the operator's own name for the account.",
      required: true,
    }),
    asset: t.string({
      description: 'Which balance: ECOPAY, POINT, JCREDIT or REGIONAL/<key>.',
      required: true,
    }),
    amount: t.field({
      description:
        'Signed, in the asset: above zero adds, below zero takes. The balance stays at zero or above, and within its cap.',
      type: 'Decimal',
      required: true,
    }),
    reason: t.string({ description: 'Why, for the books, 1 to 200 characters.', required: true }),
  }),
});

const AdjustBalanceSuccess = guardedSuccess('AdjustBalanceSuccess', (t) => ({
  entry: t.field(ENTRY_OF_OPERATION),
  balance: t.field(BALANCE_NOW),
}));

const PendingApproval = guardedSuccess(
  'PendingApproval',
  (t) => ({ proposal: t.field(PROPOSAL_NOW) }),
  "It is above the tenant's threshold. No balance has changed: it is done once another admin approves the proposal.",
);

guardedMutation('adjustBalance', {
  description:
    "Admin: corrects a balance by a signed amount, as an entry with a reason. Above the tenant's threshold a second admin\nhas to `approve` it.",
  permission: 'ADJUST_BALANCE',
  input: AdjustBalanceInput,
  result: resultUnion('adjustBalance', AdjustBalanceSuccess, [
    PendingApproval,
    InsufficientBalance,
    CapExceeded,
    ...LEDGER_FAILURES,
  ]),
  run: adjustBalance,
});
