import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { isSchema, lexicographicSortSchema, printSchema, type GraphQLSchema } from 'graphql';
import { ROOT, runAsProgram, SCHEMA_FILE, writeOrCheck } from './generated-file.ts';

/** `npm run generate`: prints the Pothos schema to schema.graphql. `--check` only compares. */

const SOURCE = join(ROOT, 'src', 'schema', 'schema.ts');

/** The schema as text that depends on what it says alone, not on the order in which its modules loaded. */
export function schemaText(schema: GraphQLSchema): string {
  return `# Generated from src/schema by "npm run generate".\n\n${printSchema(lexicographicSortSchema(schema))}\n`;
}

async function loadSchema(): Promise<GraphQLSchema> {
  if (!existsSync(SOURCE)) throw new Error('src/schema/schema.ts is missing: it has to export "schema".');
  const loaded: unknown = await import(pathToFileURL(SOURCE).href);
  const schema =
    typeof loaded === 'object' && loaded !== null && 'schema' in loaded ? loaded.schema : undefined;
  if (!isSchema(schema))
    throw new Error('src/schema/schema.ts has to export a GraphQLSchema named "schema".');
  return schema;
}

await runAsProgram(import.meta, async () =>
  writeOrCheck(SCHEMA_FILE, schemaText(await loadSchema()), process.argv.includes('--check')),
);
