import { type DestinationStream, destination as standardOutput, pino } from 'pino';
import type { LogLevel } from '../config/config.ts';
import { type Clock, isoInstant } from '../ledger/kernel/clock.ts';
import { redact } from './redaction.ts';

/**
 * All that a log line may hold beside its message and an error (docs/DESIGN.md, I6). No field takes an object, so no
 * customer's data comes along with one; a new field is a decision that a reviewer sees.
 * `orderId` is the public one, which `order(id:)` and `npm run show` take.
 */
const FIELDS = [
  'attempt',
  'cause',
  'code',
  'count',
  'durationMs',
  'entryId',
  'eventId',
  'eventType',
  'field',
  'livemode',
  'merchantId',
  'mode',
  'objectId',
  'operation',
  'orderId',
  'outcome',
  'pid',
  'port',
  'process',
  'reason',
  'refundId',
  'replayed',
  'requestId',
  'result',
  'retryInMs',
  'role',
  'shard',
  'signal',
  'skewMs',
  'state',
  'status',
  'stepName',
  'subject',
  'tenant',
  'topic',
  'version',
] as const;

export type LogField = (typeof FIELDS)[number];

export type LogValue = string | number | boolean;

/** Undefined fields are left out. */
export type LogFields = Readonly<Partial<Record<LogField, LogValue | undefined>>>;

/** Says something once. The message is a constant of the code; what varies goes into fields. Never throws. */
export type Log = (message: string, fields?: LogFields, error?: unknown) => void;

export interface Logger {
  readonly debug: Log;
  readonly info: Log;
  readonly warn: Log;
  readonly error: Log;
  /** A logger that adds these fields to every line. */
  readonly with: (fields: LogFields) => Logger;
}

export interface LoggerOptions {
  readonly level: LogLevel;
  readonly clock: Clock;
  /** Where lines go; standard output unless given. */
  readonly destination?: DestinationStream;
}

/** One JSON object per line: `time`, `level`, `message`, fields, `error`. Every text in it is redacted. */
export function createLogger({ level, clock, destination = safeStandardOutput() }: LoggerOptions): Logger {
  const sink = pino(
    {
      level,
      base: null,
      messageKey: 'message',
      timestamp: () => `,"time":"${isoInstant(clock.nowMs())}"`,
      formatters: { level: (label) => ({ level: label }) },
    },
    destination,
  );
  const loggerWith = (shared: Line): Logger => {
    const log =
      (at: Exclude<LogLevel, 'silent'>): Log =>
      (message, fields = {}, error) => {
        try {
          const line = {
            ...shared,
            ...project(fields),
            ...(error !== undefined && { error: projectError(error) }),
          };
          sink[at](line, redact(message));
        } catch {
          // Logs fail open: a payment doesn't fail because nobody could be told of it.
        }
      };
    return {
      debug: log('debug'),
      info: log('info'),
      warn: log('warn'),
      error: log('error'),
      with: (fields) => loggerWith({ ...shared, ...project(fields) }),
    };
  };
  return loggerWith({});
}

type Line = Readonly<Record<string, unknown>>;

/** The allow-list once more, at run time: types don't keep a wider object from being passed as a narrower one. */
function project(fields: LogFields): Line {
  const line: Record<string, LogValue> = {};
  for (const field of FIELDS) {
    const value: unknown = fields[field];
    if (typeof value === 'string') line[field] = redact(value);
    else if (typeof value === 'number' || typeof value === 'boolean') line[field] = value;
  }
  return line;
}

const MAX_CAUSES = 3;

/** Name, code, message and stack of an error and its causes; nothing that hangs on it, such as the item that it's about. */
function projectError(error: unknown, causes = 0): Line {
  if (!(error instanceof Error)) return { name: typeof error };
  const code: unknown = 'code' in error ? error.code : undefined;
  return {
    name: redact(error.name),
    ...((typeof code === 'string' || typeof code === 'number') && { code: redact(String(code)) }),
    message: redact(error.message),
    ...(error.stack !== undefined && { stack: redact(error.stack) }),
    ...(error.cause !== undefined && causes < MAX_CAUSES && { cause: projectError(error.cause, causes + 1) }),
  };
}

/** Synchronous, so that the last line before an exit is written; a closed pipe or a full disk stops nobody. */
function safeStandardOutput(): DestinationStream {
  const stream = standardOutput({ fd: 1, sync: true });
  stream.on('error', () => undefined);
  return stream;
}
