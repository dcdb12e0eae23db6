import { lookup as resolve } from 'node:dns';
import { BlockList, type LookupFunction, isIP } from 'node:net';

/*
 * Where a request to a merchant's server may go. The merchant chooses the URL. Without this check it could name a server in our
 * own network: a metadata service, a database, an admin page (server-side request forgery).
 */

/** Not globally reachable, by IANA's registry of special-purpose addresses; also multicast and the reserved block. */
const IPV4_SPECIAL = blockList(
  'ipv4',
  `0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24 192.31.196.0/24
   192.52.193.0/24 192.88.99.0/24 192.168.0.0/16 192.175.48.0/24 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24
   224.0.0.0/4 240.0.0.0/4`,
);

/** Within global unicast: protocol assignments with Teredo, documentation, and 6to4, which contains IPv4 addresses. */
const IPV6_SPECIAL = blockList('ipv6', '2001::/23 2001:db8::/32 2002::/16 2620:4f:8000::/48 3fff::/20');

/** All of IPv6 that is public. Mapped, link-local, unique local, multicast and NAT64 addresses are outside. */
const GLOBAL_UNICAST = blockList('ipv6', '2000::/3');

function blockList(family: 'ipv4' | 'ipv6', networks: string): BlockList {
  const list = new BlockList();
  for (const [, network = '', prefix = ''] of networks.matchAll(/(\S+)\/(\d+)/g))
    list.addSubnet(network, Number.parseInt(prefix, 10), family);
  return list;
}

/** Whether an address is on the public internet. False for anything that isn't an address. */
export function isPublicAddress(address: string): boolean {
  switch (isIP(address)) {
    case 4:
      return !IPV4_SPECIAL.check(address, 'ipv4');
    case 6:
      return GLOBAL_UNICAST.check(address, 'ipv6') && !IPV6_SPECIAL.check(address, 'ipv6');
    default:
      return false;
  }
}

/** A name resolved to an address that a merchant may not name. */
export class ForbiddenDestinationError extends Error {
  constructor() {
    super('the address is not on the public internet');
    this.name = 'ForbiddenDestinationError';
  }
}

/** A URL's host if it is an address itself: Node makes no lookup for those. */
export function literalAddress({ hostname }: Pick<URL, 'hostname'>): string | undefined {
  const bare = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
  return isIP(bare) === 0 ? undefined : bare;
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
