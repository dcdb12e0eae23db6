import { GraphQLObjectType, GraphQLSchema, GraphQLString, parse } from 'graphql';
import { Repeater } from 'graphql-yoga';
import { describe, expect, it } from 'vitest';
import type { Viewer } from '../../../src/auth/viewer.ts';
import { accessScope, createSharedSubscribe } from '../../../src/realtime/shared-execution.ts';
import { customer, settle } from './support.ts';

interface Context {
  readonly viewer: Viewer;
}

const office = { ...customer('office'), role: 'MERCHANT', merchantId: 'm_1' } as const;

/** A schema whose one event goes to everybody, and whose field tells who it was resolved for. */
function setUp() {
  const event = {};
  let resolved = 0;
  let open = 0;
  const source = (): Repeater<object> =>
    new Repeater(async (push, stop) => {
      open += 1;
      void push(event);
      await stop;
      open -= 1;
    });
  const schema = new GraphQLSchema({
    query: new GraphQLObjectType({ name: 'Query', fields: { ok: { type: GraphQLString } } }),
    subscription: new GraphQLObjectType({
      name: 'Subscription',
      fields: {
        secret: {
          type: GraphQLString,
          args: { of: { type: GraphQLString } },
          subscribe: source,
          resolve: (_event: unknown, { of }: { readonly of?: string }, { viewer }: Context) => {
            resolved += 1;
            return `${viewer.subject} ${viewer.merchantId ?? '-'} ${of ?? ''}`;
          },
        },
      },
    }),
  });
  const subscribe = createSharedSubscribe((context) => accessScope((context as Context).viewer));
  const first = async (
    viewer: Viewer,
    query = 'subscription { secret }',
    variableValues = {},
  ): Promise<unknown> => {
    const stream = await subscribe({
      schema,
      document: parse(query),
      contextValue: { viewer },
      variableValues,
    });
    if (!('next' in stream)) return stream;
    const result = await stream.next();
    await stream.return(undefined);
    return result.value?.data?.['secret'];
  };
  return { schema, subscribe, first, resolved: () => resolved, open: () => open };
}

describe('an event is executed once', () => {
  it("for all of a merchant's users with the same selection", async () => {
    const { first, resolved } = setUp();
    const results = await Promise.all(
      Array.from({ length: 50 }, (_unused, index) => first({ ...office, subject: `office-${index}` })),
    );
    expect(new Set(results)).toEqual(new Set(['office-0 m_1 ']));
    expect(resolved()).toBe(1);
  });

  it.each([
    ['two customers', customer('u_1'), customer('u_2')],
    [
      'two terminals',
      { ...office, role: 'TERMINAL' } as const,
      { ...office, role: 'TERMINAL', subject: 'till-2' } as const,
    ],
    ['two merchants', office, { ...office, merchantId: 'm_2' }],
    ['a merchant and an admin', office, { ...office, role: 'ADMIN' } as const],
    ['two tenants', office, { ...office, tenant: 't_2' }],
  ])('for each of %s with the very same document', async (_whom, one, other) => {
    const { first, resolved } = setUp();
    await Promise.all([first(one), first(other)]);
    expect(resolved()).toBe(2);
  });

  it('for each set of variables, document and operation', async () => {
    const { first, resolved } = setUp();
    const query = 'subscription S($of: String) { secret(of: $of) }';
    expect(await first(office, query, { of: 'a' })).toBe('office m_1 a');
    expect(await first(office, query, { of: 'b' })).toBe('office m_1 b');
    expect(await first(office, query, { of: 'a' })).toBe('office m_1 a');
    expect(await first(office, `${query} `, { of: 'a' })).toBe('office m_1 a');
    expect(resolved()).toBe(3);
  });
});

describe('the stream of results', () => {
  it('frees its source when it is returned while parked, and when the request is aborted', async () => {
    const { schema, subscribe, open } = setUp();
    const controller = new AbortController();
    const args = { schema, document: parse('subscription { secret }'), contextValue: { viewer: office } };
    const [returned, aborted] = await Promise.all([
      subscribe(args),
      subscribe({ ...args, ...{ signal: controller.signal } }),
    ]);
    if (!('next' in returned) || !('next' in aborted)) throw new Error('no stream');
    await Promise.all([returned.next(), aborted.next()]);
    const parked = [returned.next(), aborted.next()];
    await settle();
    expect(open()).toBe(2);
    await returned.return(undefined);
    controller.abort();
    expect(await Promise.all(parked)).toEqual([
      { done: true, value: undefined },
      { done: true, value: undefined },
    ]);
    expect(open()).toBe(0);
  });
});
