'use strict';

const { join } = require('node:path');

/**
 * The layers of docs/DESIGN.md §2. A file imports its own layer or a lower one; what the core's files are is listed here by name,
 * so that moving one to another layer is a decision that a reviewer sees. Any other file directly in src/ledger/, and its pure rooms,
 * are L1.
 */
const L0 = ['money', 'currencies', 'integers', 'clock', 'ids'];
const L2 = ['dynamodb', 'transact', 'store', 'table', '[^/]+-store', 'read-[^/]+'];

const ledger = (names) => `^src/ledger/(${names.join('|')})\\.ts$`;
const BUS = '^src/realtime/[^/]*bus\\.ts$';
const RELAY = '^src/realtime/relay[^/]*\\.ts$';

/** Lowest first. A file belongs to the first layer that matches it. */
const LAYERS = [
  { name: 'L0', paths: [ledger(L0)] },
  {
    name: 'L1',
    paths: [
      `^src/ledger/(?!(${[...L0, ...L2].join('|')})\\.ts$)[^/]+\\.ts$`,
      '^src/ledger/(orders|provider|audit)/',
    ],
  },
  // What every layer above the pure core may use: it knows nothing of orders.
  {
    name: 'shared',
    paths: ['^src/(auth|observability)/', '^src/(config[^/]*|tenants|load-tenants|urls|return-urls)\\.ts$'],
  },
  { name: 'L2', paths: [ledger(L2), '^src/stripe/', BUS, RELAY] },
  { name: 'L3', paths: ['^src/ledger/operations/', '^src/migrations/'] },
  {
    name: 'L4',
    paths: [
      '^src/(schema|resolvers|transport|webhooks|fulfilment)/',
      '^src/realtime/(?![^/]*bus\\.ts$|relay[^/]*\\.ts$)',
    ],
  },
  { name: 'L5', paths: ['^src/(app|compose-ledger|listen|server|worker|relay)\\.ts$', '^src/cli/'] },
];

const layer = (name) => LAYERS.find((one) => one.name === name).paths;
const npm = (name) => `(^|/)node_modules/${name}/`;

const upward = LAYERS.slice(0, -1).map(({ name, paths }, rank) => ({
  name: `${name}-imports-nothing-above-it`,
  severity: 'error',
  from: { path: paths },
  to: { path: LAYERS.slice(rank + 1).flatMap((above) => above.paths) },
}));

/** An npm package that one room may import, and nobody else under src/. */
const packageHome = (name, home, pattern = npm(name)) => ({
  name: `${name}-has-one-home`,
  severity: 'error',
  from: { path: '^src/', pathNot: home },
  to: { path: pattern },
});

module.exports = {
  forbidden: [
    ...upward,
    {
      name: 'every-file-has-a-layer',
      comment: 'A new room of src/ gets its layer above.',
      severity: 'error',
      from: { path: '^src/', pathNot: LAYERS.flatMap(({ paths }) => paths) },
      to: {},
    },
    {
      name: 'source-stands-alone',
      comment: 'Development tools and tests use the product, never the other way round.',
      severity: 'error',
      from: { path: '^src/' },
      to: { path: '^(dev|test|bench|scripts)/' },
    },
    {
      name: 'pure-core-takes-time-and-ids',
      comment: 'L1 gets instants and ids as arguments; types of clock and ids are fine.',
      severity: 'error',
      from: { path: layer('L1') },
      to: { path: ledger(['clock', 'ids']), dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'pure-core-uses-no-package',
      severity: 'error',
      from: { path: layer('L1') },
      to: { path: '(^|/)node_modules/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'pure-core-does-no-io',
      comment: 'Hashing is the one thing that the core takes from Node.',
      severity: 'error',
      from: { path: [...layer('L0'), ...layer('L1')], pathNot: ledger(['fingerprint', 'ids']) },
      to: { dependencyTypes: ['core'], dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'hashing-and-ids-use-crypto-alone',
      severity: 'error',
      from: { path: ledger(['fingerprint', 'ids']) },
      to: { dependencyTypes: ['core'], pathNot: '^(node:)?crypto$' },
    },
    {
      name: 'edges-use-operations-not-stores',
      comment: 'L4 calls operations. The table and the SDK are beneath them.',
      severity: 'error',
      from: { path: layer('L4') },
      to: { path: ledger(L2) },
    },
    {
      name: 'edges-know-the-provider-as-a-type',
      comment: 'The adapter reaches L4 as an argument.',
      severity: 'error',
      from: { path: layer('L4') },
      to: { path: '^src/stripe/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'aws-sdk-in-executors-only',
      comment: 'Types of the SDK are data, and the pure builders may speak of them.',
      severity: 'error',
      from: { path: '^src/', pathNot: [ledger(L2), RELAY] },
      to: { path: npm('@aws-sdk'), dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'aws-sdk-types-in-the-ledger-only',
      severity: 'error',
      from: { path: '^src/', pathNot: ['^src/ledger/(?!operations/)', RELAY] },
      to: { path: npm('@aws-sdk') },
    },
    packageHome('stripe', '^src/stripe/'),
    packageHome('decimal.js', ledger(['money']), npm('decimal\\.js')),
    packageHome('ulid', ledger(['ids'])),
    packageHome('pino', '^src/observability/'),
    {
      name: 'no-cycles',
      comment: 'Cycles of types alone do no harm at run time.',
      severity: 'error',
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
    {
      name: 'every-import-resolves',
      severity: 'error',
      from: {},
      // A package of types alone has no main, so there is nothing for the resolver to find.
      to: { couldNotResolve: true, pathNot: '^@graphql-typed-document-node/core$' },
    },
    {
      name: 'no-development-packages-in-source',
      severity: 'error',
      from: { path: '^src/' },
      to: { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'no-orphans',
      comment: 'Nothing imports it, and it imports nothing: delete it.',
      severity: 'error',
      from: { orphan: true, path: '^src/' },
      to: {},
    },
  ],
  options: {
    tsConfig: { fileName: join(__dirname, 'tsconfig.json') },
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'types', 'default'],
    },
  },
};
