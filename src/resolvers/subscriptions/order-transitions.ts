import { orderTransitionSource } from '../../realtime/sources.ts';
import { builder } from '../../schema/builder.ts';
import { OrderTransitionType } from '../../schema/refs.ts';

builder.subscriptionField('orderTransitions', (t) =>
  t.field({
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
    resolve: (event) => event,
  }),
);
