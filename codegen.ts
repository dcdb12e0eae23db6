import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { codegen } from '@graphql-codegen/core';
import * as typedDocumentNode from '@graphql-codegen/typed-document-node';
import * as typescriptOperations from '@graphql-codegen/typescript-operations';
import { parse } from 'graphql';
import { committedSchema, ROOT, runAsProgram, writeOrCheck } from './scripts/generated-file.ts';

/** `npm run generate`: makes typed documents of every test/**\/*.graphql, against schema.graphql. `--check` only compares. */

const TARGET = join(ROOT, 'test', 'support', 'generated', 'documents.ts');

/** A GraphQL operation file: its path, for messages, and its text. */
export interface OperationFile {
  readonly location: string;
  readonly text: string;
}

/** The TypeScript module with a typed document per operation. Throws an Error where a document doesn't fit the schema. */
export async function typedDocuments(schemaText: string, files: readonly OperationFile[]): Promise<string> {
  const scalars = { ID: 'string', Decimal: 'string', DateTime: 'string', IdempotencyKey: 'string' };
  const generated = await codegen({
    schema: parse(schemaText),
    documents: files.map(({ location, text }) => ({ location, document: parse(text) })),
    filename: TARGET,
    config: {},
    plugins: [
      { typescriptOperations: { scalars, strictScalars: true, immutableTypes: true, skipTypename: true } },
      { typedDocumentNode: { useTypeImports: true } },
    ],
    pluginMap: { typescriptOperations, typedDocumentNode },
  });
  return `// Generated from the tests' .graphql files by "npm run generate".\n/* eslint-disable */\n\n${generated}\n`;
}

async function operationFiles(folder: string): Promise<OperationFile[]> {
  const names = (await readdir(folder, { recursive: true }))
    .filter((name) => name.endsWith('.graphql'))
    .sort();
  return await Promise.all(
    names.map(async (name) => {
      const file = join(folder, name);
      return { location: relative(ROOT, file), text: await readFile(file, 'utf8') };
    }),
  );
}

await runAsProgram(import.meta, async () => {
  const contents = await typedDocuments(await committedSchema(), await operationFiles(join(ROOT, 'test')));
  return writeOrCheck(TARGET, contents, process.argv.includes('--check'));
});
