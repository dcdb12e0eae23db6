import { invalidRequest } from './errors.ts';
import type { Simulation } from '../simulation.ts';

type Resolver = (simulation: Simulation, id: string) => unknown;

const paymentIntent: Resolver = ({ state }, id) => state.paymentIntents.get(id);
const charge: Resolver = ({ state }, id) => state.charges.get(id);

/** By object type: fields that hold an id, and become the object. */
const REFERENCES: Readonly<Record<string, Readonly<Record<string, Resolver>>>> = {
  'checkout.session': { payment_intent: paymentIntent },
  payment_intent: { latest_charge: charge },
  charge: { payment_intent: paymentIntent },
  refund: { charge, payment_intent: paymentIntent },
  dispute: { charge, payment_intent: paymentIntent },
};

/** By object type: lists that are left out unless asked for, by the id of the object they belong to. */
const INCLUDABLE: Readonly<Record<string, Readonly<Record<string, Resolver>>>> = {
  'checkout.session': {
    line_items: ({ state }, id) =>
      wholeList(`/v1/checkout/sessions/${id}/line_items`, state.sessionDetails.get(id)?.lineItems ?? []),
  },
  charge: {
    refunds: ({ state }, id) => {
      const refunds = [...state.refunds.values()].filter((refund) => refund.charge === id);
      return wholeList(`/v1/charges/${id}/refunds`, refunds.reverse());
    },
  },
};

/**
 * A copy of an answer with the asked-for paths expanded, such as `payment_intent.latest_charge`, or
 * `data.payment_intent` of a list. Throws Stripe's refusal for a property that can't be expanded.
 */
export function expanded(simulation: Simulation, answer: object, paths: readonly string[] = []): object {
  const copy = structuredClone(answer);
  for (const path of paths) expandPath(simulation, copy, path.split('.'), path);
  return copy;
}

function expandPath(simulation: Simulation, target: object, parts: readonly string[], path: string): void {
  const [name, ...rest] = parts;
  if (name === undefined) return;
  const type = textAt(target, 'object');
  if (type === 'list' && name === 'data') {
    const items: unknown = Reflect.get(target, 'data');
    for (const item of Array.isArray(items) ? items : []) expandInto(simulation, item, rest, path);
    return;
  }
  const include = INCLUDABLE[type]?.[name];
  const reference = REFERENCES[type]?.[name];
  if (include !== undefined) {
    Reflect.set(target, name, include(simulation, textAt(target, 'id')));
  } else if (reference === undefined) {
    throw invalidRequest(`This property cannot be expanded (${path}).`, { param: 'expand' });
  } else if (typeof Reflect.get(target, name) === 'string') {
    Reflect.set(target, name, structuredClone(reference(simulation, textAt(target, name))));
  }
  expandInto(simulation, Reflect.get(target, name), rest, path);
}

function expandInto(simulation: Simulation, value: unknown, rest: readonly string[], path: string): void {
  if (typeof value === 'object' && value !== null) expandPath(simulation, value, rest, path);
}

function textAt(target: object, name: string): string {
  const value: unknown = Reflect.get(target, name);
  return typeof value === 'string' ? value : '';
}

function wholeList(url: string, data: readonly object[]) {
  return { object: 'list', data: structuredClone(data), has_more: false, url };
}
