import type { Viewer } from '../auth/viewer.ts';
import type { Entry } from '../ledger/model/entries/entry.ts';
import type { EventRecord } from '../ledger/items/event-item.ts';
import type {
  AccountRef,
  BalanceRef,
  EntryRef,
  OrderRef,
  ProductRef,
  ProposalRef,
} from '../ledger/kernel/keys.ts';
import type { Ledger } from '../ledger/usecases/runtime/ledger.ts';
import type { AccountMetrics, Balance, Profile } from '../ledger/usecases/queries/read-wallets.ts';
import type { Order } from '../ledger/model/orders/order.ts';
import type { MetadataEntry } from '../ledger/model/orders/order-metadata.ts';
import type { Proposal } from '../ledger/model/proposal.ts';
import type { Product } from '../ledger/model/product.ts';
import type { Logger } from '../observability/logger.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { Realtime } from '../realtime/sources.ts';

type Load<Key, Value> = (key: Key) => Promise<Value | undefined>;

/**
 * Reads of what is selected, one batch a tick. Nothing is remembered: what is shown is read after whatever the request has
 * committed, and a subscription's next event reads again (docs/DESIGN.md §5.7). Undefined for what isn't the viewer's.
 */
export interface Loaders {
  readonly order: Load<OrderRef, Order>;
  /** Of an order that the viewer was shown. */
  readonly orderMetadata: Load<OrderRef, readonly MetadataEntry[]>;
  readonly entry: Load<EntryRef, Entry>;
  /** An entry that this very request made, or replays. */
  readonly ownEntry: Load<EntryRef, Entry>;
  readonly balance: Load<BalanceRef, Balance>;
  readonly profile: Load<AccountRef, Profile>;
  readonly metrics: Load<AccountRef, AccountMetrics>;
  readonly product: Load<ProductRef, Product>;
  readonly proposal: Load<ProposalRef, Proposal>;
  readonly webhookEvent: Load<string, EventRecord>;
}

/** What resolvers get: who asks, and what answers. */
export interface RequestContext {
  readonly viewer: Viewer;
  readonly requestId: string;
  readonly ledger: Ledger;
  readonly load: Loaders;
  readonly realtime: Realtime;
  readonly metrics: Metrics;
  readonly logger: Pick<Logger, 'info'>;
}
