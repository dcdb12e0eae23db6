import { defineConfig, globalIgnores } from 'eslint/config';
import regexp from 'eslint-plugin-regexp';
import tseslint from 'typescript-eslint';

/** What exists once: elsewhere take a clock, an id maker or the config as an argument (docs/DESIGN.md §2). */
const ONE_HOME = {
  clock: {
    property: {
      object: 'Date',
      property: 'now',
      message: 'Take a clock as an argument; its home is src/ledger/kernel/clock.ts.',
    },
    syntax: {
      selector: "NewExpression[callee.name='Date'][arguments.length=0]",
      message: 'Take a clock as an argument; its home is src/ledger/kernel/clock.ts.',
    },
  },
  randomness: {
    property: {
      object: 'Math',
      property: 'random',
      message: 'Take an id maker as an argument; its home is src/ledger/kernel/ids.ts.',
    },
  },
  environment: {
    property: {
      object: 'process',
      property: 'env',
      message: 'Take the config as an argument; its home is src/config/config.ts.',
    },
  },
};

const PARSE_FLOAT = [
  { name: 'parseFloat', message: 'Amounts are decimals (src/ledger/kernel/money.ts), never floats.' },
];

/** The rules of the homes, but for those that live in the files that a block is for. */
function homesExcept(...names) {
  const homes = Object.entries(ONE_HOME)
    .filter(([name]) => !names.includes(name))
    .map(([, home]) => home);
  const parseFloatProperty = { object: 'Number', property: 'parseFloat', message: PARSE_FLOAT[0].message };
  return {
    'no-restricted-properties': ['error', ...homes.map((home) => home.property), parseFloatProperty],
    'no-restricted-syntax': ['error', ...homes.flatMap((home) => home.syntax ?? [])],
  };
}

export default defineConfig(
  globalIgnores(['node_modules/', 'dist/', 'coverage/', '.data/', '.test-results/']),
  { linterOptions: { reportUnusedDisableDirectives: 'error' } },
  {
    // A pattern that takes more than linear time on a client's text stops the process for everybody.
    ...regexp.configs['flat/recommended'],
    rules: {
      ...regexp.configs['flat/recommended'].rules,
      // What a pattern takes stands in it, also where a shorter way exists.
      'regexp/no-obscure-range': 'off',
      'regexp/no-unused-capturing-group': 'off',
      'regexp/prefer-predefined-assertion': 'off',
      'regexp/prefer-w': 'off',
      'regexp/use-ignore-case': 'off',
    },
  },
  { files: ['src/**/*.ts', 'dev/**/*.ts'], rules: { 'regexp/no-super-linear-move': 'error' } },
  {
    files: ['**/*.ts'],
    extends: [tseslint.configs.strictTypeChecked, tseslint.configs.stylisticTypeChecked],
    languageOptions: { parserOptions: { project: './tsconfig.json', tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/explicit-module-boundary-types': 'error',
      '@typescript-eslint/no-import-type-side-effects': 'error',
      '@typescript-eslint/no-shadow': 'error',
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/strict-boolean-expressions': ['error', { allowString: false, allowNumber: false }],
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: false, requireDefaultForNonUnion: true },
      ],
      eqeqeq: 'error',
      'max-lines': ['error', { max: 320, skipBlankLines: true, skipComments: true }],
      'max-lines-per-function': ['error', { max: 60, skipBlankLines: true, skipComments: true }],
      'no-console': 'error',
      'no-restricted-globals': ['error', ...PARSE_FLOAT],
      'object-shorthand': 'error',
      'prefer-const': 'error',
      ...homesExcept(),
    },
  },
  { files: ['src/ledger/kernel/clock.ts'], rules: homesExcept('clock') },
  { files: ['src/ledger/kernel/ids.ts'], rules: homesExcept('randomness') },
  { files: ['src/config/config.ts'], rules: homesExcept('environment') },
  { files: ['src/cli/**/*.ts'], rules: { 'no-console': 'off' } },
  // Outside src/ nothing handles real money. The environment is read by command lines and by what sets tests up.
  { files: ['test/**/*.ts'], rules: { 'no-console': 'off', ...homesExcept('clock') } },
  {
    files: ['dev/**/*.ts', 'scripts/**/*.ts', 'bench/**/*.ts', 'test/support/**/*.ts', '*.ts'],
    rules: { 'no-console': 'off', ...homesExcept('clock', 'environment') },
  },
  {
    files: ['test/**/*.ts', 'bench/**/*.ts'],
    rules: {
      'max-lines-per-function': 'off',
      'max-lines': ['error', 400],
    },
  },
  {
    // Plain JavaScript: config files, and scripts that run before anything is installed.
    files: ['**/*.{js,mjs,cjs}'],
    extends: [tseslint.configs.strict, tseslint.configs.stylistic],
    rules: { '@typescript-eslint/no-require-imports': 'off' },
  },
);
