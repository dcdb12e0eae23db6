import {
  type GraphQLNamedType,
  type GraphQLSchema,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isIntrospectionType,
  isObjectType,
  isSpecifiedScalarType,
} from 'graphql';
import { expect, it } from 'vitest';
import { schema } from '../../src/schema/schema.ts';

/** Whatever a client may name, by its schema coordinate, with what is said of it. */
function described(from: GraphQLSchema): readonly (readonly [string, string])[] {
  const types = Object.values(from.getTypeMap()).filter(
    (type) => !isIntrospectionType(type) && !isSpecifiedScalarType(type),
  );
  return types.flatMap((type) => [[type.name, type.description ?? ''] as const, ...members(type)]);
}

function members(type: GraphQLNamedType): readonly (readonly [string, string])[] {
  if (isEnumType(type))
    return type.getValues().map(({ name, description }) => [`${type.name}.${name}`, description ?? '']);
  if (isInputObjectType(type))
    return Object.values(type.getFields()).map((field) => [
      `${type.name}.${field.name}`,
      field.description ?? '',
    ]);
  if (!isObjectType(type) && !isInterfaceType(type)) return [];
  return Object.values(type.getFields()).flatMap((field) => [
    [`${type.name}.${field.name}`, field.description ?? ''] as const,
    ...field.args.map(
      (argument) => [`${type.name}.${field.name}(${argument.name}:)`, argument.description ?? ''] as const,
    ),
  ]);
}

it('says of every type, field, argument and enum value what it is', () => {
  const all = described(schema);
  expect(all.length).toBeGreaterThan(400);
  expect(all.filter(([, text]) => text.trim() === '').map(([coordinate]) => coordinate)).toEqual([]);
});

it('says so in sentences', () => {
  const odd = described(schema).filter(([, text]) => !/^[A-Z0-9`"'].*[.…"]$/s.test(text));
  expect(odd.map(([coordinate]) => coordinate)).toEqual([]);
});
