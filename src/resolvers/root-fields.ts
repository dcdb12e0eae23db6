/* Loads every root field; each registers itself. */
import './mutations/adjust-balance.ts';
import './mutations/cancel-order.ts';
import './mutations/charge.ts';
import './mutations/checkout.ts';
import './mutations/create-order.ts';
import './mutations/issue-payment-code.ts';
import './mutations/put-product.ts';
import './mutations/refund.ts';
import './mutations/replay-webhook-event.ts';
import './mutations/retry-step.ts';
import './mutations/top-up.ts';
import './mutations/update-profile.ts';
import './queries/node.ts';
import './queries/operator-lists.ts';
import './queries/orders.ts';
import './queries/parties.ts';
import './subscriptions.ts';
