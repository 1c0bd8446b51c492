import type { ActionName } from "../domain/steps.js";
import type { RequestSource } from "../scenario/format/control-bodies.js";
import type { Scenario } from "../scenario/scenario.generated.js";
import { bytesOf, type Exchange, latestOf, sourceOf } from "./exchange.js";

/** An operation of a user, or of a step of the story; holds no key. */
export interface RecordedOperation {
  readonly name: ActionName;
  readonly input: unknown;
  readonly actor: "administrator" | "member" | undefined;
  /** On the sandbox's clock (epoch milliseconds). */
  readonly at: number;
  /** The code with which it was refused. */
  readonly refusal: string | undefined;
  /** The ref of the key that it made. */
  readonly made: string | undefined;
  /** The consent request that it was about. */
  readonly consent:
    | { readonly id: string; readonly farmer: number; readonly organization: string }
    | undefined;
}

/** A world at a moment. */
export interface Beginning {
  readonly scenario: Scenario;
  /** The clock (epoch milliseconds). */
  readonly at: number;
}

/** What can be repeated of a world: the world as it was, and what happened since then, in order. */
export interface Recorded {
  /** `undefined` if the world is too large to be copied. */
  readonly beginning: Beginning | undefined;
  readonly entries: readonly (Exchange | RecordedOperation)[];
}

export interface RequestEvent {
  readonly type: "request";
  readonly exchange: Exchange;
}

/** Hears events. If one throws, so does what it hears of, which has happened by then and which the others still hear. */
export type Listener<Event> = (event: Event | RequestEvent, position: number) => void;

export interface JournalQuery {
  /** At most this many, the latest ones. Default: all. */
  readonly limit?: number | undefined;
  /** The path on which the request ended, or of the fault that hit it. */
  readonly pathId?: string | undefined;
  /** A key's ref. */
  readonly key?: string | undefined;
  /** Whether probes of any server are among them. Default: false. */
  readonly probes?: boolean | undefined;
  /** Who sent them: clients, or the story and `POST /send`. Default: both. */
  readonly source?: RequestSource | undefined;
}

/** What a history needs of the world that runs. */
interface Subject {
  /** Returns the world as it is; `undefined` for one that is too large to be copied time and again. */
  readonly look: () => Beginning | undefined;
  /** The world as it was when it entered. Default: it is looked at. */
  readonly beginning?: Beginning | undefined;
  /** The requests that it had by then, the last of `total`. Default: none. */
  readonly requests?: readonly Exchange[];
  readonly total?: number;
}

/** What happened from one beginning to the next. */
interface Stretch {
  readonly beginning: Beginning | undefined;
  /** The position of the last event before it. */
  readonly after: number;
  readonly operations: Entry<RecordedOperation>[];
}

/** The number of requests and operations of a stretch. Two are kept, which the ring and stories have room for. */
const stretchLength = 480;

/** The number of requests, and of other events, that are kept. */
export const mostKept = 1000;

/**
 * Makes the history of a runtime: its last requests and its last other events, so that memory stays flat however long it
 * runs. The journal, the events and captures read it.
 */
export function createHistory<Event>(first: Subject, capacity = mostKept) {
  const requests = createRing<Exchange>(capacity);
  const events = createRing<Event>(capacity);
  const listeners = new Set<Listener<Event>>();
  let latest = 0;
  // Of the world that runs: the position and the number of its requests since it entered, or since the last `clear`.
  let world = first;
  let after = 0;
  let recorded = 0;
  // What can be repeated of it.
  let stretches: readonly Stretch[];
  let length: number;
  let lastAt: number;

  const stretchFrom = (beginning = world.look()): Stretch => ({ beginning, after: latest, operations: [] });
  const restart = (beginning?: Beginning) => {
    stretches = [stretchFrom(beginning)];
    length = 0;
  };
  const count = (at: number) => {
    // No story runs backwards, as the clock does with a fake `Date`.
    if (at < lastAt) restart();
    lastAt = at;
    length += 1;
    if (length < stretchLength) return;
    stretches = [...stretches.slice(-1), stretchFrom()];
    length = 0;
  };
  const tell = (event: Event | RequestEvent, position: number) => {
    let failures: unknown[] | undefined;
    for (const listener of listeners) {
      try {
        listener(event, position);
      } catch (error) {
        failures = [error];
      }
    }
    if (failures !== undefined) throw failures[0];
  };
  const list = (): Exchange[] =>
    [...(world.requests ?? []), ...requests.after(after).map(({ entry }) => entry)].slice(-capacity);
  const enter = (subject: Subject) => {
    world = subject;
    after = latest;
    recorded = 0;
    restart(subject.beginning);
    lastAt = stretches[0]?.beginning?.at ?? Number.NEGATIVE_INFINITY;
  };
  enter(first);

  return {
    /** Records a request. */
    record(exchange: Exchange): void {
      latest += 1;
      if (!exchange.isProbe) recorded += 1;
      requests.push(exchange, latest);
      if (exchange.isRepeatable) count(exchange.at);
      else restart();
      if (listeners.size > 0) tell({ type: "request", exchange }, latest);
    },
    /** Records an operation, for captures. */
    operation(operation: RecordedOperation): void {
      stretches.at(-1)?.operations.push({ position: latest, entry: operation });
      count(operation.at);
    },
    /** Records any other event. */
    announce(event: Event): void {
      latest += 1;
      events.push(event, latest);
      tell(event, latest);
    },
    /** Calls the listener with every event from now on, in order; returns how to stop that. */
    subscribe(listener: Listener<Event>): () => void {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    /** The position of the last event in the order of all; the first one is 1. */
    latest: () => latest,
    /** The events after a position, oldest first; `undefined` if some of them are no longer kept. */
    since(position: number): Entry<Event | RequestEvent>[] | undefined {
      if (position > latest || position < Math.max(requests.dropped(), events.dropped())) return undefined;
      const asked = requests
        .after(position)
        .map((one) => ({ ...one, entry: { type: "request", exchange: one.entry } as const }));
      return [...asked, ...events.after(position)].sort(byPosition);
    },
    /** The last requests to the world that runs, oldest first. */
    requests({ limit, pathId, key, source, probes = false }: JournalQuery = {}): Exchange[] {
      const matching = list().filter(
        (one) =>
          (probes || !one.isProbe) &&
          (pathId === undefined || one.pathId === pathId || one.fault === pathId) &&
          (key === undefined || one.key === key) &&
          (source === undefined || sourceOf(one) === source),
      );
      return limit === undefined ? matching : matching.slice(Math.max(0, matching.length - limit));
    },
    /** The request of an id; `undefined` without one, or if it is no longer kept. */
    find: (id: string): Exchange | undefined => list().find((one) => one.id === id),
    /** The number of requests since the start of the world or the last `clear`, discarded ones included, probes not. */
    total: () => (world.total ?? 0) + recorded,
    /** About the bytes of memory that all its requests take. */
    bytes: () =>
      [...(world.requests ?? []), ...requests.after(0).map(({ entry }) => entry)].reduce(
        (sum, one) => sum + bytesOf(one),
        0,
      ),
    /** Discards all requests except the last of the world that runs, which take so many bytes. They stay counted. */
    keep(most: number): void {
      const recent = requests.after(after);
      const all = list();
      const first = all.length - latestOf(all, most).length;
      const restored = all.length - recent.length;
      world = { ...world, requests: all.slice(first, restored) };
      requests.discard(recent[first - restored - 1]?.position ?? after);
      // A capture needs everything since its beginning.
      stretches = stretches.filter((stretch) => stretch.after >= requests.dropped());
      if (stretches.length === 0) restart();
    },
    /** Discards the requests. */
    clear: () => enter({ look: world.look }),
    /** Continues from the last requests of `total`. */
    restore: (kept: readonly Exchange[], total: number) =>
      enter({ look: world.look, requests: [...kept], total }),
    /** Continues with another world, to which nothing has happened since its own history began. */
    enter,
    /** The world that runs, for another history to continue with. */
    subject: (): Subject => ({ ...world, beginning: stretches[0]?.beginning }),
    /** Begins again with the world as it is, after something that cannot be repeated. */
    restart: () => restart(),
    /** What can be repeated of the world that runs. */
    recorded(): Recorded {
      const [{ beginning, after: start }] = stretches as [Stretch];
      const operations = stretches.flatMap((stretch) => stretch.operations);
      // An operation behind a request has its position.
      const entries = [...requests.after(start), ...operations].sort(byPosition);
      return { beginning, entries: entries.map(({ entry }) => entry) };
    },
  };
}

export type History<Event> = ReturnType<typeof createHistory<Event>>;

interface Entry<Content> {
  readonly position: number;
  readonly entry: Content;
}

const byPosition = (one: Entry<unknown>, other: Entry<unknown>) => one.position - other.position;

/** Keeps the last `capacity` entries, each with its position. */
function createRing<Content>(capacity: number) {
  const kept: Content[] = [];
  const positions: number[] = [];
  let next = 0;
  let dropped = 0;
  return {
    push(entry: Content, position: number): void {
      dropped = positions[next] ?? dropped;
      kept[next] = entry;
      positions[next] = position;
      next = next + 1 === capacity ? 0 : next + 1;
    },
    /** Those after a position, oldest first. */
    after(position: number): Entry<Content>[] {
      const all = kept.map((entry, index) => ({ position: positions[index] as number, entry }));
      return [...all.slice(next), ...all.slice(0, next)].filter((one) => one.position > position);
    },
    /** Discards those up to a position. */
    discard(position: number): void {
      const all = this.after(0);
      const remaining = all.filter((one) => one.position > position);
      if (remaining.length === all.length) return;
      dropped = all[all.length - remaining.length - 1]?.position ?? dropped;
      kept.splice(0, kept.length, ...remaining.map(({ entry }) => entry));
      positions.splice(0, positions.length, ...remaining.map((one) => one.position));
      next = remaining.length;
    },
    /** The position of the last entry that is no longer kept. */
    dropped: () => dropped,
  };
}
