import {
  type ASTVisitor,
  type FragmentDefinitionNode,
  GraphQLError,
  GraphQLIncludeDirective,
  GraphQLSkipDirective,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
  type SelectionNode,
  type SelectionSetNode,
  type ValidationContext,
} from 'graphql';

/*
 * What validation refuses beside GraphQL's own rules. Fragments are followed wherever they are spread, by what they select and
 * never by their names, and each is counted once: hostile documents cost no more than honest ones (FIELD-CASES C62, C63).
 */

export const MAX_ALIASES = 30;

/**
 * At most one money mutation a document: two would have to be retried together, though each has its own key and outcome. A
 * money mutation is one that takes an idempotency key.
 */
export function oneMoneyMutation(context: ValidationContext): ASTVisitor {
  const fields = context.getSchema().getMutationType()?.getFields() ?? {};
  const isMoney = (name: string): boolean =>
    fields[name]?.args.some((argument) => argument.name === 'idempotencyKey') ?? false;
  return {
    OperationDefinition: (operation) => {
      if (operation.operation !== OperationTypeNode.MUTATION) return;
      const count = countRootFields(context, operation, isMoney);
      if (count > 1)
        report(
          context,
          operation,
          'A document takes one mutation with an idempotency key, this one has more.',
        );
    },
  };
}

/** Root fields after fragments, however they are nested and whatever they are called. */
function countRootFields(
  context: ValidationContext,
  operation: OperationDefinitionNode,
  counts: (name: string) => boolean,
): number {
  return weigh(context, operation.selectionSet, (selection, below) => {
    if (selection.kind !== Kind.FIELD) return below();
    return counts(selection.name.value) ? 1 : 0;
  });
}

/** Aliases make one document do the work of many, past whatever counts documents. */
export function fewAliases(context: ValidationContext): ASTVisitor {
  return {
    OperationDefinition: (operation) => {
      const count = weigh(context, operation.selectionSet, (selection, below) => {
        const own = selection.kind === Kind.FIELD && selection.alias !== undefined ? 1 : 0;
        return own + below();
      });
      if (count > MAX_ALIASES)
        report(context, operation, `A document takes ${String(MAX_ALIASES)} aliases at most.`);
    },
  };
}

/** GraphQL's executor knows no subscription without a field: it would fail as if the fault were ours. */
export function certainSubscription(context: ValidationContext): ASTVisitor {
  return {
    OperationDefinition: (operation) => {
      if (operation.operation !== OperationTypeNode.SUBSCRIPTION) return;
      const skippable = weigh(context, operation.selectionSet, (selection, below) => {
        const own = (selection.directives ?? []).some(({ name }) => CONDITIONS.includes(name.value)) ? 1 : 0;
        return own + (selection.kind === Kind.FIELD ? 0 : below());
      });
      if (skippable > 0)
        report(
          context,
          operation,
          'The field of a subscription can not be skipped: there would be nothing to watch.',
        );
    },
  };
}

const CONDITIONS: readonly string[] = [GraphQLSkipDirective.name, GraphQLIncludeDirective.name];

type Weigher = (selection: SelectionNode, below: () => number) => number;

/** Adds up what each selection weighs; a fragment's weight is worked out once. One that contains itself is another rule's to refuse. */
function weigh(context: ValidationContext, root: SelectionSetNode, weightOf: Weigher): number {
  const known = new Map<FragmentDefinitionNode, number>();
  const ofSet = (set: SelectionSetNode | undefined): number =>
    (set?.selections ?? []).reduce(
      (sum, selection) => sum + weightOf(selection, () => ofBelow(selection)),
      0,
    );
  const ofBelow = (selection: SelectionNode): number => {
    if (selection.kind !== Kind.FRAGMENT_SPREAD) return ofSet(selection.selectionSet);
    const fragment = context.getFragment(selection.name.value);
    if (fragment === undefined || fragment === null) return 0;
    const seen = known.get(fragment);
    if (seen !== undefined) return seen;
    known.set(fragment, 0);
    const weight = ofSet(fragment.selectionSet);
    known.set(fragment, weight);
    return weight;
  };
  return ofSet(root);
}

function report(context: ValidationContext, nodes: OperationDefinitionNode, message: string): void {
  context.reportError(new GraphQLError(message, { nodes, extensions: { code: 'BAD_REQUEST' } }));
}
