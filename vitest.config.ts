import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Suites that only the named npm script runs: some need a program that `npm test` must not ask for, and those that start and
 * kill whole processes under load take long. CI runs all but the soaks.
 */
const ON_DEMAND = ['kills', 'prove', 'alerts', 'redis', 'proxies', 'browser', 'soak'] as const;

/** DynamoDB Local takes several times as long as Dynoxide for the same transactions. */
const ENGINE_TIMEOUT_MS = process.env['TEST_ENGINE'] === 'dynamodb-local' ? 180_000 : 30_000;

/** The longest files, by the end of their names: they begin first, so that none of them runs alone at the end. */
const LONGEST = [
  'ledger.property.test.ts',
  'tooling/start.test.ts',
  'provider-operations.test.ts',
  'command-lines.test.ts',
  'ledger-operations.test.ts',
  'migrations/walk.test.ts',
  'many-workers.test.ts',
  'operator-operations.test.ts',
  'killed-worker.test.ts',
  'audit-command.test.ts',
  'audit-beside-traffic.test.ts',
];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => {
      const place = LONGEST.findIndex((name) => moduleId.endsWith(name));
      return place === -1 ? LONGEST.length : place;
    };
    return (await super.sort(files)).sort((one, other) => rank(one) - rank(other));
  }
}

export default defineConfig({
  resolve: {
    // graphql ships CommonJS and ES modules: without one name for both it loads twice ("from another module or realm").
    alias: [{ find: /^graphql$/, replacement: 'graphql/index.js' }],
  },
  test: {
    reporters: ['default', 'json'],
    outputFile: { json: '.test-results/latest.json' },
    pool: 'forks',
    // Loading the SDKs and the schema costs more than most files' tests; every file makes its own table and servers.
    isolate: false,
    maxWorkers: 2,
    sequence: { sequencer: LongestFirst },
    env: {
      // Its notice about Node 20; our versions are pinned to releases that support it.
      AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true',
    },
    projects: [
      {
        extends: true,
        test: { name: 'unit', include: ['test/{unit,tooling,stripe-simulator}/**/*.test.ts'] },
      },
      {
        extends: true,
        test: {
          name: 'engine',
          include: ['test/{integration,property,e2e}/**/*.test.ts'],
          globalSetup: ['test/support/engine-setup.ts'],
          testTimeout: ENGINE_TIMEOUT_MS,
          hookTimeout: ENGINE_TIMEOUT_MS,
        },
      },
      ...ON_DEMAND.map((name) => ({
        extends: true as const,
        test: {
          name,
          include: [`test/${name}/**/*.test.ts`],
          globalSetup: [
            // A proof starts an engine of its own, and alert rules need none.
            ...(name === 'prove' || name === 'alerts' ? [] : ['test/support/engine-setup.ts']),
            ...(name === 'redis' ? ['test/support/redis-setup.ts'] : []),
          ],
          testTimeout: name === 'soak' ? 30 * 60_000 : 60_000,
          hookTimeout: 60_000,
        },
      })),
    ],
  },
});
