import { expect, inject, it } from 'vitest';
import { SELLER, startGateway } from '../../support/gateway.ts';
import { type BareSocket, TRANSITIONS, openOrder, signedIn, upgradeStatus } from './support.ts';

it('a server that stops refuses new sockets, tells the open ones to reconnect elsewhere, and cuts off who does not listen', async () => {
  const gateway = await startGateway({ endpoint: inject('engineEndpoint') });
  const orderId = await openOrder(gateway, SELLER, 'alice');
  const open = async (): Promise<BareSocket> => {
    const socket = await signedIn(gateway, SELLER);
    socket.send({ id: '1', type: 'subscribe', payload: { query: TRANSITIONS, variables: { orderId } } });
    await socket.until(({ type }) => type === 'next');
    return socket;
  };
  const [polite, deaf] = [await open(), await open()];
  deaf.socket.pause();
  const sockets = gateway.server.app.metrics;
  const stopped = gateway.close();
  expect(await polite.closed).toEqual({ code: 1012, reason: 'Service restart' });
  // No `complete`: the subscription isn't over, only this server is.
  expect(polite.messages.map(({ type }) => type)).toEqual(['connection_ack', 'next']);
  await stopped;
  expect((await sockets.render()).body).toMatch(/^hitotsu_subscriptions 0$/m);
  await expect(upgradeStatus(gateway.graphqlUrl)).rejects.toThrow();
  deaf.socket.terminate();
});
