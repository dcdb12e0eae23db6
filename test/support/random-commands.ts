import fc from 'fast-check';
import { MODEL_TENANTS } from './model-run.ts';

/** What a sequence is made of. Indexes point at what is there by then, counted round. */
export type Command =
  | { readonly kind: 'open'; readonly account: number; readonly amount: number }
  | {
      readonly kind: 'openWithCode';
      readonly account: number;
      readonly amount: number;
      readonly fresh: boolean;
    }
  | { readonly kind: 'sell'; readonly sku: number; readonly price: number; readonly active: boolean }
  | { readonly kind: 'buy'; readonly account: number; readonly sku: number; readonly quantity: number }
  | {
      readonly kind: 'charge';
      readonly order: number;
      readonly likely: boolean;
      readonly asset: number;
      readonly byTerminal: boolean;
    }
  | { readonly kind: 'cash'; readonly account: number; readonly asset: number; readonly amount: number }
  | { readonly kind: 'adjust'; readonly account: number; readonly asset: number; readonly amount: number }
  | {
      readonly kind: 'refund';
      readonly order: number;
      readonly likely: boolean;
      readonly amount: number | undefined;
    }
  | { readonly kind: 'cancel'; readonly order: number }
  /** An earlier request once more, under its key. */
  | { readonly kind: 'repeat'; readonly request: number; readonly padded: boolean }
  /** Another request under the key of an earlier one. */
  | { readonly kind: 'reuse'; readonly request: number }
  | { readonly kind: 'wait'; readonly minutes: number };

export function mostly(value: boolean): fc.Arbitrary<boolean> {
  return fc.oneof(
    { weight: 4, arbitrary: fc.constant(value) },
    { weight: 1, arbitrary: fc.constant(!value) },
  );
}

/** Whether an order is picked for which the command is likely to succeed. */
export const likely = mostly(true);
export const index = fc.nat({ max: 30 });
export const account = fc.nat({ max: 1 });
export const asset = fc.oneof(
  { weight: 6, arbitrary: fc.constant(0) },
  { weight: 3, arbitrary: fc.nat({ max: 2 }) },
);
export const amount = fc.oneof(
  { weight: 8, arbitrary: fc.integer({ min: 1, max: 900 }) },
  { weight: 2, arbitrary: fc.integer({ min: 20_000, max: 120_000 }) },
);

export const command: fc.Arbitrary<Command> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('open' as const), account, amount }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('openWithCode' as const),
      account,
      amount,
      fresh: fc.boolean(),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('sell' as const),
      sku: account,
      price: amount,
      active: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('buy' as const),
      account,
      sku: account,
      quantity: fc.integer({ min: 1, max: 4 }),
    }),
  },
  {
    weight: 7,
    arbitrary: fc.record({
      kind: fc.constant('charge' as const),
      likely,
      order: index,
      asset,
      byTerminal: mostly(false),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('cash' as const), account, asset, amount }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('adjust' as const),
      account,
      asset,
      amount: fc.tuple(amount, fc.boolean()).map(([size, below]) => (below ? -size : size)),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('refund' as const),
      likely,
      order: index,
      amount: fc.option(amount, { nil: undefined }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('cancel' as const), order: index }) },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('repeat' as const), request: index, padded: fc.boolean() }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('reuse' as const), request: index }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('wait' as const),
      minutes: fc.constantFrom(1, 6, 60 * 24 * 89, 60 * 24 * 91),
    }),
  },
);

export const START: readonly Command[] = [0, 1].map((which) => ({
  kind: 'adjust',
  account: which,
  asset: 0,
  amount: 3_000,
}));

/** Each begins with some money, so that there is something to get wrong. */
export const sequence = fc.record({
  tenant: fc.nat({ max: MODEL_TENANTS.length - 1 }),
  commands: fc
    .array(command, { minLength: 6, maxLength: 18, size: 'max' })
    .map((commands): readonly Command[] => [...START, ...commands]),
});
