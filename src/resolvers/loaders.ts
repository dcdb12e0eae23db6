import DataLoader from 'dataloader';
import type { Viewer } from '../auth/viewer.ts';
import type { Ledger } from '../ledger/usecases/runtime/ledger.ts';
import { readEntries, readOwnEntries } from '../ledger/usecases/queries/read-entries.ts';
import { readProducts } from '../ledger/usecases/queries/read-merchants.ts';
import { readOrderMetadata } from '../ledger/usecases/queries/read-order-metadata.ts';
import { readOrders } from '../ledger/usecases/queries/read-orders.ts';
import { readProposals } from '../ledger/usecases/queries/read-proposals.ts';
import { readBalances, readMetrics, readProfiles } from '../ledger/usecases/queries/read-wallets.ts';
import { readWebhookEvents } from '../ledger/usecases/queries/read-webhook-events.ts';
import type { Loaders } from '../schema/context.ts';

/** One consistent read takes at most this many keys. */
const MAX_BATCH_SIZE = 100;

type Read<Key, Value> = (
  ledger: Ledger,
  viewer: Viewer,
  keys: readonly Key[],
) => Promise<readonly (Value | undefined)[]>;

/** The loaders of one request. They batch and never cache, for what is read must be as new as its field (see `Loaders`). */
export function createLoaders(ledger: Ledger, viewer: Viewer): Loaders {
  const loader = <Key, Value>(read: Read<Key, Value>): ((key: Key) => Promise<Value | undefined>) => {
    const batches = new DataLoader<Key, Value | undefined>((keys) => read(ledger, viewer, keys), {
      cache: false,
      maxBatchSize: MAX_BATCH_SIZE,
    });
    return (key) => batches.load(key);
  };
  return {
    order: loader(readOrders),
    orderMetadata: loader((from, _viewer, refs) => readOrderMetadata(from, refs)),
    entry: loader(readEntries),
    ownEntry: loader((from, _viewer, refs) => readOwnEntries(from, refs)),
    balance: loader(readBalances),
    profile: loader(readProfiles),
    metrics: loader(readMetrics),
    product: loader(readProducts),
    proposal: loader(readProposals),
    webhookEvent: loader(readWebhookEvents),
  };
}
