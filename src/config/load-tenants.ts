import { readFileSync } from 'node:fs';
import { ConfigError } from './config-error.ts';
import { type Tenants, parseTenants } from './tenants.ts';

/** Reads the tenants' file. Throws ConfigError with one sentence if it can't be had or isn't JSON, or one per problem in it. */
export function loadTenants(path: string, { production }: { readonly production: boolean }): Tenants {
  return parseTenants(readJson(path), { production });
}

function readJson(path: string): unknown {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch {
    throw new ConfigError(['TENANTS_FILE names a file that can not be read.']);
  }
  try {
    return JSON.parse(text);
  } catch {
    throw new ConfigError(['TENANTS_FILE names a file that is not JSON.']);
  }
}
