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
  ['L0-imports-nothing-above-it', 'src/ledger/kernel/integers.ts', `import '../../config/config.ts';`],
  [
    'L1-imports-nothing-above-it',
    'src/ledger/model/charge.ts',
    `import type { a } from '../table/store.ts';`,
  ],
  ['L1-imports-nothing-above-it', 'src/ledger/audit/states.ts', `import '../../observability/logger.ts';`],
  ['L1-imports-nothing-above-it', 'src/ledger/items/read-x.ts', `import '../table/store.ts';`],
  ['shared-imports-nothing-above-it', 'src/auth/viewer.ts', `import '../ledger/table/store.ts';`],
  [
    'L2-imports-nothing-above-it',
    'src/provider/stripe/calls.ts',
    `import '../../ledger/usecases/commands/refund.ts';`,
  ],
  [
    'L3-imports-nothing-above-it',
    'src/ledger/usecases/commands/top-up.ts',
    `import '../../../schema/builder.ts';`,
  ],
  ['L4-imports-nothing-above-it', 'src/fulfilment/loop.ts', `import '../main/app.ts';`],
  ['every-file-has-a-layer', 'src/helpers/strings.ts', `import '../ledger/kernel/money.ts';`],
  ['every-file-has-a-layer', 'src/ledger/read-x.ts', `import './kernel/money.ts';`],
  [
    'model-knows-no-items',
    'src/ledger/model/orders/due.ts',
    `import type { a } from '../../items/builders.ts';`,
  ],
  ['source-stands-alone', 'src/worker.ts', `import '../dev/seed.ts';`],
  ['pure-core-takes-time-and-ids', 'src/ledger/model/entry.ts', `import { a } from '../kernel/clock.ts';`],
  [
    'pure-core-takes-time-and-ids',
    'src/ledger/model/orders/order.ts',
    `import { a } from '../../kernel/ids.ts';`,
  ],
  ['pure-core-uses-no-package', 'src/ledger/items/posting.ts', `import 'zod';`],
  ['pure-core-does-no-io', 'src/ledger/kernel/keys.ts', `import 'node:fs';`],
  ['pure-core-does-no-io', 'src/ledger/items/event-item.ts', `import 'node:crypto';`],
  ['hashing-and-ids-use-crypto-alone', 'src/ledger/kernel/fingerprint.ts', `import 'node:os';`],
  ['edges-use-usecases-not-the-table', 'src/resolvers/charge.ts', `import '../ledger/table/store.ts';`],
  [
    'edges-use-usecases-not-the-table',
    'src/schema/context.ts',
    `import type { a } from '../ledger/table/store.ts';`,
  ],
  ['edges-know-the-provider-as-a-type', 'src/webhooks/stripe.ts', `import '../provider/port.ts';`],
  ['aws-sdk-in-executors-only', 'src/ledger/items/balance.ts', `import '@aws-sdk/client-dynamodb';`],
  [
    'aws-sdk-in-executors-only',
    'src/ledger/usecases/queries/read-x.ts',
    `import '@aws-sdk/client-dynamodb';`,
  ],
  [
    'aws-sdk-types-in-the-ledger-only',
    'src/resolvers/order.ts',
    `import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';`,
  ],
  ['stripe-has-one-home', 'src/webhooks/verify.ts', `import type Stripe from 'stripe';`],
  ['stripe-has-one-home', 'src/provider/calls.ts', `import 'stripe';`],
  ['decimal.js-has-one-home', 'src/ledger/kernel/split.ts', `import type { Decimal } from 'decimal.js';`],
  ['ulid-has-one-home', 'src/ledger/usecases/commands/charge.ts', `import 'ulid';`],
  ['pino-has-one-home', 'src/main/app.ts', `import 'pino';`],
  ['no-cycles', 'src/resolvers/cycle-a.ts', `import './cycle-b.ts';`],
  ['every-import-resolves', 'src/server.ts', `import './gone.ts';`],
  ['no-development-packages-in-source', 'src/cli/audit.ts', `import 'fast-check';`],
  ['no-orphans', 'src/ledger/kernel/unused.ts', `export const b = 1;`],
];

/** What the layers are for: these imports break nothing. */
const ALLOWED: readonly (readonly [file: string, statement: string])[] = [
  ['src/ledger/kernel/money.ts', `import 'decimal.js';`],
  ['src/ledger/kernel/ids.ts', `import 'ulid'; import 'node:crypto';`],
  [
    'src/ledger/items/builders.ts',
    `import '../kernel/money.ts'; import type { a } from '../kernel/clock.ts'; import '../model/orders/order.ts';`,
  ],
  ['src/ledger/model/orders/states.ts', `import '../../kernel/money.ts';`],
  ['src/ledger/kernel/attributes.ts', `import type { AttributeValue } from '@aws-sdk/client-dynamodb';`],
  [
    'src/ledger/table/store.ts',
    `import '@aws-sdk/client-dynamodb'; import '../items/builders.ts'; import '../../observability/logger.ts';`,
  ],
  [
    'src/ledger/usecases/commands/refund.ts',
    `import '../../table/store.ts'; import '../../kernel/ids.ts'; import '../../../provider/port.ts';`,
  ],
  ['src/provider/port.ts', `import './stripe/adapter.ts';`],
  ['src/provider/stripe/adapter.ts', `import 'stripe';`],
  [
    'src/realtime/relay/shards.ts',
    `import '@aws-sdk/client-dynamodb-streams'; import '../bus/redis-bus.ts';`,
  ],
  ['src/realtime/bus/redis-bus.ts', `import 'ioredis';`],
  ['src/realtime/sources.ts', `import './bus/redis-bus.ts'; import '../ledger/usecases/commands/refund.ts';`],
  [
    'src/webhooks/route.ts',
    `import type { a } from '../provider/port.ts'; import '../ledger/usecases/commands/refund.ts';`,
  ],
  ['src/schema/builder.ts', `import '../ledger/kernel/money.ts';`],
  ['src/observability/logger.ts', `import 'pino';`],
  [
    'src/relay.ts',
    `import './realtime/relay/shards.ts'; import './config/config.ts'; import './ledger/table/store.ts';`,
  ],
  ['dev/seed.ts', `import 'stripe'; import '../src/relay.ts';`],
];

const SUPPORT: readonly (readonly [file: string, statement: string])[] = [
  ['src/resolvers/cycle-b.ts', `import './cycle-a.ts';`],
  ['src/config/config.ts', `import 'zod';`],
  ['src/ledger/kernel/clock.ts', ''],
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
