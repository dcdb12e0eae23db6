import type { InputFieldMap, InputShapeFromFields } from '@pothos/core';
import type { Permission } from '../auth/permissions.ts';
import type { Viewer } from '../auth/viewer.ts';
import type { Ledger } from '../ledger/usecases/runtime/ledger.ts';
import { type BuilderTypes, builder } from '../schema/builder.ts';
import { type OutcomeOfOperation, runOperation } from './run-operation.ts';

type ArgumentBuilder = PothosSchemaTypes.MutationFieldBuilder<BuilderTypes, BuilderTypes['Root']>['arg'];

interface Mutation<Args extends InputFieldMap, Outcome extends OutcomeOfOperation> {
  readonly description: string;
  /** What the viewer's role must be allowed, whatever the object; else FORBIDDEN. */
  readonly permission: Permission | ((args: InputShapeFromFields<NoInfer<Args>>) => Permission);
  readonly args: (arg: ArgumentBuilder) => Args;
  readonly result: PothosSchemaTypes.UnionRef<BuilderTypes, Outcome>;
  readonly run: (
    ledger: Ledger,
    viewer: Viewer,
    args: InputShapeFromFields<NoInfer<Args>>,
  ) => Promise<NoInfer<Outcome>>;
}

/** Declares a mutation that answers a result union. It is counted and logged under its name. */
export function mutation<Args extends InputFieldMap, Outcome extends OutcomeOfOperation>(
  name: string,
  { description, permission, result, args, run }: Mutation<Args, Outcome>,
): void {
  // An object whatever it is, and never a list, which Pothos can't tell of a type parameter.
  const type: PothosSchemaTypes.UnionRef<BuilderTypes, OutcomeOfOperation> = result;
  builder.mutationField(name, (t) =>
    t.field({
      type,
      description,
      authScopes: (_root, given) => ({
        permission: typeof permission === 'string' ? permission : permission(given),
      }),
      args: args(t.arg),
      resolve: (_root, given, context) =>
        runOperation(context, name, (ledger) => run(ledger, context.viewer, given)),
    }),
  );
}

interface GuardedMutation<Input, Outcome extends OutcomeOfOperation> {
  readonly description: string;
  /** As of every mutation; a function where it depends on the input. */
  readonly permission: Permission | ((input: NoInfer<Input>) => Permission);
  readonly input: PothosSchemaTypes.InputObjectRef<BuilderTypes, Input>;
  readonly result: PothosSchemaTypes.UnionRef<BuilderTypes, Outcome>;
  readonly run: (
    ledger: Ledger,
    viewer: Viewer,
    key: string | undefined,
    input: NoInfer<Input>,
  ) => Promise<NoInfer<Outcome>>;
}

interface GuardedArguments<Input> {
  readonly idempotencyKey?: string | null;
  readonly input: Input;
}

/** Declares a mutation that an idempotency key guards. `createSchema` makes the key required where the phase does. */
export function guardedMutation<Input, Outcome extends OutcomeOfOperation>(
  name: string,
  { permission, input: type, run, ...declared }: GuardedMutation<Input, Outcome>,
): void {
  // What its arguments come to, which Pothos can't tell of an input whose type is a parameter.
  const asked = (given: unknown) => given as GuardedArguments<Input>;
  mutation(name, {
    ...declared,
    args: (arg) => ({
      idempotencyKey: arg({
        type: 'IdempotencyKey',
        description:
          'Made once for what the user has decided, and the same on every retry of it. Remembered for 90 days.',
      }),
      input: inputArgument(arg, type),
    }),
    permission: typeof permission === 'string' ? permission : (given) => permission(asked(given).input),
    run: (ledger, viewer, given) => {
      const { idempotencyKey, input } = asked(given);
      return run(ledger, viewer, idempotencyKey ?? undefined, input);
    },
  });
}

/** The argument of a mutation that takes an input type. */
export function inputArgument<Input>(
  arg: ArgumentBuilder,
  type: PothosSchemaTypes.InputObjectRef<BuilderTypes, Input>,
): PothosSchemaTypes.ArgumentRef<BuilderTypes, Input> {
  return arg({ type, required: true, description: 'What is asked for.' });
}
