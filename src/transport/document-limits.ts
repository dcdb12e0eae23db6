import { complexityFromQuery } from '@pothos/plugin-complexity';
import {
  type DocumentNode,
  GraphQLError,
  type GraphQLSchema,
  Kind,
  NoSchemaIntrospectionCustomRule,
  type OperationDefinitionNode,
  type ParseOptions,
  type Source,
  type ValidationRule,
  ValuesOfCorrectTypeRule,
  parse,
  specifiedRules,
  validate,
  visit,
} from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { RequestContext } from '../schema/context.ts';
import { badRequest } from '../schema/errors.ts';
import {
  MAX_ALIASES,
  certainSubscription,
  fewAliases,
  flatOrderLists,
  oneMoneyMutation,
} from './document-rules.ts';
import { type Execution, refuseOperations } from './responses.ts';
import { literalsOfTheirType, variableErrors } from './value-errors.ts';

export interface DocumentLimits {
  readonly maxTokens: number;
  /** Levels of fields within fields. */
  readonly maxDepth: number;
  /** Fields in all, fragments spread out. */
  readonly maxFields: number;
  /** Fields in all, each times the rows of the lists that it is in. */
  readonly maxCost: number;
}

/**
 * What the largest honest document needs, one that selects every field of a result five levels deep, and not much more.
 */
export const DEFAULT_DOCUMENT_LIMITS: DocumentLimits = {
  maxTokens: 3_000,
  maxDepth: 14,
  maxFields: 1_500,
  maxCost: 100_000,
};

/** Refuses documents that are too large before any of their fields is resolved (docs/DESIGN.md §11). */
export function limitDocuments(
  limits: DocumentLimits,
  introspection: boolean,
): Plugin<RequestContext, RequestContext> {
  return {
    ...refuseOperations((execution) => {
      const errors = variableErrors(execution);
      return errors.length > 0 ? errors : excess(limits, execution);
    }),
    onParse: ({ setParseFn }) => {
      setParseFn((source: string | Source, options?: ParseOptions) =>
        parseWithin(limits.maxTokens, source, options),
      );
    },
    onValidate: ({ addValidationRule, setValidationFn }) => {
      setValidationFn(
        (schema: GraphQLSchema, document: DocumentNode, rules: readonly ValidationRule[] = specifiedRules) =>
          validate(
            schema,
            document,
            rules.map((rule) => (rule === ValuesOfCorrectTypeRule ? literalsOfTheirType : rule)),
            { maxErrors: MAX_ERRORS, hideSuggestions: !introspection },
          ),
      );
      addValidationRule(oneMoneyMutation);
      addValidationRule(fewAliases);
      addValidationRule(certainSubscription);
      addValidationRule(flatOrderLists);
      if (!introspection) addValidationRule(NoSchemaIntrospectionCustomRule);
    },
  };
}

/** How many things that are wrong with a document are told at once. */
const MAX_ERRORS = 20;

/** Parses a document. GraphQL's messages end with what it found, which may be a value: that part isn't told. */
function parseWithin(
  maxLexicalTokens: number,
  source: string | Source,
  options: ParseOptions | undefined,
): DocumentNode {
  try {
    const document = parse(source, { ...options, maxLexicalTokens });
    refuseCostlyValidation(document);
    return document;
  } catch (error) {
    if (!(error instanceof GraphQLError) || error.extensions['code'] !== undefined) throw error;
    const [intro = '', text = ''] = error.message.slice(0, 200).split('Syntax Error: ', 2);
    const [head = ''] = text.split(text.startsWith('Expected ') ? ', found ' : /: | "/, 1);
    throw new GraphQLError(`${intro}Syntax Error: ${head}${head.endsWith('.') ? '' : '.'}`, {
      source: error.source ?? null,
      positions: error.positions ?? null,
    });
  }
}

/** More than the largest honest document has, which selects each field once and spreads each fragment once or twice. */
const MAX_SPREADS = 100;
const MAX_SAME_FIELDS = 10;

/**
 * Validation compares the fields of one name in a selection each with each, through all fragments: some kilobytes kept it busy
 * for a third of a second. So these are counted before it, in the document as it stands.
 */
function refuseCostlyValidation(document: DocumentNode): void {
  let aliases = 0;
  let spreads = 0;
  visit(document, {
    Field: ({ alias }) => {
      aliases += alias === undefined ? 0 : 1;
    },
    FragmentSpread: () => {
      spreads += 1;
    },
    InlineFragment: () => {
      spreads += 1;
    },
    SelectionSet: ({ selections }) => {
      const counts = new Map<string, number>();
      for (const selection of selections) {
        if (selection.kind !== Kind.FIELD) continue;
        const { value } = selection.alias ?? selection.name;
        const count = (counts.get(value) ?? 0) + 1;
        if (count > MAX_SAME_FIELDS)
          throw badRequest(`A selection may name a field ${String(MAX_SAME_FIELDS)} times at most.`);
        counts.set(value, count);
      }
    },
  });
  if (aliases > MAX_ALIASES) throw badRequest(`A document takes ${String(MAX_ALIASES)} aliases at most.`);
  if (spreads > MAX_SPREADS)
    throw badRequest(`A document spreads fragments ${String(MAX_SPREADS)} times at most.`);
}

/** What makes the chosen operation too large, or what is wrong with its variables; undefined if it may run. */
function excess(
  { maxDepth, maxFields, maxCost }: DocumentLimits,
  { schema, document, operationName, variableValues, contextValue }: Execution,
): GraphQLError | undefined {
  try {
    const { depth, breadth, complexity } = complexityFromQuery(chosenOperation(document, operationName), {
      schema,
      ctx: contextValue,
      variables: { ...variableValues },
    });
    if (depth > maxDepth)
      return badRequest(`The document is ${String(depth)} levels deep; ${String(maxDepth)} are allowed.`);
    if (breadth > maxFields) return badRequest(`The document selects more than ${String(maxFields)} fields.`);
    if (complexity > maxCost)
      return badRequest(
        `The document costs ${String(complexity)}; ${String(maxCost)} is allowed. Ask for fewer rows.`,
      );
    return undefined;
  } catch (error) {
    return error instanceof GraphQLError ? error : badRequest('The cost of the document can not be told.');
  }
}

/** The document without its other operations. */
function chosenOperation(document: DocumentNode, name: string | null | undefined): DocumentNode {
  const isOther = (operation: OperationDefinitionNode): boolean =>
    name !== undefined && name !== null && operation.name?.value !== name;
  return {
    ...document,
    definitions: document.definitions.filter(
      (definition) => definition.kind !== Kind.OPERATION_DEFINITION || !isOther(definition),
    ),
  };
}
