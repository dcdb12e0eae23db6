import type { Viewer } from '../auth/viewer.ts';
import type { Entry } from '../ledger/model/entries/entry.ts';
import type { EventRecord } from '../ledger/items/event-item.ts';
import type { AccountRef, OrderRef } from '../ledger/kernel/keys.ts';
import type { OrderStep } from '../ledger/usecases/queries/read-dead-steps.ts';
import type { PublicMerchant } from '../ledger/usecases/queries/read-merchants.ts';
import type { Balance } from '../ledger/usecases/queries/read-wallets.ts';
import type { Dispute, Order, Refund, Transition } from '../ledger/model/orders/order.ts';
import type { Product } from '../ledger/model/product.ts';
import type { Proposal } from '../ledger/model/proposal.ts';
import { builder } from './builder.ts';

/*
 * The object types and what stands behind each. Types refer to each other in circles; so the references are here, and each
 * type is implemented in the file of its name, beside the small types that only it shows.
 */

/** A part of an order, with the order that it is of. */
export type OfOrder<Part> = Part & { readonly order: Order };

/** The order is read when it is selected, unless it has been read already. */
export type ShownTransition = Transition & { readonly ref: OrderRef; readonly order?: Order };

/** Amounts are shown at the scale of their tenant's asset or currency, so what holds one says whose it is. */
export type OfTenant<Value> = Value & { readonly tenant: string };

export const BalanceType = builder.objectRef<Balance>('Balance');
export const DisputeType = builder.objectRef<OfOrder<Dispute>>('Dispute');
export const EntryType = builder.objectRef<Entry>('Entry');
export const MerchantType = builder.objectRef<PublicMerchant>('Merchant');
export const OrderTransitionType = builder.objectRef<ShownTransition>('OrderTransition');
export const OrderType = builder.objectRef<Order>('Order');
export const ProductType = builder.objectRef<Product>('Product');
export const ProposalType = builder.objectRef<Proposal>('Proposal');
export const RefundType = builder.objectRef<OfOrder<Refund>>('Refund');
export const StepType = builder.objectRef<OrderStep>('Step');
export const ViewerType = builder.objectRef<Viewer>('Viewer');
export const WalletType = builder.objectRef<AccountRef>('Wallet');
export const WebhookEventType = builder.objectRef<EventRecord>('WebhookEvent');
