import {
  type DocumentNode,
  type FragmentDefinitionNode,
  GraphQLIncludeDirective,
  GraphQLSkipDirective,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
  type SelectionNode,
  type SelectionSetNode,
  type ValidationContext,
  type ValidationRule,
  getNamedType,
  getNullableType,
  isInterfaceType,
  isListType,
  isObjectType,
} from 'graphql';
import { badRequest } from '../schema/errors.ts';

/*
 * What validation refuses beside GraphQL's own rules. Fragments are followed wherever they are spread, by what they select and
 * never by their names, and each is counted once: hostile documents cost no more than honest ones (FIELD-CASES C62, C63).
 */

export const MAX_ALIASES = 30;

/**
 * At most one money mutation a document: two would have to be retried together, though each has its own key and outcome. A
 * money mutation is one that takes an idempotency key.
 */
export const oneMoneyMutation = ruleForOperations((context, { operation, selectionSet }) => {
  if (operation !== OperationTypeNode.MUTATION) return undefined;
  const fields = context.getSchema().getMutationType()?.getFields() ?? {};
  const isMoney = (name: string): boolean =>
    fields[name]?.args.some((argument) => argument.name === 'idempotencyKey') ?? false;
  const count = weigh(context, selectionSet, (selection, below) =>
    selection.kind === Kind.FIELD ? Number(isMoney(selection.name.value)) : below(),
  );
  return count > 1 ? 'A document takes one mutation with an idempotency key, this one has more.' : undefined;
});

/** With aliases one document does the work of many, but counts as one. */
export const fewAliases = ruleForOperations((context, { selectionSet }) => {
  const count = weigh(context, selectionSet, (selection, below) => {
    const own = selection.kind === Kind.FIELD && selection.alias !== undefined ? 1 : 0;
    return own + below();
  });
  return count > MAX_ALIASES ? `A document takes ${String(MAX_ALIASES)} aliases at most.` : undefined;
});

const CONDITIONS: readonly string[] = [GraphQLSkipDirective.name, GraphQLIncludeDirective.name];

/** GraphQL's executor expects a subscription to have a field. Without one it would fail as if the fault were ours. */
export const certainSubscription = ruleForOperations((context, { operation, selectionSet }) => {
  if (operation !== OperationTypeNode.SUBSCRIPTION) return undefined;
  const skippable = weigh(context, selectionSet, (selection, below) => {
    const own = (selection.directives ?? []).some(({ name }) => CONDITIONS.includes(name.value)) ? 1 : 0;
    return own + (selection.kind === Kind.FIELD ? 0 : below());
  });
  if (skippable === 0) return undefined;
  return 'The field of a subscription can not be skipped: there would be nothing to watch.';
});

/** Lists of an order whose rows lead back to it, with the type of a row. */
const BACK_TO_ORDER: ReadonlyMap<string, string> = new Map([
  ['timeline', 'OrderTransition'],
  ['steps', 'Step'],
  ['refunds', 'Refund'],
]);

/**
 * No list of an order below its transitions, steps or refunds: they lead back to the same order, and each level would multiply
 * the answer by hundreds. What is asked for there stands above already.
 */
export const flatOrderLists: ValidationRule = (context) => {
  const holdsOrderList = orderListFinder(context);
  return {
    Field: (field) => {
      const row = BACK_TO_ORDER.get(field.name.value);
      if (row === undefined || context.getParentType()?.name !== ORDER) return;
      if (!holdsOrderList(field.selectionSet, row)) return;
      const message = `A list of an order can't be selected below its ${[...BACK_TO_ORDER.keys()].join(', ')}: select it above them.`;
      context.reportError(badRequest(message, { nodes: field }));
    },
  };
};

const ORDER = 'Order';

/** Tells whether a selection on a type, by its name, reaches a list of an order, however deep. Looks at each set once. */
function orderListFinder(
  context: ValidationContext,
): (set: SelectionSetNode | undefined, typeName: string | undefined) => boolean {
  const schema = context.getSchema();
  const known = new Map<SelectionSetNode, boolean>();
  const inSet = (set: SelectionSetNode | undefined, typeName: string | undefined): boolean => {
    if (set === undefined) return false;
    const seen = known.get(set);
    if (seen !== undefined) return seen;
    // That a fragment contains itself is another rule's concern.
    known.set(set, false);
    const found = set.selections.some((selection) => inSelection(selection, typeName));
    known.set(set, found);
    return found;
  };
  const inSelection = (selection: SelectionNode, typeName: string | undefined): boolean => {
    if (selection.kind === Kind.FIELD) {
      const type = schema.getType(typeName ?? '');
      const field =
        isObjectType(type) || isInterfaceType(type) ? type.getFields()[selection.name.value] : undefined;
      if (field === undefined) return false;
      const isOrderList = typeName === ORDER && isListType(getNullableType(field.type));
      return isOrderList || inSet(selection.selectionSet, getNamedType(field.type).name);
    }
    const fragment =
      selection.kind === Kind.INLINE_FRAGMENT ? selection : context.getFragment(selection.name.value);
    return inSet(fragment?.selectionSet, fragment?.typeCondition?.name.value ?? typeName);
  };
  return inSet;
}

/** A validation rule from a function that says what is wrong with an operation, if anything. */
function ruleForOperations(
  problemOf: (context: ValidationContext, operation: OperationDefinitionNode) => string | undefined,
): ValidationRule {
  return (context) => ({
    OperationDefinition: (operation) => {
      const problem = problemOf(context, operation);
      if (problem !== undefined) context.reportError(badRequest(problem, { nodes: operation }));
    },
  });
}

/**
 * Adds up what each selection weighs. A fragment's weight is worked out once; that none contains itself is another rule's
 * concern.
 */
function weigh(
  context: ValidationContext,
  root: SelectionSetNode,
  weightOf: (selection: SelectionNode, below: () => number) => number,
): number {
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

/**
 * The root fields of an operation and how often each is selected, fragments spread out. For documents that are valid and
 * within their limits: no fragment contains itself, and none multiplies without end.
 */
export function rootFields(
  document: DocumentNode,
  operation: OperationDefinitionNode,
): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  const fragments = new Map(
    document.definitions.flatMap((definition) =>
      definition.kind === Kind.FRAGMENT_DEFINITION
        ? [[definition.name.value, definition.selectionSet] as const]
        : [],
    ),
  );
  const visit = (set: SelectionSetNode | undefined): void => {
    for (const selection of set?.selections ?? []) {
      if (selection.kind === Kind.FIELD)
        counts.set(selection.name.value, (counts.get(selection.name.value) ?? 0) + 1);
      else if (selection.kind === Kind.INLINE_FRAGMENT) visit(selection.selectionSet);
      else visit(fragments.get(selection.name.value));
    }
  };
  visit(operation.selectionSet);
  return counts;
}
