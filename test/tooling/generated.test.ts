import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildSchema } from 'graphql';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { typedDocuments } from '../../codegen.ts';
import { writeOrCheck } from '../../scripts/generated-file.ts';
import { schemaText } from '../../scripts/print-schema.ts';

describe('the printed schema', () => {
  it('is the same whatever the order of definitions', () => {
    const one = buildSchema('type Query { b: B a: Int } type B { x: Int }');
    const other = buildSchema('type B { x: Int } type Query { a: Int b: B }');
    expect(schemaText(one)).toBe(schemaText(other));
    expect(schemaText(one)).toContain('type Query {\n  a: Int\n  b: B\n}\n');
  });
});

describe('typed documents', () => {
  const schema = `
    scalar Decimal
    type Query { balance(of: ID!): Balance }
    type Balance { amount: Decimal! cap: Decimal }
  `;

  it('give amounts as strings and nullable fields as null', async () => {
    const text = 'query ReadBalance($of: ID!) { balance(of: $of) { amount cap } }';
    const module = await typedDocuments(schema, [{ location: 'balance.graphql', text }]);
    expect(module).toContain('{ readonly amount: string, readonly cap: string | null } | null');
    expect(module).toContain('export const ReadBalanceDocument = ');
  });

  it('refuse a document that asks for what the schema does not have', async () => {
    const text = 'query ReadBalance($of: ID!) { balance(of: $of) { amounts } }';
    await expect(typedDocuments(schema, [{ location: 'balance.graphql', text }])).rejects.toThrow(/amounts/);
  });

  it('refuse a scalar that has no type', async () => {
    const text = 'query ReadBalance($of: ID!) { balance(of: $of) { amount } }';
    const unknown = schema.replaceAll('Decimal', 'Money');
    await expect(typedDocuments(unknown, [{ location: 'balance.graphql', text }])).rejects.toThrow(/Money/);
  });
});

describe('a generated file', () => {
  let folder: string;
  let file: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'generated-'));
    file = join(folder, 'deeper', 'file.txt');
    vi.spyOn(console, 'error').mockReturnValue();
  });

  afterEach(async () => {
    vi.restoreAllMocks();
    await rm(folder, { recursive: true });
  });

  it('is written, and then found up to date', async () => {
    expect(await writeOrCheck(file, 'one\n', false)).toBe(true);
    expect(await readFile(file, 'utf8')).toBe('one\n');
    expect(await writeOrCheck(file, 'one\n', true)).toBe(true);
  });

  it('is left alone by a check that finds it different', async () => {
    await writeOrCheck(file, 'one\n', false);
    await writeFile(file, 'edited by hand\n');
    expect(await writeOrCheck(file, 'one\n', true)).toBe(false);
    expect(await readFile(file, 'utf8')).toBe('edited by hand\n');
  });

  it('is not made by a check that finds it missing', async () => {
    expect(await writeOrCheck(file, 'one\n', true)).toBe(false);
    await expect(readFile(file)).rejects.toThrow('ENOENT');
  });
});
