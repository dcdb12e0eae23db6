import { GraphQLScalarType, Kind, type ValueNode } from 'graphql';
import { isoInstant, parseInstantMs } from '../ledger/kernel/clock.ts';
import { parseDecimal } from '../ledger/kernel/money.ts';
import { isIdempotencyKey } from '../ledger/usecases/runtime/idempotency.ts';
import { builder } from './builder.ts';
import { badRequest } from './errors.ts';

/** A scalar that is a string on the wire, in variables and in literals alike: a JSON number is refused before it can round. */
function textScalar<Value>(options: {
  readonly name: string;
  readonly description: string;
  /** What it takes, to complete "Decimal takes …". A refused value is never repeated. */
  readonly takes: string;
  readonly read: (text: string) => Value | undefined;
  readonly print: (value: unknown) => string;
}): GraphQLScalarType<Value, string> {
  const { name, description, takes, read, print } = options;
  const parse = (text: unknown, node?: ValueNode): Value => {
    const value = typeof text === 'string' ? read(text) : undefined;
    if (value === undefined) throw badRequest(`${name} takes ${takes}.`, node && { nodes: node });
    return value;
  };
  return new GraphQLScalarType<Value, string>({
    name,
    description,
    parseValue: (text) => parse(text),
    parseLiteral: (node: ValueNode) => parse(node.kind === Kind.STRING ? node.value : undefined, node),
    serialize: print,
  });
}

function asText(value: unknown): string {
  if (typeof value !== 'string') throw new TypeError('a scalar of text got something else');
  return value;
}

builder.addScalarType(
  'Decimal',
  textScalar({
    name: 'Decimal',
    description:
      'An exact decimal in plain notation, as a string: "1200", "0.01". JSON numbers, exponents, a leading "+", "NaN" and ' +
      '"Infinity" are refused.\nOutput has the full scale of its asset or currency (JPY "480", USD "4.80"). Clients map it to ' +
      'a big decimal or a string, never to a float.',
    takes: 'a string in plain decimal notation of at most 38 digits, such as "1200" or "0.01"',
    read: (text) => (parseDecimal(text) === undefined ? undefined : text),
    print: asText,
  }),
);

const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,3})?Z$/;

builder.addScalarType(
  'DateTime',
  textScalar({
    name: 'DateTime',
    description: 'An instant in UTC, ISO 8601 with milliseconds: "2026-11-30T03:04:05.678Z".',
    takes: 'an instant in UTC such as "2026-11-30T03:04:05.678Z"',
    read: readInstant,
    print: (value) => {
      if (typeof value !== 'number') throw new TypeError('an instant is a number of milliseconds');
      return isoInstant(value);
    },
  }),
);

/** Date.parse turns the 30th of February into a day of March: only what prints the same again is an instant. */
function readInstant(text: string): number | undefined {
  const atMs = INSTANT.test(text) ? parseInstantMs(text) : undefined;
  if (atMs === undefined) return undefined;
  return isoInstant(atMs).slice(0, 19) === text.slice(0, 19) ? atMs : undefined;
}

builder.addScalarType(
  'IdempotencyKey',
  textScalar({
    name: 'IdempotencyKey',
    description:
      '1 to 255 visible ASCII characters (U+0021 to U+007E), made by the client once per intent and reused on every retry of ' +
      'it. A UUID is ideal.',
    takes: '1 to 255 visible ASCII characters',
    read: (text) => (isIdempotencyKey(text) ? text : undefined),
    print: asText,
  }),
);
