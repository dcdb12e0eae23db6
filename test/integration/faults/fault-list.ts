import type { ProxiedOperation } from '../../support/fault-script.ts';
import type { Fault } from '../../support/faults.ts';

/** One way for a request to go wrong, and how often the gateway may send it while that lasts. */
export interface NamedFault {
  readonly name: string;
  readonly on: ProxiedOperation;
  readonly fault: Fault;
  /** The most transactions that one attempt of an operation may send while every one of them has the fault. */
  readonly mostWrites: number;
}

function write(name: string, fault: Fault, mostWrites: number): NamedFault {
  return { name, on: 'TransactWriteItems', fault, mostWrites };
}
function read(name: string, fault: Fault): NamedFault {
  return { name, on: 'BatchGetItem', fault, mostWrites: 0 };
}

/** Sends of one transaction (docs/DESIGN.md §6): the first and its retries. */
const UNKNOWN = 3;
const CONFLICTS = 4;
const THROTTLES = 5;
const IN_PROGRESS = 6;
/** Each time it is read again and decided again. */
const DECISIONS = 5;

/** The transaction happened, or will: the ways in which a second effect could come about. */
export const COMMITTED_FAULTS: readonly NamedFault[] = [
  write('dropped after the commit', { kind: 'DROP_AFTER' }, UNKNOWN),
  write('reset after the commit', { kind: 'RESET', after: true }, UNKNOWN),
  write('committed late', { kind: 'LATE', client: 'DISCONNECTED' }, UNKNOWN),
  write('answered 504 after the commit', { kind: 'SERVER_ERROR', status: 504, after: true }, UNKNOWN),
  write('cut in half', { kind: 'TRUNCATE', keep: 'HALF', cleanly: false }, UNKNOWN),
  write('cut in half as if it were all', { kind: 'TRUNCATE', keep: 'HALF', cleanly: true }, UNKNOWN),
  write('duplicated, the first answer lost', { kind: 'DUPLICATE', answer: 'SECOND' }, UNKNOWN),
  write('duplicated, the second answer lost', { kind: 'DUPLICATE', answer: 'FIRST' }, UNKNOWN),
];

const UNWRITTEN_FAULTS: readonly NamedFault[] = [
  write('dropped before the commit', { kind: 'DROP_BEFORE' }, UNKNOWN),
  write('reset before the commit', { kind: 'RESET', after: false }, UNKNOWN),
  write('answered 500', { kind: 'SERVER_ERROR', status: 500, after: false }, UNKNOWN),
  write('answered 503', { kind: 'SERVER_ERROR', status: 503, after: false }, UNKNOWN),
  write('in conflict', { kind: 'CANCELED', reasons: ['TransactionConflict'] }, CONFLICTS),
  write('cancelled for no reason', { kind: 'CANCELED', reasons: ['None'] }, CONFLICTS),
  write('still in progress', { kind: 'ERROR', name: 'TransactionInProgressException' }, IN_PROGRESS),
  write('throttled', { kind: 'ERROR', name: 'ThrottlingException' }, THROTTLES),
  write('over its throughput', { kind: 'ERROR', name: 'ProvisionedThroughputExceededException' }, THROTTLES),
  write('throttled at an item', { kind: 'CANCELED', reasons: ['ThrottlingError'] }, THROTTLES),
  write('cancelled with too few reasons', { kind: 'CANCELED', reasons: [], short: true }, DECISIONS),
  write('cancelled without reasons', { kind: 'CANCELED' }, DECISIONS),
];

const READ_FAULTS: readonly NamedFault[] = [
  read('a read dropped', { kind: 'DROP_BEFORE' }),
  read('a read throttled', { kind: 'ERROR', name: 'ThrottlingException' }),
  read('a read answered 500', { kind: 'SERVER_ERROR', status: 500, after: false }),
  read('a read cut in half', { kind: 'TRUNCATE', keep: 'HALF', cleanly: true }),
  read('a read cut to nothing', { kind: 'TRUNCATE', keep: 'NOTHING', cleanly: true }),
  read('a read but for its first key', { kind: 'UNPROCESSED', key: 'FIRST' }),
  read('a read but for its last key', { kind: 'UNPROCESSED', key: 'LAST' }),
];

/** Every fault of the list in docs/DESIGN.md §14. */
export const FAULTS: readonly NamedFault[] = [...COMMITTED_FAULTS, ...UNWRITTEN_FAULTS, ...READ_FAULTS];

/** One of each kind of retry, for faults that last. */
export const LASTING_FAULTS: readonly NamedFault[] = FAULTS.filter(({ name }) =>
  [
    'dropped after the commit',
    'committed late',
    'dropped before the commit',
    'in conflict',
    'still in progress',
    'throttled',
    'cancelled without reasons',
    'a read dropped',
    'a read but for its last key',
  ].includes(name),
);
