import { ROLES } from '../auth/viewer.ts';
import { OPERATIONS } from '../ledger/entry.ts';
import { EVENT_OUTCOMES } from '../ledger/provider/event-item.ts';
import { ORDER_STATES } from '../ledger/orders/order-states.ts';
import { TRANSITION_CAUSES } from '../ledger/orders/order.ts';
import { builder } from './builder.ts';

export const RoleEnum = builder.enumType('Role', { values: ROLES });
export const OrderKindEnum = builder.enumType('OrderKind', { values: ['PURCHASE', 'TOP_UP'] as const });
export const OrderStateEnum = builder.enumType('OrderState', { values: ORDER_STATES });
export const PaymentMethodEnum = builder.enumType('PaymentMethod', {
  values: ['WALLET', 'CHECKOUT', 'CASH'] as const,
});
export const TopUpMethodEnum = builder.enumType('TopUpMethod', { values: ['CASH', 'CHECKOUT'] as const });
export const OperationEnum = builder.enumType('Operation', { values: OPERATIONS });
export const RefundStateEnum = builder.enumType('RefundState', {
  values: ['PENDING', 'SUCCEEDED', 'FAILED'] as const,
});
export const StepStateEnum = builder.enumType('StepState', { values: ['PENDING', 'DONE', 'DEAD'] as const });
export const WebhookOutcomeEnum = builder.enumType('WebhookOutcome', { values: EVENT_OUTCOMES });
export const TransitionCauseEnum = builder.enumType('TransitionCause', { values: TRANSITION_CAUSES });
export const RetryAdviceEnum = builder.enumType('RetryAdvice', {
  description:
    'SAME_KEY: retry with the same key; it is safe, and needed while the outcome is unknown. NEW_KEY: can succeed once something ' +
    "has changed\n(a top-up, an amount), by the user's own decision; a client never mints a key by itself. NEVER: the same " +
    "request can't succeed.",
  values: ['NEVER', 'NEW_KEY', 'SAME_KEY'] as const,
});
