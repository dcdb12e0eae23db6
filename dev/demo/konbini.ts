import { type Stage, checkout, openOrder, refund } from './payment.ts';

/** A payment at a convenience store, and its refund: both take their time, and the refund fails after it had succeeded. */
export async function playKonbini(stage: Stage): Promise<void> {
  const { cast, gateway, narrator, simulator } = stage;
  narrator.step('A convenience-store payment: the slip is printed, nothing is paid yet');
  const orderId = await openOrder(stage, 'konbini-order', [{ sku: 'coffee', quantity: 2 }]);
  const watch = gateway.watch(cast.customer, orderId);
  const session = await checkout(stage, 'konbini-checkout', orderId);
  await simulator.call('start-konbini', { session: session.id });
  await watch.until('PENDING_PAYMENT');
  narrator.check(true, 'PENDING_PAYMENT, with the slip as the payment page');

  narrator.step('The customer pays at the counter');
  await simulator.call('complete-async-payment', { session: session.id });
  narrator.transitions(await watch.until('CONFIRMED'));

  narrator.step('Its refund waits for the customer, succeeds, and fails later after all');
  const asked = await refund(stage, 'konbini-refund', orderId);
  narrator.check(
    asked.refund?.state === 'PENDING',
    `the refund is ${asked.refund?.state ?? asked.__typename}`,
  );
  const refundId = await simulator.newestRefund();
  await simulator.call('settle-refund', { refund: refundId, status: 'succeeded' });
  await watch.until('REFUNDED');
  await simulator.call('settle-refund', {
    refund: refundId,
    status: 'failed',
    failureReason: 'expired_or_canceled_card',
  });
  const seen = await watch.until('CONFIRMED');
  narrator.transitions(seen.slice(-3));
  narrator.check(
    seen.at(-1)?.cause === 'REFUND_FAILED',
    'the order is paid once more, and may be refunded again',
  );
  await watch.stop();
}
