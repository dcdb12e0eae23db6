import type { z } from 'zod';
import { requestControls, webhookControls } from './chaos-controls.ts';
import type { Control, ControlParts } from './control.ts';
import { parseParameters } from '../api/parameters.ts';
import { paymentControls, refundAndDisputeControls } from './payment-controls.ts';

const CONTROLS = {
  ...paymentControls,
  ...refundAndDisputeControls,
  ...requestControls,
  ...webhookControls,
};

type ControlTable = typeof CONTROLS;

/** Every control as a method: takes what the control request's JSON holds, and gives what it answers. */
export type Controls = {
  readonly [Name in keyof ControlTable]: (
    ...input: undefined extends z.input<ControlTable[Name]['input']>
      ? [input?: z.input<ControlTable[Name]['input']>]
      : [input: z.input<ControlTable[Name]['input']>]
  ) => Promise<Awaited<ReturnType<ControlTable[Name]['run']>>>;
};

/** Makes the controls, of which the methods and the `/_simulator` requests are two faces. */
export function createControls(parts: ControlParts): Controls {
  const table: Readonly<Record<string, Control<z.ZodType, unknown>>> = CONTROLS;
  const entries = Object.entries(table).map(([name, { input, run }]) => {
    const invoke = async (given?: object): Promise<unknown> => {
      const result = await Promise.resolve(run(parseParameters(input, given ?? {}), parts));
      await parts.save();
      return structuredClone(result);
    };
    return [name, invoke] as const;
  });
  // The entries are the table's own, each wrapped with the same input and result.
  return Object.fromEntries(entries) as unknown as Controls;
}
