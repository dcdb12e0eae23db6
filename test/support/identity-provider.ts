import { createServer } from 'node:http';

/** How the provider answers: a status with a body, or not at all. */
export type ProviderAnswer = { readonly status: number; readonly body: string } | 'HANG';

/** An identity provider's address for its public keys, on loopback. */
export interface IdentityProvider {
  readonly url: string;
  answer: ProviderAnswer;
  /** How often it was asked. */
  asked: number;
  readonly close: () => Promise<void>;
}

export async function startIdentityProvider(answer: ProviderAnswer): Promise<IdentityProvider> {
  const server = createServer((_request, response) => {
    provider.asked += 1;
    if (provider.answer === 'HANG') return;
    response
      .writeHead(provider.answer.status, { 'content-type': 'application/json' })
      .end(provider.answer.body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const provider: IdentityProvider = {
    url: `http://127.0.0.1:${String(address.port)}/keys`,
    answer,
    asked: 0,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => {
          resolve();
        });
      }),
  };
  return provider;
}
