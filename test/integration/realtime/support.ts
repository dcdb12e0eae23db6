import { createLogger, type Logger } from '../../../src/observability/logger.ts';
import { systemClock } from '../../../src/ledger/clock.ts';

export function silentLogger(): Logger {
  return createLogger({ level: 'silent', clock: systemClock });
}
