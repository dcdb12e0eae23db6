import { timingSafeEqual } from 'node:crypto';
import type { HttpBindings } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import type { Context, Hono } from 'hono';
import Stripe from 'stripe';
import { ENDPOINTS, type Endpoint } from './endpoints.ts';
import { invalidRequest, StripeFault, unauthorized, unknownPath } from './errors.ts';
import { decodeForm, type FormRecord } from './form-decoding.ts';
import { createIdempotency, requestFingerprint } from './idempotency.ts';
import type { InjectedFailure, RequestChaos, RequestRule } from './request-chaos.ts';
import { causedBy, type Simulation } from '../simulation.ts';
import type { StoredResponse } from '../state.ts';

export type SimulatorHono = Hono<{ Bindings: HttpBindings }>;
type SimulatorContext = Context<{ Bindings: HttpBindings }>;

export interface ApiParts {
  readonly simulation: Simulation;
  readonly secretKey: string;
  readonly chaos: RequestChaos;
  /** Brings sessions and slips up to simulated time before a request is judged. */
  readonly settle: () => void;
  /** Makes what a request did survive, before it is answered. */
  readonly save: () => Promise<void>;
}

interface ApiRequest {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly key: string | undefined;
  readonly parameters: FormRecord;
  readonly objectId: string;
}

interface Answer {
  readonly status: number;
  readonly body: string;
  /** The request whose answer this was at first, where it is replayed. */
  readonly replayOf?: string;
}

/** Serves Stripe's API under `/v1`. */
export function mountApi(app: SimulatorHono, parts: ApiParts): void {
  const handle = createHandler(parts);
  for (const endpoint of ENDPOINTS) {
    app.on(endpoint.method, endpoint.path, (context) => handle(context, endpoint));
  }
  app.all('/v1/*', (context) => handle(context, undefined));
}

function createHandler(parts: ApiParts) {
  const { simulation, chaos } = parts;
  const idempotency = createIdempotency(simulation);

  /** Runs a request under its key, and keeps the answer until a delay rule lets it go. */
  const answer = async (
    endpoint: Endpoint,
    request: ApiRequest,
    rule: RequestRule | undefined,
  ): Promise<Answer> => {
    const { key } = request;
    const fingerprint = requestFingerprint(request.method, request.path, request.parameters);
    const stored = key === undefined ? undefined : idempotency.begin(key, fingerprint);
    if (stored !== undefined) return { status: stored.status, body: stored.body, replayOf: stored.requestId };
    try {
      const { real, given, bound } = outcome(parts, endpoint, request, rule);
      if (key !== undefined && bound) {
        idempotency.store(key, storedResponse(simulation, request, fingerprint, real));
      }
      await parts.save();
      if (rule?.kind === 'delay') await chaos.wait(rule.ms);
      return given;
    } finally {
      if (key !== undefined) idempotency.release(key);
    }
  };

  return async (context: SimulatorContext, endpoint: Endpoint | undefined): Promise<Response> => {
    const id = simulation.newId('req');
    try {
      authenticate(context, parts.secretKey);
      requireVersion(context);
      if (endpoint === undefined) throw unknownPath(context.req.method, context.req.path);
      const request = await readRequest(context, id);
      parts.settle();
      const rule = chaos.take(request.method, request.path);
      if (rule?.kind === 'reset' && rule.when === 'before') return resetConnection(context);
      const given = await answer(endpoint, request, rule);
      if (rule?.kind === 'reset') return resetConnection(context);
      return respond(id, request.key, given);
    } catch (error) {
      if (!(error instanceof StripeFault)) throw error;
      return respond(id, context.req.header('idempotency-key'), refusalAnswer(error));
    }
  };
}

/**
 * What a request comes to. `real` is what its key is bound to, `given` what the caller gets: they differ where a
 * failure is injected after the effect. Refusals before execution are thrown, and no key is bound to them.
 */
function outcome(parts: ApiParts, endpoint: Endpoint, request: ApiRequest, rule: RequestRule | undefined) {
  const injected = rule?.kind === 'fail' ? rule : undefined;
  if (injected?.when === 'before') {
    const given = failureAnswer(injected.failure);
    return { real: given, given, bound: injected.stored };
  }
  const cause = { id: request.id, idempotency_key: request.key ?? null };
  const run = endpoint.prepare(causedBy(parts.simulation, cause), request.parameters, request.objectId);
  const real = runToAnswer(run);
  if (injected === undefined) return { real, given: real, bound: true };
  const given = failureAnswer(injected.failure);
  return { real: injected.stored ? given : real, given, bound: true };
}

function runToAnswer(run: () => object): Answer {
  try {
    return { status: 200, body: JSON.stringify(run(), null, 2) };
  } catch (error) {
    if (!(error instanceof StripeFault)) throw error;
    return refusalAnswer(error);
  }
}

function storedResponse(
  simulation: Simulation,
  request: ApiRequest,
  fingerprint: string,
  answer: Answer,
): StoredResponse {
  const createdS = simulation.nowS();
  return { fingerprint, status: answer.status, body: answer.body, requestId: request.id, createdS };
}

function authenticate(context: SimulatorContext, secretKey: string): void {
  const header = context.req.header('authorization');
  if (header === undefined) {
    throw unauthorized(
      "You did not provide an API key. You need to provide your API key in the Authorization header, using Bearer auth (e.g. 'Authorization: Bearer YOUR_SECRET_KEY').",
    );
  }
  const given = Buffer.from(header.replace(/^Bearer /, ''));
  const expected = Buffer.from(secretKey);
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) {
    throw unauthorized('Invalid API Key provided.');
  }
}

function requireVersion(context: SimulatorContext): void {
  const version = context.req.header('stripe-version');
  if (version === undefined || version === Stripe.API_VERSION) return;
  throw invalidRequest(`Invalid Stripe API version: ${version}. The simulator speaks ${Stripe.API_VERSION}.`);
}

async function readRequest(context: SimulatorContext, id: string): Promise<ApiRequest> {
  const { method, path } = context.req;
  const encoded = method === 'POST' ? await readForm(context) : new URL(context.req.url).search;
  return {
    id,
    method,
    path,
    key: method === 'POST' ? context.req.header('idempotency-key') : undefined,
    parameters: decodeForm(encoded),
    objectId: context.req.param('id') ?? '',
  };
}

async function readForm(context: SimulatorContext): Promise<string> {
  const body = await context.req.text();
  const type = context.req.header('content-type') ?? '';
  if (body === '' || type.startsWith('application/x-www-form-urlencoded')) return body;
  throw invalidRequest(
    `Invalid request: the content type must be application/x-www-form-urlencoded, not ${type}.`,
  );
}

/** Breaks the connection without an answer, as a server does that dies. */
function resetConnection(context: SimulatorContext): Response {
  context.env.incoming.socket.resetAndDestroy();
  return RESPONSE_ALREADY_SENT;
}

function respond(id: string, key: string | undefined, answer: Answer): Response {
  return new Response(answer.body, {
    status: answer.status,
    headers: {
      'content-type': 'application/json',
      'request-id': id,
      'stripe-version': Stripe.API_VERSION,
      ...(key === undefined ? {} : { 'idempotency-key': key }),
      ...(answer.replayOf === undefined
        ? {}
        : { 'idempotent-replayed': 'true', 'original-request': answer.replayOf }),
    },
  });
}

function refusalAnswer(fault: StripeFault): Answer {
  return { status: fault.status, body: JSON.stringify({ error: fault.body }, null, 2) };
}

function failureAnswer(failure: InjectedFailure): Answer {
  const error = {
    type: failure.type,
    message: failure.message ?? 'The simulator was asked to fail this request.',
    ...(failure.code === undefined ? {} : { code: failure.code }),
    ...(failure.declineCode === undefined ? {} : { decline_code: failure.declineCode }),
  };
  return { status: failure.status, body: JSON.stringify({ error }, null, 2) };
}
