import { merchantOrdersSource, orderTransitionSource, walletEntriesSource } from '../realtime/sources.ts';
import { builder } from '../schema/builder.ts';
import { present } from '../schema/present.ts';
import { EntryType, OrderTransitionType } from '../schema/refs.ts';

builder.subscriptionFields((t) => ({
  orderTransitions: t.field({
    type: OrderTransitionType,
    description:
      'The transitions of one order with a version above afterVersion, in order, then live ones; without gaps or duplicates within a ' +
      'connection. A library that reconnects repeats its first variables unless afterVersion is computed: ignore versions already seen.',
    args: {
      orderId: t.arg.id({ required: true, description: 'The `id` of the order.' }),
      afterVersion: t.arg.int({
        required: true,
        defaultValue: 0,
        description: 'The last version that the client has seen; 0: none. Not below 0.',
      }),
    },
    subscribe: (_root, args, { realtime, viewer }) => orderTransitionSource(realtime, viewer, args),
    resolve: ({ transition, ...event }) => ({ ...transition, ...event }),
  }),
  merchantOrders: t.field({
    type: OrderTransitionType,
    description:
      "Live transitions of a merchant's orders. After a reconnect refetch what is shown; deduplicate by order and version.",
    authScopes: { permission: 'WATCH_MERCHANT_ORDERS' },
    args: {
      merchantId: t.arg.id({ required: true, description: "The operator's own name for the merchant." }),
    },
    subscribe: (_root, args, { realtime, viewer }) => merchantOrdersSource(realtime, viewer, args),
    resolve: ({ transition, ...event }) => ({ ...transition, ...event }),
  }),
  walletEntries: t.field({
    type: EntryType,
    description:
      "Live entries of one account. After a reconnect page the wallet's entries; deduplicate by id.",
    authScopes: { permission: 'WATCH_WALLET_ENTRIES' },
    args: {
      accountId: t.arg.id({ required: true, description: "The operator's own name for the account." }),
    },
    subscribe: (_root, args, { realtime, viewer }) => walletEntriesSource(realtime, viewer, args),
    resolve: async ({ entry }, _args, { load }) => present(await load.entry(entry), 'an entry'),
  }),
}));
