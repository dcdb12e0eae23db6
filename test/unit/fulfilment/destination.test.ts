import { request } from 'node:http';
import { describe, expect, it } from 'vitest';
import { isPublicAddress, literalAddress } from '../../../src/config/addresses.ts';
import {
  ForbiddenDestinationError,
  type Resolve,
  publicLookup,
} from '../../../src/fulfilment/destination.ts';
import { post } from '../../../src/fulfilment/post.ts';

describe('an address that a merchant may not name', () => {
  it.each([
    ['this host', '0.0.0.0'],
    ['this network', '0.1.2.3'],
    ['private, class A', '10.0.0.1'],
    ['private, class A, last', '10.255.255.255'],
    ['carrier-grade NAT', '100.64.0.1'],
    ['carrier-grade NAT, last', '100.127.255.255'],
    ['loopback', '127.0.0.1'],
    ['loopback, another', '127.9.9.9'],
    ['link-local: cloud metadata', '169.254.169.254'],
    ['container metadata', '169.254.170.2'],
    ['private, class B', '172.16.0.1'],
    ['private, class B, last', '172.31.255.255'],
    ['protocol assignments', '192.0.0.8'],
    ['documentation', '192.0.2.1'],
    ['private, class C', '192.168.1.1'],
    ['benchmarks', '198.18.0.1'],
    ['documentation, second', '198.51.100.1'],
    ['documentation, third', '203.0.113.1'],
    ['multicast', '224.0.0.1'],
    ['multicast, last', '239.255.255.255'],
    ['reserved', '240.0.0.1'],
    ['broadcast', '255.255.255.255'],
    ['unspecified', '::'],
    ['loopback of IPv6', '::1'],
    ['mapped loopback', '::ffff:127.0.0.1'],
    ['mapped loopback in hex', '::ffff:7f00:1'],
    ['mapped public: no server has one', '::ffff:8.8.8.8'],
    ['compatible loopback', '::127.0.0.1'],
    ['NAT64 of loopback', '64:ff9b::7f00:1'],
    ['local NAT64', '64:ff9b:1::1'],
    ['discard', '100::1'],
    ['Teredo', '2001:0:4136:e378:8000:63bf:3fff:fdd2'],
    ['documentation of IPv6', '2001:db8::1'],
    ['6to4 of loopback', '2002:7f00:1::'],
    ['documentation of IPv6, second', '3fff::1'],
    ['unique local', 'fc00::1'],
    ['unique local, usual', 'fd12:3456:789a::1'],
    ['AWS metadata of IPv6', 'fd00:ec2::254'],
    ['link-local of IPv6', 'fe80::1'],
    ['link-local with a zone', 'fe80::1%eth0'],
    ['site-local', 'fec0::1'],
    ['multicast of IPv6', 'ff02::1'],
    ['no address', 'localhost'],
    ['nothing', ''],
  ])('%s: %s', (_name, address) => {
    expect(isPublicAddress(address)).toBe(false);
  });

  it.each(['8.8.8.8', '1.1.1.1', '100.63.255.255', '100.128.0.1', '172.15.0.1', '172.32.0.1', '192.169.0.1'])(
    'but %s is public',
    (address) => {
      expect(isPublicAddress(address)).toBe(true);
    },
  );
  it.each(['2001:4860:4860::8888', '2606:4700:4700::1111', '2a00:1450:4001:800::200e', '2400:cb00::1'])(
    'but %s is public',
    (address) => {
      expect(isPublicAddress(address)).toBe(true);
    },
  );
});

describe('a URL whose host is an address', () => {
  it.each([
    ['http://127.0.0.1/', '127.0.0.1'],
    ['http://2130706433/', '127.0.0.1'],
    ['http://0x7f.1/', '127.0.0.1'],
    ['http://0177.0.0.1/', '127.0.0.1'],
    ['http://127.1/', '127.0.0.1'],
    ['http://１２７.0.0.1/', '127.0.0.1'],
    ['http://[::1]/', '::1'],
    ['http://[::ffff:127.0.0.1]/', '::ffff:7f00:1'],
    ['http://169.254.169.254./', '169.254.169.254'],
  ])('%s is seen as %s, however it is written, and never asked', async (url, address) => {
    expect(literalAddress(new URL(url))).toBe(address);
    const signal = new AbortController().signal;
    const limits = { connectTimeoutMs: 1_000, totalTimeoutMs: 1_000, allowPrivateAddresses: false };
    expect(await post({ url: new URL(url), headers: {}, body: '', signal }, limits)).toEqual({
      kind: 'FORBIDDEN',
    });
  });

  it('a name is none', () => {
    expect(literalAddress(new URL('https://shop.example/hook'))).toBeUndefined();
  });
});

describe('a name', () => {
  const resolvesTo =
    (...addresses: readonly string[]): Resolve =>
    (_hostname, _options, done) => {
      done(
        null,
        addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
      );
    };
  const ask = (resolve: Resolve, all: boolean): Promise<unknown> =>
    new Promise((give) => {
      publicLookup(resolve)('shop.example', { all }, (error, address) => {
        give(error ?? address);
      });
    });

  it('is connected to at the very addresses that were judged', async () => {
    const resolve = resolvesTo('8.8.8.8', '2606:4700:4700::1111');
    expect(await ask(resolve, true)).toEqual([
      { address: '8.8.8.8', family: 4 },
      { address: '2606:4700:4700::1111', family: 6 },
    ]);
    expect(await ask(resolve, false)).toBe('8.8.8.8');
  });

  it.each([
    ['only a private address', ['10.0.0.1']],
    ['a private address beside a public one', ['8.8.8.8', '10.0.0.1']],
    ['a mapped loopback address', ['::ffff:127.0.0.1']],
    ['no address at all', []],
  ])('is refused with %s', async (_name, addresses) => {
    expect(await ask(resolvesTo(...addresses), true)).toBeInstanceOf(ForbiddenDestinationError);
  });

  it('is resolved once a request, so that its second answer never counts (DNS rebinding)', async () => {
    let asked = 0;
    const rebinding: Resolve = (hostname, options, done) => {
      asked += 1;
      resolvesTo(asked === 1 ? '192.0.2.1' : '8.8.8.8')(hostname, options, done);
    };
    const failure = await new Promise((give) => {
      request('http://shop.example/', { lookup: publicLookup(rebinding), agent: false }).on('error', give);
    });
    expect(failure).toBeInstanceOf(ForbiddenDestinationError);
    expect(asked).toBe(1);
  });

  it('of this machine is refused by the real resolver', async () => {
    const signal = new AbortController().signal;
    const limits = { connectTimeoutMs: 2_000, totalTimeoutMs: 2_000, allowPrivateAddresses: false };
    const url = new URL('http://localhost:1/');
    expect(await post({ url, headers: {}, body: '', signal }, limits)).toEqual({ kind: 'FORBIDDEN' });
  });
});
