import type { Role } from '../auth/viewer.ts';
import type { EntryOperation } from '../ledger/model/entries/entry.ts';
import type { OrderState } from '../ledger/model/orders/order-states.ts';
import type { OrderPayment, Order, Refund, Step, TransitionCause } from '../ledger/model/orders/order.ts';
import type { RetryAdvice } from '../ledger/model/outcomes.ts';
import type { ProposalState } from '../ledger/model/proposal.ts';
import { builder } from './builder.ts';
import type { EventOutcome } from '../ledger/model/provider/update-decision.ts';

/** An enum, every value with what it means: one that is added and isn't described doesn't compile. */
function describedEnum<Value extends string>(
  name: string,
  description: string,
  meanings: Readonly<Record<Value, string>>,
) {
  const entries = Object.entries<string>(meanings).map(([value, words]) => [value, { description: words }]);
  // The same keys as `meanings`, which fromEntries can't tell.
  const values = Object.fromEntries(entries) as Readonly<Record<Value, { readonly description: string }>>;
  return builder.enumType(name, { description, values });
}

export const RoleEnum = describedEnum<Role>('Role', 'What a principal may be: the `role` of its token.', {
  CUSTOMER: 'Has a wallet, and sees and pays its own orders.',
  MERCHANT: 'The back office of one merchant: its orders, refunds, products and live feed; no wallets.',
  TERMINAL: "A till of one merchant: opens orders for customers, takes cash, sees customers' balances.",
  ADMIN: 'Runs the tenant: sees all of it, and nothing of another one.',
});

export const OrderKindEnum = describedEnum<Order['kind']>('OrderKind', 'What an order buys.', {
  PURCHASE: "A merchant's goods.",
  TOP_UP: "Value in the customer's own wallet.",
});

export const OrderStateEnum = describedEnum<OrderState>(
  'OrderState',
  'How far an order has come. Money that arrived always wins: to PAID there is a way from every state before it.',
  {
    CREATED: 'Open: nobody has begun to pay.',
    SESSION_CREATED: 'A payment page is open, and nothing has been paid on it yet.',
    PENDING_PAYMENT:
      'The customer is done on the page, and the money is on its way: a slip waits at the counter, a bank works on it.',
    PAID: 'The money is there. Follow-ups may still be under way.',
    CONFIRMED: 'Paid, and every follow-up is done.',
    FAILED: 'The payment came to nothing. It may be tried again.',
    EXPIRED: 'The payment page has expired unpaid. Another one may be opened.',
    CANCELED: 'Closed unpaid, for good.',
    REFUNDED:
      'All that was paid has been given back. A refund that fails later leads back to CONFIRMED, or PAID.',
  },
);

export const PaymentMethodEnum = describedEnum<OrderPayment['method']>(
  'PaymentMethod',
  'How an order is paid.',
  {
    WALLET: "From a balance of the customer's wallet, by `charge`.",
    CHECKOUT: "On the provider's payment page, by `checkout` or `topUp`.",
    CASH: 'In cash at a terminal, by `topUp`.',
  },
);

export const TopUpMethodEnum = describedEnum<'CASH' | 'CHECKOUT'>(
  'TopUpMethod',
  'How value gets into a wallet.',
  {
    CASH: 'Terminal: the customer hands over cash, and the wallet is credited at once.',
    CHECKOUT:
      "Customer: on the provider's payment page; the wallet is credited when the provider says that it is paid.",
  },
);

export const OperationEnum = describedEnum<EntryOperation>('Operation', 'What an entry books.', {
  CHARGE: 'A purchase was paid from a wallet.',
  TOP_UP: 'Value came into a wallet, in cash or by a payment page.',
  PAYMENT: 'A purchase was paid on a payment page. No wallet takes part.',
  REFUND: 'Money went back, or a refund that failed came back.',
  ADJUSTMENT: 'An admin corrected a balance, or a balance was opened from an older record.',
  DISPUTE: 'A lost dispute took the money, or one that was won after all gave it back.',
  SURPLUS: 'An order was paid once more than it needed: the second payment.',
});

export const RefundStateEnum = describedEnum<Refund['state']>('RefundState', 'What became of a refund.', {
  PENDING: 'The provider works on it. Its amount counts as taken already.',
  SUCCEEDED: 'The money is back where it came from.',
  FAILED: 'It came to nothing, and its amount can be refunded again.',
});

export type DisputeStatus = 'INQUIRY' | 'OPEN' | 'LOST' | 'WON' | 'CLEARED';

export const DisputeStatusEnum = describedEnum<DisputeStatus>('DisputeStatus', 'How a dispute stands.', {
  INQUIRY: 'The bank only asks. Refunds are still possible.',
  OPEN: 'The bank has taken the money back for now, and decides.',
  LOST: 'The money is gone, back to the customer.',
  WON: 'The money stays.',
  CLEARED: 'It came to nothing: the bank withdrew its question.',
});

export const StepStateEnum = describedEnum<Step['state']>('StepState', 'How far a follow-up has come.', {
  PENDING: 'To be done, or to be tried again.',
  DONE: 'Done, once.',
  DEAD: 'Out of attempts: `deadSteps` lists it, `retryStep` puts it back to work, `skipStep` lets it be.',
  SKIPPED: 'Out of attempts, and a person has let it be. It will not run.',
});

export const ProposalKindEnum = describedEnum<'ADJUSTMENT' | 'REPAIR'>(
  'ProposalKind',
  'What a proposal is about.',
  {
    ADJUSTMENT: 'A balance is to be adjusted: `approve` books it.',
    REPAIR: 'Damaged items of the table are to be mended: `npm run repair` shows and approves it.',
  },
);

export const ProposalStateEnum = describedEnum<ProposalState>('ProposalState', 'What became of a proposal.', {
  OPEN: 'Another admin may approve it.',
  APPROVED: 'Another admin approved it, and it was done.',
  REJECTED: 'An admin rejected it, or its proposer took it back. Nothing was done.',
  EXPIRED: 'Nobody decided in time. Nothing was done.',
});

export const WebhookOutcomeEnum = describedEnum<EventOutcome>(
  'WebhookOutcome',
  "What became of a provider's event.",
  {
    APPLIED: 'It changed something, once.',
    STALE: 'It told what is known already, or what something newer has overtaken.',
    IGNORED: 'It is of no kind that matters here, or about nothing of this platform.',
    MISMATCH: "It speaks of an order of this tenant, and doesn't fit it: nothing was booked.",
    FAILED: 'It could not be applied yet.',
  },
);

export const TransitionCauseEnum = describedEnum<TransitionCause>(
  'TransitionCause',
  'Why an order changed.',
  {
    CREATED: 'It was opened.',
    CHECKOUT_OPENED: 'A payment page was opened for it.',
    PAYMENT_PROCESSING: 'The customer is done on the page, and the money is on its way.',
    PAYMENT_DECLINED: 'A payment was declined. The customer may try again on the same page.',
    PAYMENT_FAILED: 'The payment came to nothing.',
    PAYMENT_RECEIVED: 'The provider says that it is paid.',
    SURPLUS_RECEIVED: 'It was paid once more: that payment is given back by itself.',
    WALLET_CHARGED: 'A wallet paid for it.',
    CASH_RECEIVED: 'A terminal took cash for it.',
    SESSION_EXPIRED: 'Its payment page has expired unpaid.',
    CANCELED: 'Somebody canceled it.',
    STEP_DONE: 'A follow-up is done.',
    STEP_DEAD: 'A follow-up ran out of attempts.',
    STEP_RETRIED: 'A follow-up failed and is tried again later, or an admin put a DEAD one back to work.',
    STEP_SKIPPED: 'Somebody let a DEAD follow-up be, for the reason in the detail.',
    COMPLETED: 'Every follow-up is done, or was let be.',
    REFUND_STARTED: 'A refund was asked for, and the provider works on it.',
    REFUND_SUCCEEDED: 'A refund has been made.',
    REFUND_FAILED: 'A refund came to nothing.',
    DISPUTE_OPENED: "The cardholder's bank disputes the payment.",
    DISPUTE_WON: 'A dispute was won: the money stays.',
    DISPUTE_LOST: 'A dispute was lost: the money went back.',
  },
);

export const RetryAdviceEnum = describedEnum<RetryAdvice>(
  'RetryAdvice',
  'SAME_KEY: retry with the same key; it is safe, and needed while the outcome is unknown. NEW_KEY: can succeed once something ' +
    "has changed\n(a top-up, an amount), by the user's own decision; a client never mints a key by itself. NEVER: the same " +
    "request can't succeed.",
  {
    NEVER: "The same request can't succeed.",
    NEW_KEY: 'It can succeed once something has changed, by a new decision of the user and with a new key.',
    SAME_KEY:
      'Ask again with the same key, after `retryAfterMs` where it is given: nothing was done, or nobody knows.',
  },
);
