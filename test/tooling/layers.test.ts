import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

/** Cruises a small tree, planted with the imports below, by the repository's own rules. */

const REPOSITORY = join(import.meta.dirname, '..', '..');
const CRUISER = join(REPOSITORY, 'node_modules/dependency-cruiser/bin/dependency-cruise.mjs');

/** Rule that must be broken, the importing file, and the import that breaks it. */
const FORBIDDEN: readonly (readonly [rule: string, file: string, statement: string])[] = [
  ['L0-imports-nothing-above-it', 'src/ledger/integers.ts', `import '../config.ts';`],
  ['L1-imports-nothing-above-it', 'src/ledger/charge.ts', `import type { a } from './store.ts';`],
  ['L1-imports-nothing-above-it', 'src/ledger/states.ts', `import '../observability/logger.ts';`],
  ['shared-imports-nothing-above-it', 'src/auth/viewer.ts', `import '../ledger/store.ts';`],
  ['L2-imports-nothing-above-it', 'src/stripe/adapter.ts', `import '../ledger/operations/refund.ts';`],
  ['L3-imports-nothing-above-it', 'src/ledger/operations/top-up.ts', `import '../../schema/builder.ts';`],
  ['L4-imports-nothing-above-it', 'src/fulfilment/loop.ts', `import '../app.ts';`],
  ['every-file-has-a-layer', 'src/helpers/strings.ts', `import '../ledger/money.ts';`],
  ['source-stands-alone', 'src/worker.ts', `import '../dev/seed.ts';`],
  ['pure-core-takes-time-and-ids', 'src/ledger/entry.ts', `import { a } from './clock.ts';`],
  ['pure-core-takes-time-and-ids', 'src/ledger/orders/order.ts', `import { a } from '../ids.ts';`],
  ['pure-core-uses-no-package', 'src/ledger/posting.ts', `import 'zod';`],
  ['pure-core-does-no-io', 'src/ledger/keys.ts', `import 'node:fs';`],
  ['pure-core-does-no-io', 'src/ledger/marker.ts', `import 'node:crypto';`],
  ['hashing-and-ids-use-crypto-alone', 'src/ledger/fingerprint.ts', `import 'node:os';`],
  ['edges-use-operations-not-stores', 'src/resolvers/charge.ts', `import '../ledger/store.ts';`],
  [
    'edges-use-operations-not-stores',
    'src/schema/context.ts',
    `import type { a } from '../ledger/store.ts';`,
  ],
  ['edges-know-the-provider-as-a-type', 'src/webhooks/stripe.ts', `import '../stripe/port.ts';`],
  ['aws-sdk-in-executors-only', 'src/ledger/balance.ts', `import '@aws-sdk/client-dynamodb';`],
  [
    'aws-sdk-types-in-the-ledger-only',
    'src/resolvers/order.ts',
    `import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';`,
  ],
  ['stripe-has-one-home', 'src/webhooks/verify.ts', `import type Stripe from 'stripe';`],
  ['decimal.js-has-one-home', 'src/ledger/split.ts', `import type { Decimal } from 'decimal.js';`],
  ['ulid-has-one-home', 'src/ledger/operations/charge.ts', `import 'ulid';`],
  ['pino-has-one-home', 'src/app.ts', `import 'pino';`],
  ['no-cycles', 'src/resolvers/cycle-a.ts', `import './cycle-b.ts';`],
  ['every-import-resolves', 'src/server.ts', `import './gone.ts';`],
  ['no-development-packages-in-source', 'src/cli/audit.ts', `import 'fast-check';`],
  ['no-orphans', 'src/ledger/unused.ts', `export const b = 1;`],
];

/** What the layers are for: these imports break nothing. */
const ALLOWED: readonly (readonly [file: string, statement: string])[] = [
  ['src/ledger/money.ts', `import 'decimal.js';`],
  ['src/ledger/ids.ts', `import 'ulid'; import 'node:crypto';`],
  ['src/ledger/builders.ts', `import './money.ts'; import type { a } from './clock.ts';`],
  ['src/ledger/attributes.ts', `import type { AttributeValue } from '@aws-sdk/client-dynamodb';`],
  [
    'src/ledger/store.ts',
    `import '@aws-sdk/client-dynamodb'; import './builders.ts'; import '../observability/logger.ts';`,
  ],
  [
    'src/ledger/operations/refund.ts',
    `import '../store.ts'; import '../ids.ts'; import '../../stripe/port.ts';`,
  ],
  ['src/stripe/port.ts', `import 'stripe';`],
  ['src/realtime/relay-shards.ts', `import '@aws-sdk/client-dynamodb-streams'; import './redis-bus.ts';`],
  ['src/realtime/redis-bus.ts', `import 'ioredis';`],
  ['src/realtime/sources.ts', `import './redis-bus.ts'; import '../ledger/operations/refund.ts';`],
  [
    'src/webhooks/route.ts',
    `import type { a } from '../stripe/port.ts'; import '../ledger/operations/refund.ts';`,
  ],
  ['src/schema/builder.ts', `import '../ledger/money.ts';`],
  ['src/observability/logger.ts', `import 'pino';`],
  ['src/relay.ts', `import './realtime/relay-shards.ts'; import './config.ts'; import './ledger/store.ts';`],
  ['dev/seed.ts', `import 'stripe'; import '../src/relay.ts';`],
];

const SUPPORT: readonly (readonly [file: string, statement: string])[] = [
  ['src/resolvers/cycle-b.ts', `import './cycle-a.ts';`],
  ['src/config.ts', `import 'zod';`],
  ['src/ledger/clock.ts', ''],
];

interface CruiseResult {
  readonly summary: {
    readonly violations: readonly { readonly from: string; readonly rule: { readonly name: string } }[];
  };
}

let tree: string;
let broken: ReadonlyMap<string, readonly string[]>;

beforeAll(async () => {
  tree = await mkdtemp(join(tmpdir(), 'layers-'));
  await symlink(join(REPOSITORY, 'node_modules'), join(tree, 'node_modules'));
  await symlink(join(REPOSITORY, 'package.json'), join(tree, 'package.json'));
  const files = [
    ...FORBIDDEN.map(([, file, statement]) => [file, statement] as const),
    ...ALLOWED,
    ...SUPPORT,
  ];
  for (const [file, statement] of files) {
    await mkdir(dirname(join(tree, file)), { recursive: true });
    await writeFile(join(tree, file), `${statement}\nexport const a = 1;\n`);
  }
  const config = join(REPOSITORY, '.dependency-cruiser.cjs');
  const args = [CRUISER, '--config', config, '--output-type', 'json', 'src', 'dev'];
  const { stdout } = await promisify(execFile)(process.execPath, args, {
    cwd: tree,
    maxBuffer: 64 * 1024 * 1024,
  });
  // The cruiser's documented JSON output; the test fails anyhow if it has another shape.
  const { violations } = (JSON.parse(stdout) as CruiseResult).summary;
  const byFile = new Map<string, string[]>();
  for (const { from, rule } of violations) byFile.set(from, [...(byFile.get(from) ?? []), rule.name]);
  broken = byFile;
}, 60_000);

afterAll(async () => {
  await rm(tree, { recursive: true, force: true });
});

describe('the layer rules', () => {
  it.each(FORBIDDEN)('%s: %s', (rule, file) => {
    expect(broken.get(file) ?? []).toContain(rule);
  });

  it.each(ALLOWED)('let %s have its imports', (file) => {
    expect(broken.get(file) ?? []).toEqual([]);
  });
});
