/** What a fault proxy does to one request. Everything that DynamoDB, a network or a proxy between can do to a client. */
export type Fault =
  /** None: lets a script begin with a later request. */
  | { readonly kind: 'PASS' }
  /** Never reaches the engine; the connection closes. */
  | { readonly kind: 'DROP_BEFORE' }
  /** The engine does it; the connection closes without an answer. */
  | { readonly kind: 'DROP_AFTER' }
  /** As DROP_BEFORE or DROP_AFTER, but with a TCP reset. */
  | { readonly kind: 'RESET'; readonly after: boolean }
  /**
   * The engine does it after `release()`, and nobody hears: held past the client's time-out, or the connection closes
   * at once, which is the same to the client without the wait.
   */
  | { readonly kind: 'LATE'; readonly client: 'TIMES_OUT' | 'DISCONNECTED' }
  /** Held until `release()`, which comes before the client gives up: then done and answered. */
  | { readonly kind: 'HOLD' }
  /** Reaches the engine twice, one after the other; which of its two answers the client gets. */
  | { readonly kind: 'DUPLICATE'; readonly answer: 'FIRST' | 'SECOND' }
  /** Done, and then only the beginning of the answer arrives; `cleanly` as if that were all of it. */
  | { readonly kind: 'TRUNCATE'; readonly keep: 'HALF' | 'NOTHING'; readonly cleanly: boolean }
  /** A read by keys is done but for one key, which comes back as one to be asked for again. Other requests pass. */
  | { readonly kind: 'UNPROCESSED'; readonly key: 'FIRST' | 'LAST' }
  /** A 5xx, from before or from after the engine. */
  | { readonly kind: 'SERVER_ERROR'; readonly status: 500 | 502 | 503 | 504; readonly after: boolean }
  /** A DynamoDB error of this name, without reaching the engine. */
  | { readonly kind: 'ERROR'; readonly name: DynamoDbErrorName }
  /**
   * TransactionCanceledException without reaching the engine: these codes first, `None` for the other items. `short`
   * sends these alone, however many items there are; without `reasons` the list is missing.
   */
  | { readonly kind: 'CANCELED'; readonly reasons?: readonly ReasonCode[]; readonly short?: true };

export type ReasonCode =
  | 'None'
  | 'ConditionalCheckFailed'
  | 'TransactionConflict'
  | 'ThrottlingError'
  | 'ProvisionedThroughputExceeded'
  | 'ValidationError';

export type DynamoDbErrorName = keyof typeof ERRORS;

/** The errors' namespaces and texts as DynamoDB sends them. */
const ERRORS = {
  TransactionInProgressException: {
    namespace: 'com.amazonaws.dynamodb.v20120810',
    message: 'The transaction with the given request token is already in progress.',
  },
  ThrottlingException: {
    namespace: 'com.amazon.coral.availability',
    message: 'Rate of requests exceeds the allowed throughput.',
  },
  ProvisionedThroughputExceededException: {
    namespace: 'com.amazonaws.dynamodb.v20120810',
    message: 'The level of configured provisioned throughput for the table was exceeded.',
  },
  RequestLimitExceeded: {
    namespace: 'com.amazonaws.dynamodb.v20120810',
    message: 'Throughput exceeds the current throughput limit for your account.',
  },
  IdempotentParameterMismatchException: {
    namespace: 'com.amazonaws.dynamodb.v20120810',
    message: 'Request parameters do not match the parameters of the earlier request with this token.',
  },
  ValidationException: {
    namespace: 'com.amazon.coral.validate',
    message: 'The provided expression is invalid.',
  },
} as const;

export interface FaultAnswer {
  readonly status: number;
  readonly body: string;
}

/** The body of an error of this name, in the JSON 1.0 protocol. */
export function errorAnswer(name: DynamoDbErrorName): FaultAnswer {
  const { namespace, message } = ERRORS[name];
  return { status: 400, body: JSON.stringify({ __type: `${namespace}#${name}`, message }) };
}

/** A cancelled transaction, with one reason per item unless the fault says otherwise. */
export function canceledAnswer(
  { reasons, short }: Extract<Fault, { kind: 'CANCELED' }>,
  itemCount: number,
): FaultAnswer {
  const length = short === true ? (reasons?.length ?? 0) : itemCount;
  const codes = Array.from({ length }, (_, index) => reasons?.[index] ?? 'None');
  const message =
    'Transaction cancelled, please refer cancellation reasons for specific reasons ' +
    `[${codes.join(', ')}]`;
  const CancellationReasons = codes.map((Code) =>
    Code === 'None' ? { Code } : { Code, Message: `stated by the fault proxy: ${Code}` },
  );
  return {
    status: 400,
    body: JSON.stringify({
      __type: 'com.amazonaws.dynamodb.v20120810#TransactionCanceledException',
      Message: message,
      ...(reasons === undefined ? {} : { CancellationReasons }),
    }),
  };
}

export function serverErrorAnswer(status: number): FaultAnswer {
  if (status !== 500) return { status, body: '<html><body>Gateway error</body></html>' };
  const __type = 'com.amazonaws.dynamodb.v20120810#InternalServerError';
  return { status, body: JSON.stringify({ __type, message: 'Internal server error' }) };
}
