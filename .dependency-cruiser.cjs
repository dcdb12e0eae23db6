'use strict';

const { join } = require('node:path');

/**
 * The layers of docs/ARCHITECTURE.md, as folders. A file imports its own layer or a lower one, types included. A new room of
 * src/ gets its layer here, so that a reviewer sees the decision.
 */
const LAYERS = [
  { name: 'L0', paths: ['^src/ledger/kernel/'] },
  // Pure: decisions, item codecs, and what must hold of everything in the table.
  { name: 'L1', paths: ['^src/ledger/(model|items|audit)/'] },
  // What every layer above the pure core may use: it knows nothing of the table.
  { name: 'shared', paths: ['^src/(auth|config|observability)/'] },
  { name: 'L2', paths: ['^src/ledger/table/', '^src/provider/', '^src/realtime/(bus|relay)/'] },
  { name: 'L3', paths: ['^src/ledger/usecases/', '^src/migrations/'] },
  {
    name: 'L4',
    paths: [
      '^src/(schema|resolvers|transport|webhooks|fulfilment)/',
      '^src/realtime/sockets/',
      '^src/realtime/[^/]+\\.ts$',
    ],
  },
  { name: 'L5', paths: ['^src/(main|cli)/', '^src/[^/]+\\.ts$'] },
];

const layer = (name) => LAYERS.find((one) => one.name === name).paths;
const npm = (name) => `(^|/)node_modules/${name}/`;
const kernel = (...names) => `^src/ledger/kernel/(${names.join('|')})\\.ts$`;

const TABLE = '^src/ledger/table/';
const RELAY = '^src/realtime/relay/';

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
      name: 'model-knows-no-items',
      comment: 'What an order may become has nothing to do with how it is stored.',
      severity: 'error',
      from: { path: '^src/ledger/model/' },
      to: { path: '^src/ledger/(items|audit)/' },
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
      to: { path: kernel('clock', 'ids'), dependencyTypesNot: ['type-only'] },
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
      from: { path: [...layer('L0'), ...layer('L1')], pathNot: kernel('fingerprint', 'ids') },
      to: { dependencyTypes: ['core'], dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'hashing-and-ids-use-crypto-alone',
      severity: 'error',
      from: { path: kernel('fingerprint', 'ids') },
      to: { dependencyTypes: ['core'], pathNot: '^(node:)?crypto$' },
    },
    {
      name: 'edges-use-usecases-not-the-table',
      comment: 'L4 calls use cases. The table and the SDK are beneath them.',
      severity: 'error',
      from: { path: layer('L4') },
      to: { path: TABLE },
    },
    {
      name: 'edges-know-the-provider-as-a-type',
      comment: 'The adapter reaches L4 as an argument.',
      severity: 'error',
      from: { path: layer('L4') },
      to: { path: '^src/provider/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'aws-sdk-in-executors-only',
      comment: 'Types of the SDK are data, and the pure builders may speak of them.',
      severity: 'error',
      from: { path: '^src/', pathNot: [TABLE, RELAY] },
      to: { path: npm('@aws-sdk'), dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'aws-sdk-types-in-the-ledger-only',
      severity: 'error',
      from: { path: '^src/', pathNot: ['^src/ledger/(kernel|model|items|audit|table)/', RELAY] },
      to: { path: npm('@aws-sdk') },
    },
    packageHome('stripe', '^src/provider/stripe/'),
    packageHome('decimal.js', kernel('money'), npm('decimal\\.js')),
    packageHome('ulid', kernel('ids')),
    packageHome('pino', '^src/observability/'),
    {
      name: 'no-cycles',
      comment: 'Cycles of types alone are cycles too: neither file can be understood without the other.',
      severity: 'error',
      from: {},
      to: { circular: true },
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
