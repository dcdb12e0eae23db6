import { type AuditReport, auditTable } from '../../src/ledger/usecases/audit/audit-ledger.ts';
import { type ReconcileReport, reconcile } from '../../src/ledger/usecases/reconcile/reconcile.ts';
import { sweepEvents } from '../../src/ledger/usecases/provider-updates/sweep-events.ts';
import { seededFractions } from './seeded.ts';
import { type Books, comparedBooks } from './stripe-day-books.ts';
import { type Act, type Scene, minutes } from './stripe-day-scene.ts';
import { type Ending, STORIES, type Story } from './stripe-day-stories.ts';
import { type DayWorld, makeDayWorld } from './stripe-day-world.ts';

export interface StripeDayOptions {
  readonly payments: number;
  readonly seed: number;
  /** Payments begin in the first hours of the day, so that their refunds and disputes end in it. */
  readonly openingHours: number;
}

export interface StripeDay {
  readonly seed: number;
  readonly payments: number;
  readonly stories: Readonly<Record<string, number>>;
  readonly events: number;
  readonly webhooks: Readonly<Record<string, number>>;
  readonly answersLost: number;
  /** Orders whose time had come, each time it had. */
  readonly worked: number;
  /** Events that no webhook had told of. */
  readonly healedEvents: number;
  /** From the last thing that anybody did until nothing was due any more, in simulated hours. */
  readonly healedAfterHours: number;
  /** Orders that are due at any time to come. */
  readonly waiting: number;
  /** Payments that don't stand as who made them knows they must. */
  readonly wrong: readonly string[];
  readonly books: Books;
  readonly audit: AuditReport;
  readonly reconciliation: ReconcileReport;
}

const TICK_MS = minutes(10);
const EVENTS_EVERY_MS = minutes(30);
const HEALING_TICK_MS = minutes(60);
const MOST_HEALING_TICKS = 72;

/** Somebody in the middle of their story, and when they go on. */
interface Telling {
  readonly story: Story;
  readonly scene: Scene;
  readonly act: Act<Ending>;
  atMs: number;
}

interface Reported {
  readonly story: Story;
  readonly scene: Scene;
  readonly ending: Ending;
}

/**
 * A day of payments at a Stripe that loses a fifth of its webhooks, doubles and reorders as many, and now and then an
 * answer; then sweeps until nothing is due; then looks at what the ledger holds. The seed decides who pays what and how,
 * and which event is lost; how webhooks and requests meet is up to the machine.
 */
export async function liveStripeDay(options: StripeDayOptions): Promise<StripeDay> {
  const { payments, seed } = options;
  const world = await makeDayWorld(seed);
  try {
    const { reported, done, healedAfterHours } = await playDay(world, options);
    const noWait = (): Promise<void> => Promise.resolve();
    return {
      seed,
      payments,
      stories: counted(reported.map(({ story }) => story.name)),
      events: world.simulator.events().length,
      webhooks: Object.fromEntries([...world.webhooks].sort(([one], [other]) => (one < other ? -1 : 1))),
      answersLost: world.answersLost(),
      ...done,
      healedAfterHours,
      waiting: await world.waiting(),
      ...(await comparedBooks(world, reported)),
      audit: await auditTable(world.ledger.store, { segments: 4, wait: noWait }),
      reconciliation: await reconcile(world.ledger, {
        sinceMs: minutes(7 * 24 * 60),
        fix: false,
        bothWays: true,
      }),
    };
  } catch (error) {
    throw new Error(`the day broke off: STRIPE_DAY_SEED=${String(seed)} plays it again`, { cause: error });
  } finally {
    await world.stop();
  }
}

/** Lives the day to its end, and lets it heal. */
export async function playDay(
  world: DayWorld,
  options: StripeDayOptions,
): Promise<{
  readonly reported: readonly Reported[];
  readonly done: Done;
  readonly healedAfterHours: number;
}> {
  const done = { worked: 0, healedEvents: 0 };
  const reported = await tellAll(world, begin(world, options), done);
  return { reported, done, healedAfterHours: await heal(world, done) };
}

function begin(world: DayWorld, { payments, seed, openingHours }: StripeDayOptions): readonly Telling[] {
  const startMs = world.clock.nowMs();
  const deal = dealer(seededFractions(seed));
  return Array.from({ length: payments }, (_, index) => {
    const story = deal();
    const fraction = seededFractions(seed + 7_919 * (index + 1));
    const tenant = story.konbini === true || fraction() < 0.6 ? 'demo' : 't_1';
    const whole = 500 + Math.floor(fraction() * 1_000);
    const scene: Scene = {
      world,
      tenant,
      accountId: `c_${String(Math.floor(fraction() * Math.ceil(payments / 4)))}`,
      kind: fraction() < 0.35 ? 'TOP_UP' : 'PURCHASE',
      amount:
        tenant === 'demo' ? String(whole) : `${String(Math.floor(whole / 25))}.${String(10 + (whole % 90))}`,
      fraction,
    };
    const atMs = startMs + Math.floor((minutes(openingHours * 60) * (index + fraction())) / payments);
    return { story, scene, act: story.tell(scene), atMs };
  });
}

/** Deals stories from a shuffled deck, so that also a short day has every kind. */
function dealer(fraction: () => number): () => Story {
  let deck: Story[] = [];
  return () => {
    if (deck.length === 0)
      deck = STORIES.flatMap((story) => Array.from({ length: story.weight }, () => story));
    const [story] = deck.splice(Math.floor(fraction() * deck.length), 1);
    if (story === undefined) throw new Error('there are stories');
    return story;
  };
}

interface Done {
  worked: number;
  healedEvents: number;
}

async function tellAll(
  world: DayWorld,
  tellings: readonly Telling[],
  done: Done,
): Promise<readonly Reported[]> {
  const reported: Reported[] = [];
  let open = [...tellings];
  while (open.length > 0) {
    await world.advance(TICK_MS);
    const nowMs = world.clock.nowMs();
    const due = open.filter(({ atMs }) => atMs <= nowMs).sort((one, other) => one.atMs - other.atMs);
    for (const telling of due) {
      const { story, scene, act } = telling;
      const step = await act.next();
      if (step.done === true) {
        reported.push({ story, scene, ending: step.value });
        open = open.filter((other) => other !== telling);
      } else telling.atMs += step.value;
    }
    await sweep(world, done);
  }
  return reported;
}

/** What a worker does all day, beside the webhooks that come in meanwhile. */
async function sweep(world: DayWorld, done: Done): Promise<boolean> {
  const worked = await world.work();
  const found = await sweepEvents(world.ledger, { pauseMs: EVENTS_EVERY_MS });
  await world.simulator.idle({ timeoutMs: 120_000 });
  done.worked += worked;
  done.healedEvents += found?.applied ?? 0;
  return worked === 0 && found?.complete === true && found.applied === 0 && found.left === 0;
}

/** Lets time pass until nothing is due, no event is left to apply, and nothing will ever be due. Gives how many hours. */
async function heal(world: DayWorld, done: Done): Promise<number> {
  for (let ticks = 1; ticks <= MOST_HEALING_TICKS; ticks += 1) {
    await world.advance(HEALING_TICK_MS);
    const isQuiet = await sweep(world, done);
    if (isQuiet && (await world.waiting()) === 0) return (ticks * HEALING_TICK_MS) / minutes(60);
  }
  return Number.POSITIVE_INFINITY;
}

export function counted(names: readonly string[]): Readonly<Record<string, number>> {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return Object.fromEntries([...counts].sort(([one], [other]) => (one < other ? -1 : 1)));
}
