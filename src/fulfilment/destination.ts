import { lookup as resolve } from 'node:dns';
import { BlockList, type LookupFunction, isIP } from 'node:net';

/*
 * Where a request to a merchant's server may go. Its URL is the merchant's, so without this it could reach our own
 * network: a metadata service, a database, an admin page (server-side request forgery).
 */

/** Not globally reachable, by IANA's registry of special-purpose addresses; multicast and the reserved block beside it. */
const IPV4_SPECIAL: readonly (readonly [string, number])[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.31.196.0', 24],
  ['192.52.193.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['192.175.48.0', 24],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
];

/** Within global unicast: protocol assignments with Teredo, documentation, and 6to4, which carries IPv4 addresses inside. */
const IPV6_SPECIAL: readonly (readonly [string, number])[] = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['2620:4f:8000::', 48],
  ['3fff::', 20],
];

const special = new BlockList();
for (const [network, prefix] of IPV4_SPECIAL) special.addSubnet(network, prefix, 'ipv4');
for (const [network, prefix] of IPV6_SPECIAL) special.addSubnet(network, prefix, 'ipv6');

/** All that IPv6 hands out; what is outside (mapped, link-local, unique local, multicast, NAT64, …) is no public address. */
const globalUnicast = new BlockList();
globalUnicast.addSubnet('2000::', 3, 'ipv6');

/** Whether an address is on the public internet. False for whatever is no address. */
export function isPublicAddress(address: string): boolean {
  switch (isIP(address)) {
    case 4:
      return !special.check(address, 'ipv4');
    case 6:
      return globalUnicast.check(address, 'ipv6') && !special.check(address, 'ipv6');
    default:
      return false;
  }
}

/** The address that a name has or resolves to is none that a merchant may name. */
export class ForbiddenDestinationError extends Error {
  constructor() {
    super('the address is not on the public internet');
    this.name = 'ForbiddenDestinationError';
  }
}

/** A URL's host where it is an address itself: Node asks no lookup about those. */
export function literalAddress({ hostname }: Pick<URL, 'hostname'>): string | undefined {
  const bare = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
  return isIP(bare) === 0 ? undefined : bare;
}

/** How a name is resolved: to all its addresses. */
export type Resolve = (
  hostname: string,
  options: { readonly all: true },
  done: (
    error: Error | null,
    addresses: readonly { readonly address: string; readonly family: number }[],
  ) => void,
) => void;

/**
 * A lookup that gives only public addresses, for `http.request`: the very answer that was judged is what it connects to,
 * so that a name can't change in between (DNS rebinding). One address that isn't public spoils them all.
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
