import { type DocumentNode, type FragmentDefinitionNode, Kind, type SelectionSetNode } from 'graphql';

/**
 * The root fields of an operation and how often each is selected, fragments spread out. For documents that are valid and
 * within their limits: no fragment contains itself, and none multiplies without end.
 */
export function rootFields(document: DocumentNode, root: SelectionSetNode): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  const visit = (set: SelectionSetNode): void => {
    for (const selection of set.selections) {
      if (selection.kind === Kind.FIELD) {
        counts.set(selection.name.value, (counts.get(selection.name.value) ?? 0) + 1);
      } else if (selection.kind === Kind.INLINE_FRAGMENT) {
        visit(selection.selectionSet);
      } else {
        const fragment = fragmentNamed(document, selection.name.value);
        if (fragment !== undefined) visit(fragment.selectionSet);
      }
    }
  };
  visit(root);
  return counts;
}

function fragmentNamed(document: DocumentNode, name: string): FragmentDefinitionNode | undefined {
  return document.definitions.find(
    (definition): definition is FragmentDefinitionNode =>
      definition.kind === Kind.FRAGMENT_DEFINITION && definition.name.value === name,
  );
}
