import { lookup as resolve } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { isPublicAddress } from '../config/addresses.ts';

/*
 * Where a request to a merchant's server may go. The merchant chooses the URL. Without this check it could name a server in our
 * own network: a metadata service, a database, an admin page (server-side request forgery).
 */

/** A name resolved to an address that a merchant may not name. */
export class ForbiddenDestinationError extends Error {
  constructor() {
    super('the address is not on the public internet');
    this.name = 'ForbiddenDestinationError';
  }
}

/** Resolves a name to all its addresses. */
export type Resolve = (
  hostname: string,
  options: { readonly all: true },
  done: (
    error: Error | null,
    addresses: readonly { readonly address: string; readonly family: number }[],
  ) => void,
) => void;

/**
 * A lookup for `http.request` that gives only public addresses. The request connects to the very address that was checked, so
 * the name can't change in between (DNS rebinding). It fails if any address of the name isn't public.
 */
export function publicLookup(resolveAll: Resolve = resolve): LookupFunction {
  return (hostname, options, callback) => {
    resolveAll(hostname, { all: true }, (error, addresses) => {
      const [first] = addresses;
      if (error !== null) callback(error, '');
      else if (first === undefined || !addresses.every(({ address }) => isPublicAddress(address)))
        callback(new ForbiddenDestinationError(), '');
      else if (options.all === true) callback(null, [...addresses]);
      else callback(null, first.address, first.family);
    });
  };
}
