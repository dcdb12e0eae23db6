import type { Viewer } from '../auth/viewer.ts';
import type { Entry, NetChange, Posting } from '../ledger/entry.ts';
import type { EventRecord } from '../ledger/provider/event-item.ts';
import type { AccountRef } from '../ledger/keys.ts';
import type { IssuedPaymentCode } from '../ledger/operations/issue-payment-code.ts';
import type { OrderStep } from '../ledger/operations/read-dead-steps.ts';
import type { PublicMerchant } from '../ledger/operations/read-merchants.ts';
import type { AccountMetrics, Balance, Profile } from '../ledger/operations/read-wallets.ts';
import type { Order, OrderLine, PaymentPage, Refund } from '../ledger/orders/order.ts';
import type { InputIssue } from '../ledger/outcomes.ts';
import type { Product } from '../ledger/product.ts';
import type { TransitionEvent } from '../realtime/order-feeds.ts';
import { builder } from './builder.ts';

/*
 * The object types and what stands behind each. Types refer to each other in circles; so the references are here, and each
 * type is implemented in the file of its name.
 */

export interface OrderRefund {
  readonly order: Order;
  readonly refund: Refund;
}

export interface LineOfOrder {
  readonly order: Order;
  readonly line: OrderLine;
}

/** Amounts are shown at the scale of their tenant's asset or currency, so what holds one says whose it is. */
type OfTenant<Value> = Value & { readonly tenant: string };

export const AccountMetricsType = builder.objectRef<OfTenant<AccountMetrics>>('AccountMetrics');
export const BalanceChangeType = builder.objectRef<OfTenant<NetChange>>('BalanceChange');
export const BalanceType = builder.objectRef<Balance>('Balance');
export const EntryType = builder.objectRef<Entry>('Entry');
export const InputIssueType = builder.objectRef<InputIssue>('InputIssue');
export const MerchantType = builder.objectRef<PublicMerchant>('Merchant');
export const OrderLineType = builder.objectRef<LineOfOrder>('OrderLine');
export const OrderTransitionType = builder.objectRef<TransitionEvent>('OrderTransition');
export const OrderType = builder.objectRef<Order>('Order');
export const PaymentCodeType = builder.objectRef<IssuedPaymentCode>('PaymentCode');
export const PaymentPageType = builder.objectRef<PaymentPage>('PaymentPage');
export const PostingType = builder.objectRef<OfTenant<Posting>>('Posting');
export const ProductType = builder.objectRef<Product>('Product');
export const ProfileType = builder.objectRef<Profile>('Profile');
export const RefundType = builder.objectRef<OrderRefund>('Refund');
export const StepType = builder.objectRef<OrderStep>('Step');
export const ViewerType = builder.objectRef<Viewer>('Viewer');
export const WalletType = builder.objectRef<AccountRef>('Wallet');
export const WebhookEventType = builder.objectRef<EventRecord>('WebhookEvent');
