import { DynamoDBClient } from '@aws-sdk/client-dynamodb';

export interface DynamoDbOptions {
  readonly region: string;
  /** An engine of one's own; absent is AWS itself. */
  readonly endpoint?: string | undefined;
  /** How long one request may take before its outcome counts as unknown. */
  readonly requestTimeoutMs?: number;
}

/**
 * The table's client. It never retries by itself: what may be sent again, with which token and how often, is decided
 * in one place (`transact.ts`), since a hidden retry of a committed transaction looks like a refusal.
 */
export function createDynamoDbClient({
  region,
  endpoint,
  requestTimeoutMs = 4_000,
}: DynamoDbOptions): DynamoDBClient {
  return new DynamoDBClient({
    region,
    maxAttempts: 1,
    requestHandler: {
      connectionTimeout: 2_000,
      requestTimeout: requestTimeoutMs,
      throwOnRequestTimeout: true,
      httpAgent: { keepAlive: true, maxSockets: 128 },
      httpsAgent: { keepAlive: true, maxSockets: 128 },
    },
    ...(endpoint === undefined
      ? {}
      : { endpoint, credentials: { accessKeyId: 'local', secretAccessKey: 'local' } }),
  });
}
