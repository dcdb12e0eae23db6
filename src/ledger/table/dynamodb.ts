import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { z } from 'zod';
import type { TableClock } from './table-clock.ts';

export interface DynamoDbOptions {
  readonly region: string;
  /** An engine of one's own; absent is AWS itself. */
  readonly endpoint?: string | undefined;
  /** How long one request may take before its outcome counts as unknown. */
  readonly requestTimeoutMs?: number;
  /** Learns the table's time from every answer. */
  readonly clock?: TableClock | undefined;
}

/**
 * The table's client. It never retries by itself: what may be sent again, with which token and how often, is decided
 * in one place (`transact.ts`), since a hidden retry of a committed transaction looks like a refusal.
 */
export function createDynamoDbClient({
  region,
  endpoint,
  requestTimeoutMs = 4_000,
  clock,
}: DynamoDbOptions): DynamoDBClient {
  const client = new DynamoDBClient({
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
  if (clock !== undefined) timeAnswers(client, clock);
  return client;
}

/** Tells the clock of each answer, refusals included: AWS refuses what a clock that is far off has signed. */
function timeAnswers({ middlewareStack }: DynamoDBClient, clock: TableClock): void {
  middlewareStack.add(
    (next) => async (request) => {
      const answeredAt = clock.timeRequest();
      const result = await next(request);
      answeredAt(dateOf(result.response));
      return result;
    },
    // Within the deserialiser, so that what it throws for has been seen.
    { step: 'deserialize', priority: 'low', name: 'timeAnswers' },
  );
}

const datedAnswer = z.object({ headers: z.object({ date: z.string() }) });

function dateOf(response: unknown): string | undefined {
  return datedAnswer.safeParse(response).data?.headers.date;
}
