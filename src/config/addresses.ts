import { BlockList, isIP } from 'node:net';
import { parseUrl } from './urls.ts';

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
  for (const one of networks.trim().split(/\s+/)) {
    const [network = '', prefix = ''] = one.split('/');
    list.addSubnet(network, Number.parseInt(prefix, 10), family);
  }
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

/** A URL's host if it is an address itself: Node makes no lookup for those. */
export function literalAddress({ hostname }: Pick<URL, 'hostname'>): string | undefined {
  const bare = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
  return isIP(bare) === 0 ? undefined : bare;
}

/** Names that are never on the public internet: this machine's, and those of networks' own (RFC 6761, RFC 6762, RFC 8375). */
const PRIVATE_NAME = /(^|\.)(localhost|local|internal|lan|home\.arpa)\.?$/;

/**
 * Whether a URL's host may be on the public internet, as far as its text tells: a name may still resolve to a private address,
 * which is checked when it is called. Needs a URL in full; false for anything else.
 */
export function mayBePublic(text: string): boolean {
  const url = parseUrl(text);
  if (url === undefined) return false;
  const address = literalAddress(url);
  if (address !== undefined) return isPublicAddress(address);
  return url.hostname.replace(/\.$/, '').includes('.') && !PRIVATE_NAME.test(url.hostname);
}
