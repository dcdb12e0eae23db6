import { describe, expect, it } from 'vitest';
import { sdk, sessionParams, simulator, webhookReceiver } from './support.ts';

async function post(
  url: string,
  fields: Record<string, string> = {},
): Promise<{ status: number; location: string }> {
  const response = await fetch(url, {
    method: 'POST',
    body: new URLSearchParams(fields),
    redirect: 'manual',
  });
  return { status: response.status, location: response.headers.get('location') ?? '' };
}

async function text(url: string): Promise<string> {
  const response = await fetch(url);
  expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
  return await response.text();
}

async function openSession(params = sessionParams()) {
  const target = await simulator();
  const session = await sdk(target).checkout.sessions.create(params);
  return { target, id: session.id, url: session.url ?? '' };
}

const NONE = { control: '', input: '' };

/** The buttons on the page, as the requests that its script makes of them. */
function buttonsOf(html: string): { control: string; input: string }[] {
  const buttons = html.matchAll(/data-control="([^"]*)"\s+data-input="([^"]*)"/g);
  return [...buttons].map(([, control = '', input = '']) => ({
    control,
    input: input.replaceAll('&quot;', '"'),
  }));
}

async function pressOn(target: { url: string }, { control, input }: { control: string; input: string }) {
  return await fetch(`${target.url}/_simulator/${control}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: input,
  });
}

describe('the list of sessions', () => {
  it('names each order and offers what its session allows: expire while it is open, then refund and dispute', async () => {
    const { target, id } = await openSession();
    const open = await text(`${target.url}/`);
    expect(open).toContain('ord_1');
    const [toggle, expire, ...more] = buttonsOf(open);
    expect([toggle?.control, expire, more]).toEqual([
      'set-webhooks',
      { control: 'expire-session', input: JSON.stringify({ session: id }) },
      [],
    ]);

    const { paymentIntent } = await target.payByCard({ session: id });
    const paid = buttonsOf(await text(`${target.url}/`)).slice(1);
    const input = JSON.stringify({ paymentIntent: paymentIntent?.id });
    expect(paid).toEqual([
      { control: 'dashboard-refund', input },
      { control: 'open-dispute', input },
    ]);
    const [refund = NONE] = paid;
    expect((await pressOn(target, refund)).status).toBe(200);
    expect(target.events().at(-1)?.type).toBe('charge.refunded');
  });

  it('lets a paid session be disputed', async () => {
    const { target, id } = await openSession();
    await target.payByCard({ session: id });
    const [, , dispute = NONE] = buttonsOf(await text(`${target.url}/`));
    expect((await pressOn(target, dispute)).status).toBe(200);
    expect(target.events().map(({ type }) => type)).toContain('charge.dispute.created');
  });

  it('of an expired session offers nothing more', async () => {
    const { target } = await openSession();
    const [, expire = NONE] = buttonsOf(await text(`${target.url}/`));
    expect((await pressOn(target, expire)).status).toBe(200);
    expect(target.events().at(-1)?.type).toBe('checkout.session.expired');
    expect(buttonsOf(await text(`${target.url}/`)).map(({ control }) => control)).toEqual(['set-webhooks']);
  });

  it('says whether webhooks are sent, and switches them', async () => {
    const target = await simulator({ webhookUrl: (await webhookReceiver()).url });
    for (const [says, input] of [
      ['Webhooks are sent', '{"on":false}'],
      ['Webhooks are lost', '{"on":true}'],
      ['Webhooks are sent', '{"on":false}'],
    ]) {
      const html = await text(`${target.url}/`);
      expect(html).toContain(says);
      const [button = NONE] = buttonsOf(html);
      expect(button).toEqual({ control: 'set-webhooks', input });
      expect((await pressOn(target, button)).status).toBe(200);
    }
  });
});

describe('the checkout page', () => {
  it('shows what is paid for and every way to pay', async () => {
    const { url } = await openSession();
    const html = await text(url);
    expect(html).toContain('<html lang="en">');
    expect(html).toContain('Pay ¥960');
    expect(html).toContain('Coffee × 2');
    expect(html).toContain('name="card"');
    expect(html).toContain('/konbini"');
    expect(html).toContain('href="https://shop.example/cart"');
  });

  it('escapes what the shop wrote', async () => {
    const { url } = await openSession(
      sessionParams({
        line_items: [
          {
            price_data: {
              currency: 'jpy',
              unit_amount: 100,
              product_data: { name: '<script>alert(1)</script>' },
            },
          },
        ],
        cancel_url: 'https://shop.example/"onclick="alert(1)',
      }),
    );
    const html = await text(url);
    expect(html).not.toContain('<script>');
    expect(html).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
    expect(html).not.toContain('"onclick="');
  });

  it('offers only what the session allows', async () => {
    const { url } = await openSession(sessionParams({ allowed_payment_method_types: ['card'] }));
    expect(await text(url)).not.toContain('konbini');
  });

  it('pays by card and goes back to the shop with the session filled in', async () => {
    const { target, id, url } = await openSession();
    expect(await post(`${url}/card`, { card: 'works' })).toEqual({
      status: 303,
      location: `https://shop.example/done?session=${id}`,
    });
    expect((await sdk(target).checkout.sessions.retrieve(id)).payment_status).toBe('paid');
    expect(await text(url)).toContain('Paid. Thank you!');
    expect((await post(`${url}/card`, { card: 'works' })).status).toBe(400);
  });

  it('says why a card was declined and lets the customer try again', async () => {
    const { target, id, url } = await openSession();
    expect(await post(`${url}/card`, { card: 'insufficient_funds' })).toEqual({
      status: 303,
      location: `/pay/${id}`,
    });
    expect(await text(url)).toContain('Your card has insufficient funds.');
    expect((await post(`${url}/card`, { card: 'works' })).status).toBe(303);
    expect((await sdk(target).checkout.sessions.retrieve(id)).status).toBe('complete');
  });

  it('takes no card it did not offer', async () => {
    const { url } = await openSession();
    expect((await post(`${url}/card`, { card: 'stolen' })).status).toBe(400);
    expect((await post(`${url}/card`)).status).toBe(400);
  });

  it('gives a slip that is paid at the store', async () => {
    const { target, id, url } = await openSession();
    const { status, location } = await post(`${url}/konbini`);
    expect(status).toBe(303);
    expect(location).toMatch(/^\/konbini\/pi_/);
    const slip = `${target.url}${location}`;
    const html = await text(slip);
    expect(html).toContain('2026-01-18 00:00 UTC');
    expect(html).toContain('Pay at the store');
    expect(await text(url)).toContain(`href="${location}"`);

    expect(await post(`${slip}/pay`)).toEqual({ status: 303, location });
    expect(await text(slip)).toContain('Paid. Thank you!');
    expect((await sdk(target).checkout.sessions.retrieve(id)).payment_status).toBe('paid');
    expect((await post(`${slip}/pay`)).status).toBe(400);
  });

  it('gives a slip that can lapse', async () => {
    const { target, url } = await openSession();
    const { location } = await post(`${url}/konbini`);
    await post(`${target.url}${location}/lapse`);
    expect(await text(`${target.url}${location}`)).toContain('This slip has lapsed.');
    expect(target.events().at(-1)?.type).toBe('checkout.session.async_payment_failed');
  });

  it('of an expired session says so', async () => {
    const { target, id, url } = await openSession();
    await target.expireSession({ session: id });
    expect(await text(url)).toContain('This checkout session has expired.');
    expect((await post(`${url}/card`, { card: 'works' })).status).toBe(400);
  });

  it('of no session is not found', async () => {
    const target = await simulator();
    expect((await fetch(`${target.url}/pay/cs_none`)).status).toBe(404);
    expect((await fetch(`${target.url}/konbini/pi_none`)).status).toBe(404);
  });

  it('is linked from the list of sessions', async () => {
    const { target, id } = await openSession();
    expect(await text(`${target.url}/`)).toContain(`href="/pay/${id}"`);
  });
});
