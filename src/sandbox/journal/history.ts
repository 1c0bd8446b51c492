import type { RequestSource } from "../../rules/request.js";
import { bytesOf, type Exchange, latestOf, sourceOf } from "./exchange.js";

export interface RequestEvent {
  readonly type: "request";
  readonly exchange: Exchange;
  /** Whether another server responded, with the same store. */
  readonly isForeign?: true;
}

/** Receives events. An error is thrown to the caller after all listeners ran; the event has already happened. */
export type Listener<Event> = (event: Event | RequestEvent, position: number) => void;

export interface JournalQuery {
  readonly limit?: number | undefined;
  /** The path id of the response, or of the fault that affected the request. */
  readonly pathId?: string | undefined;
  readonly key?: string | undefined;
  /** Whether to include probes of any web server. Default: false. */
  readonly probes?: boolean | undefined;
  /** Who sent them: clients, or the story and `POST /send`. Default: both. */
  readonly source?: RequestSource | undefined;
  /** Whether to include requests that a fault hit and that their client sent again. Default: true. */
  readonly faults?: boolean | undefined;
}

/** One thing that happened in a sandbox. */
export type Happening<Event> = { readonly request: Exchange } | { readonly event: Event };

export const maxKept = 1000;

/** The latest requests, and the number of everything that has happened. */
export function createHistory<Event>(capacity = maxKept) {
  const requests = createKept<Exchange>(capacity);
  const listeners = new Set<Listener<Event>>();
  const watchers = new Set<Listener<Event>>();
  let latest = 0;
  // The requests before the start of a restored journal, and the number of all requests before it.
  let earlier: readonly Exchange[] = [];
  let total = 0;
  let after = 0;
  let measured = { at: -1, bytes: 0 };
  const list = (): Exchange[] =>
    [...earlier, ...requests.after(after).map(({ entry }) => entry)].slice(-capacity);

  // What has happened since it holds its events, and how it was before.
  let held: { readonly entries: Entry<Happening<Event>>[]; readonly restore: () => void } | undefined;
  const happen = (happening: Happening<Event>) => {
    if (held === undefined) tellOf(happening, listeners, latest);
    else held.entries.push({ position: latest, entry: happening });
  };

  return {
    record(exchange: Exchange): void {
      latest += 1;
      if (!exchange.isProbe) total += 1;
      requests.push(exchange, latest);
      happen({ request: exchange });
    },
    emit(event: Event): void {
      latest += 1;
      if (watchers.size > 0) notifyAll(watchers, event, latest);
      happen({ event });
    },
    /** From now on, listeners hear nothing. */
    hold(): void {
      const before = { latest, total, after, earlier };
      const restore = () => {
        ({ latest, total, after, earlier } = before);
        requests.forget(latest);
      };
      held = { entries: [], restore };
    },
    /** Returns what has happened since it holds its events. */
    held: (): Happening<Event>[] => (held?.entries ?? []).map(({ entry }) => entry),
    /** Tells listeners what has happened in between, here or on another server, unless they know it. */
    release({ isKnown = false, isForeign = false } = {}): void {
      const entries = held?.entries ?? [];
      held = undefined;
      if (isKnown) return;
      for (const { position, entry } of entries) tellOf(entry, listeners, position, isForeign);
    },
    /** Forgets what has happened in between: nobody has heard of it. */
    drop(): void {
      held?.restore();
      held = undefined;
    },
    subscribe(listener: Listener<Event>): () => void {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    /** Like `subscribe`, but also hears of events that are held. */
    watch(listener: Listener<Event>): () => void {
      watchers.add(listener);
      return () => watchers.delete(listener);
    },
    /** The number of all requests and events of this process, also of earlier starts. */
    latest: () => latest,
    requests: (query: JournalQuery = {}): Exchange[] => matchingRequests(list(), query),
    find: (id: string): Exchange | undefined => list().find((one) => one.id === id),
    /** Returns the number of requests since the start or the last `clear`, including discarded ones but not probes. */
    total: () => total,
    /** The bytes of its requests, counted again only after something has happened. */
    bytes(): number {
      if (measured.at !== latest)
        measured = { at: latest, bytes: bytesIn(earlier) + bytesIn(requests.entries()) };
      return measured.bytes;
    },
    /** Discards requests except the latest `count` since the start that fit into `max` bytes. The total stays. */
    keep(max: number, count = capacity): void {
      const recent = requests.after(after);
      const entries = list();
      const first = entries.length - latestOf(count === 0 ? [] : entries.slice(-count), max).length;
      const restored = entries.length - recent.length;
      earlier = entries.slice(first, restored);
      requests.discard(recent[first - restored - 1]?.position ?? after);
      measured.at = -1;
    },
    /** Discards the requests, and continues from the latest ones of `responded`. */
    enter(kept: readonly Exchange[] = [], responded = 0): void {
      [earlier, total, after] = [[...kept], responded, latest];
      measured.at = -1;
    },
  };
}

function tellOf<Event>(
  happening: Happening<Event>,
  listeners: ReadonlySet<Listener<Event>>,
  position: number,
  isForeign = false,
): void {
  if (listeners.size === 0) return;
  notifyAll(
    listeners,
    "event" in happening ? happening.event : requestEvent(happening.request, isForeign),
    position,
  );
}

function requestEvent(exchange: Exchange, isForeign = false): RequestEvent {
  return isForeign ? { type: "request", exchange, isForeign } : { type: "request", exchange };
}

function notifyAll<Event>(
  listeners: Iterable<Listener<Event>>,
  event: Event | RequestEvent,
  position: number,
) {
  let failures: unknown[] | undefined;
  for (const listener of listeners) {
    try {
      listener(event, position);
    } catch (error) {
      failures = [error];
    }
  }
  if (failures !== undefined) throw failures[0];
}

const bytesIn = (all: readonly Exchange[]) => all.reduce((sum, one) => sum + bytesOf(one), 0);

function matchingRequests(
  all: readonly Exchange[],
  { limit, pathId, key, source, probes = false, faults = true }: JournalQuery,
): Exchange[] {
  const matching = (faults ? all : withoutFaults(all)).filter(
    (one) =>
      (probes || !one.isProbe) &&
      (pathId === undefined || one.pathId === pathId || one.fault === pathId) &&
      (key === undefined || one.key === key) &&
      (source === undefined || sourceOf(one) === source),
  );
  return limit === undefined ? matching : matching.slice(Math.max(0, matching.length - limit));
}

export type History<Event> = ReturnType<typeof createHistory<Event>>;

// Leaves out requests that a fault hit and that their client sent again: after no or a broken response, before the end of a
// delayed one, or after a delayed 401 or 403, because a timeout may come just after its end.
function withoutFaults(all: readonly Exchange[]): Exchange[] {
  const sentLater = new Set<string>();
  const isKept = ({ method, path, fingerprint, fault, pathId, status, isUnread }: Exchange) => {
    const name = `${method} ${path} ${fingerprint}`;
    const isRepeated = sentLater.has(name);
    sentLater.add(name);
    const wasInVain = fault === pathId || isUnread === true || status === 401 || status === 403;
    return fault === null || !isRepeated || !wasInVain;
  };
  return [...all].reverse().filter(isKept).reverse();
}

interface Entry<Content> {
  readonly position: number;
  readonly entry: Content;
}

function createKept<Content>(capacity: number) {
  const entries: Entry<Content>[] = [];
  // Old entries go in groups: to drop one moves all others, which would cost more than the rest of a request.
  const spare = Math.ceil(capacity / 8);
  const excess = () => Math.max(0, entries.length - capacity);
  const drop = (count: number) => void entries.splice(0, count);
  return {
    push(entry: Content, position: number): void {
      if (excess() === spare) drop(spare);
      entries.push({ position, entry });
    },
    entries: (): Content[] => entries.map(({ entry }) => entry),
    after: (position: number): Entry<Content>[] =>
      entries.slice(excess()).filter((one) => one.position > position),
    /** Discards those after a position. */
    forget(position: number): void {
      while ((entries.at(-1)?.position ?? 0) > position) entries.pop();
    },
    discard: (position: number): void => drop(entries.filter((one) => one.position <= position).length),
  };
}
