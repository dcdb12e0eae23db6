import { randomUUID } from 'node:crypto';
import type { TypedDocumentNode } from '@graphql-typed-document-node/core';
import { print } from 'graphql';
import { signToken } from '../../dev/sign-token.ts';
import type { AppOverrides } from '../../src/main/app.ts';
import type { Role } from '../../src/auth/viewer.ts';
import { type Config, loadConfig } from '../../src/config/config.ts';
import { createDynamoDbClient } from '../../src/ledger/table/dynamodb.ts';
import { createTable } from '../../src/ledger/table/table.ts';
import { type RunningServer, startServer } from '../../src/main/listen.ts';
import { TEST_TENANTS } from './harness.ts';
import { type OwnedClock, ownedClock } from './owned-time.ts';

export interface GatewayOptions {
  /** `inject('engineEndpoint')`. */
  readonly endpoint: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly overrides?: AppOverrides;
}

/** A principal of the test tenants: by default of `t_1`. */
export interface Principal {
  readonly subject: string;
  readonly role: Role;
  readonly tenant?: string;
  readonly merchantId?: string;
}

export interface Answer<Data> {
  readonly status: number;
  readonly headers: Headers;
  readonly data: Data | null | undefined;
  readonly errors: readonly AnswerError[];
}

export interface AnswerError {
  readonly message: string;
  readonly path?: readonly (string | number)[];
  readonly extensions: Readonly<Record<string, unknown>>;
}

/** A gateway on a port and a table of its own, over real HTTP, with time in the test's hand. */
export interface Gateway {
  readonly url: string;
  readonly graphqlUrl: string;
  readonly config: Config;
  readonly server: RunningServer;
  readonly clock: OwnedClock;
  readonly key: () => string;
  readonly token: (principal: Principal, ttlS?: number) => Promise<string>;
  readonly run: <Data, Variables>(
    principal: Principal,
    document: TypedDocumentNode<Data, Variables> | string,
    variables?: Variables,
  ) => Promise<Answer<Data>>;
  /** POSTs a body as it is, as a principal; `headers` win. */
  readonly post: (
    principal: Principal,
    body: string,
    headers?: Readonly<Record<string, string>>,
  ) => Promise<Response>;
  readonly close: () => Promise<void>;
}

export const ALICE: Principal = { subject: 'alice', role: 'CUSTOMER' };
export const BOB: Principal = { subject: 'bob', role: 'CUSTOMER' };
export const SELLER: Principal = { subject: 'm_1-office', role: 'MERCHANT', merchantId: 'm_1' };
export const OTHER_SELLER: Principal = { subject: 'm_2-office', role: 'MERCHANT', merchantId: 'm_2' };
export const TILL: Principal = { subject: 'm_1-till', role: 'TERMINAL', merchantId: 'm_1' };
export const ADMIN: Principal = { subject: 'root', role: 'ADMIN' };
/** The same names in another tenant. */
export const FOREIGN_ALICE: Principal = { subject: 'alice', role: 'CUSTOMER', tenant: 'demo' };
export const FOREIGN_ADMIN: Principal = { subject: 'root', role: 'ADMIN', tenant: 'demo' };

export async function startGateway({ endpoint, environment, overrides }: GatewayOptions): Promise<Gateway> {
  const tableName = `t${randomUUID()}`;
  const config = loadConfig({
    NODE_ENV: 'test',
    PORT: '0',
    LOG_LEVEL: 'silent',
    WORKER: 'off',
    DYNAMODB_ENDPOINT: endpoint,
    TABLE_NAME: tableName,
    ...environment,
  });
  const client = createDynamoDbClient({ region: config.table.region, endpoint });
  await createTable(client, { tableName, streams: false, protectedFromLoss: false });
  client.destroy();
  const clock = ownedClock();
  const server = await startServer(config, { clock, tenants: TEST_TENANTS, ...overrides });
  const graphqlUrl = `${server.url}/graphql`;

  const token = ({ subject, role, tenant = 't_1', merchantId }: Principal, ttlS = 3600): Promise<string> =>
    signToken(
      config.auth,
      { subject, role, tenant, ttlS, ...(merchantId === undefined ? {} : { merchantId }) },
      clock.nowMs(),
    );
  const post: Gateway['post'] = async (principal, body, headers = {}) =>
    fetch(graphqlUrl, {
      method: 'POST',
      body,
      headers: {
        'content-type': 'application/json',
        authorization: `Bearer ${await token(principal)}`,
        ...headers,
      },
    });
  return {
    url: server.url,
    graphqlUrl,
    config,
    server,
    clock,
    key: () => randomUUID(),
    token,
    post,
    run: async (principal, document, variables) => {
      const query = typeof document === 'string' ? document : print(document);
      const response = await post(principal, JSON.stringify({ query, variables }));
      return readAnswer(response);
    },
    close: server.close,
  };
}

export async function readAnswer<Data>(response: Response): Promise<Answer<Data>> {
  // GraphQL over HTTP answers with this and nothing else.
  const body = (await response.json()) as {
    readonly data?: Data | null;
    readonly errors?: readonly AnswerError[];
  };
  return { status: response.status, headers: response.headers, data: body.data, errors: body.errors ?? [] };
}

/** The data of an answer that must have some and no errors. */
export function dataOf<Data>({ data, errors }: Answer<Data>): Data {
  if (errors.length > 0 || data === null || data === undefined)
    throw new Error(`no data: ${JSON.stringify(errors)}`);
  return data;
}

/** The codes of an answer's errors. */
export function codesOf({ errors }: Answer<unknown>): readonly unknown[] {
  return errors.map(({ extensions }) => extensions['code']);
}
