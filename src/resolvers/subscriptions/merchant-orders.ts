import { merchantOrdersSource } from '../../realtime/sources.ts';
import { builder } from '../../schema/builder.ts';
import { OrderTransitionType } from '../../schema/refs.ts';

builder.subscriptionField('merchantOrders', (t) =>
  t.field({
    type: OrderTransitionType,
    description:
      "Live transitions of a merchant's orders. After a reconnect refetch what is shown; deduplicate by order and version.",
    authScopes: { permission: 'WATCH_MERCHANT_ORDERS' },
    args: {
      merchantId: t.arg.id({ required: true, description: "The operator's own name for the merchant." }),
    },
    subscribe: (_root, args, { realtime, viewer }) => merchantOrdersSource(realtime, viewer, args),
    resolve: (event) => event,
  }),
);
