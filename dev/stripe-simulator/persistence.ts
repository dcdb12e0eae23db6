import { mkdir, open, readFile, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { emptyState, type State } from './state.ts';

/** The form of the file. A file of another form is refused rather than misread. */
const FORMAT = 1;

/** Reads the state that an earlier run left, or an empty one where there is no file. Throws on an unreadable file. */
export async function loadState(file: string | undefined): Promise<State> {
  const state = emptyState();
  if (file === undefined) return state;
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (text === undefined) return state;
  const saved = parse(text);
  if (saved === undefined) throw new Error(`${file} is no state of the simulator; remove it`);
  if (saved.format !== FORMAT) throw new Error(`${file} was written by another version; remove it`);
  return {
    sessions: new Map(saved.sessions),
    sessionDetails: new Map(saved.sessionDetails),
    paymentIntents: new Map(saved.paymentIntents),
    charges: new Map(saved.charges),
    refunds: new Map(saved.refunds),
    disputes: new Map(saved.disputes),
    events: new Map(saved.events),
    responses: new Map(saved.responses),
    undelivered: new Set(saved.undelivered),
    idsMade: saved.idsMade,
    clockOffsetMs: saved.clockOffsetMs,
  };
}

function parse(text: string): Serialised | undefined {
  try {
    // Our own file, written by `serialised` below; its format number is looked at next.
    return (JSON.parse(text) as Serialised | null) ?? undefined;
  } catch {
    return undefined;
  }
}

/**
 * Makes the function that writes the state to a file, whole and atomically. Calls made while a write is under way
 * share the next one. Without a file it does nothing.
 */
export function stateSaver(state: State, file: string | undefined): () => Promise<void> {
  if (file === undefined) return () => Promise.resolve();
  let writing: Promise<void> = Promise.resolve();
  let next: Promise<void> | undefined;
  return () => {
    next ??= writing
      .catch(() => undefined)
      .then(() => {
        next = undefined;
        writing = writeAtomically(file, JSON.stringify(serialised(state)));
        return writing;
      });
    return next;
  };
}

function serialised(state: State) {
  return {
    format: FORMAT,
    sessions: [...state.sessions],
    sessionDetails: [...state.sessionDetails],
    paymentIntents: [...state.paymentIntents],
    charges: [...state.charges],
    refunds: [...state.refunds],
    disputes: [...state.disputes],
    events: [...state.events],
    responses: [...state.responses],
    undelivered: [...state.undelivered],
    idsMade: state.idsMade,
    clockOffsetMs: state.clockOffsetMs,
  };
}

type Serialised = ReturnType<typeof serialised>;

async function writeAtomically(file: string, text: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  const draft = `${file}.draft`;
  const handle = await open(draft, 'w');
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(draft, file);
}
