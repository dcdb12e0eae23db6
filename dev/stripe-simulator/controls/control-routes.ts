import type { SimulatorHono } from '../api/api.ts';
import type { Controls } from './controls.ts';
import { invalidRequest, StripeFault } from '../api/errors.ts';

/**
 * Serves the controls as `POST /_simulator/<name>` with a JSON body, the name in kebab case, and those that only
 * ask as GET too. JSON alone is taken, so that no web page can post a form here from a developer's browser.
 */
export function mountControls(app: SimulatorHono, controls: Controls): void {
  const byPath = new Map<string, (input?: object) => Promise<unknown>>();
  for (const [name, invoke] of Object.entries(controls)) {
    // Each control parses its input itself, so any object may be handed to it.
    byPath.set(kebabCase(name), invoke as (input?: object) => Promise<unknown>);
  }

  app.get('/_simulator', (context) => context.json({ controls: [...byPath.keys()].sort() }));

  app.get('/_simulator/idle', async (context) => {
    const timeoutMs = Number.parseInt(context.req.query('timeoutMs') ?? '10000', 10);
    return await answering(() => controls.idle({ timeoutMs }));
  });

  app.get('/_simulator/held', async () => await answering(() => controls.held()));

  app.post('/_simulator/:name', async (context) => {
    const invoke = byPath.get(context.req.param('name'));
    if (invoke === undefined) return context.json({ error: { message: 'No such control.' } }, 404);
    return await answering(async () => await invoke(await jsonBody(context.req.raw)));
  });
}

async function answering(invoke: () => Promise<unknown>): Promise<Response> {
  try {
    return Response.json(await invoke());
  } catch (error) {
    if (!(error instanceof StripeFault)) throw error;
    return Response.json({ error: error.body }, { status: error.status });
  }
}

async function jsonBody(request: Request): Promise<object> {
  const type = request.headers.get('content-type') ?? '';
  if (!type.startsWith('application/json')) throw invalidRequest('A control takes application/json.');
  const parsed: unknown = await request.json().catch(() => undefined);
  if (typeof parsed === 'object' && parsed !== null) return parsed;
  throw invalidRequest('A control takes a JSON object.');
}

function kebabCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}
