import type { AdviceId } from "../../rules/advice.js";
import { isMarked, isSandboxKey, keyStateAt, keyStateTable } from "../../rules/api-key.js";
import type { Assumptions } from "../../rules/assumptions.js";
import { type Presented, successPath } from "../../rules/authorize.js";
import { isFault, isSuccess, outcomeOf, type PathId } from "../../rules/outcomes.js";
import { type ApiRequest, hasKeyElsewhere } from "../../rules/request.js";
import type { KeyEntry } from "../registry.js";
import type { Exchange } from "./exchange.js";

/** A key for display: its ref if it is known, and its fingerprint (R46). */
export type ShownKey = Pick<Exchange, "key" | "fingerprint">;

/** Contains no key (R46). Identifies the key that the advice is about, such as one in the query. */
type AdviceExample = Pick<Exchange, "id" | "at" | "method" | "path"> & ShownKey;

interface AdviceCount {
  count: number;
  readonly examples: AdviceExample[];
}

interface PathCount {
  count: number;
  /** Whether a request ended here other than by a misplaced key. */
  isCovered: boolean;
}

/** How often a key was resent after a path rejected it, and was rejected there again. */
interface RepeatCount {
  key: string | null;
  readonly fingerprint: string | null;
  readonly pathId: PathId;
  count: number;
}

/** What requests were counted; what never happened is not listed. */
export interface Counts {
  requests: number;
  unread: number;
  /** The counts by path id, also of the successes of other endpoints. */
  readonly paths: Partial<Record<PathId, PathCount>>;
  readonly endpoints: Record<string, number>;
  readonly advice: Partial<Record<AdviceId, AdviceCount>>;
  /** The first hundred, by path id and key. */
  readonly repeats: RepeatCount[];
}

const maxExamples = 5;
const maxRepeats = 100;

const noCounts = (): Counts => {
  return { requests: 0, unread: 0, paths: {}, endpoints: {}, advice: {}, repeats: [] };
};

export type KeysOfAdvice = Readonly<Partial<Record<AdviceId, ShownKey>>>;

/** A variant of a row of the variation table, on the responses of one status. */
export interface VariedPoint {
  readonly row: string;
  readonly variant: string;
  readonly status: number;
}

/** What the conditions of a run show with one request of a client. */
export interface Observation {
  /** What varied in its response. */
  readonly points: readonly VariedPoint[];
  /** Where the request would have ended without the fault, wrong answer or rejection of the run that hit it. */
  readonly hit?: PathId | undefined;
  /** The milliseconds since a rejection, if it was accepted although it must not follow. */
  readonly rewardedAfterMs?: number;
  /** The seed that the client's own code sets in place of the run's, and where. */
  readonly pinned?: { readonly seed: number; readonly place?: string | undefined } | undefined;
  /** The name of its sandbox's scenario. */
  readonly scenario: string;
  /** The assumptions that its sandbox sets, and that the run would vary. */
  readonly unvaried: readonly (keyof Assumptions)[];
}

export interface Counting {
  count: (exchange: Exchange, keys?: KeysOfAdvice, seen?: Observation) => void;
  countUnread: () => void;
}

/** Counts requests by path and by advice. Unlike the journal, it discards none; a reset keeps the counts. */
export class Counters {
  /** Options that curl needs to reach the server, which sets them. Default: none. */
  curlOptions = "";
  /** How the user starts `certify`, and the client's command, for advice; a command sets them. */
  rerun = { certify: "svc-sandbox certify", command: "npm test" };
  #counts = noCounts();
  #next: Counting | undefined;

  /** A delayed request counts for its path and the fault. `keys`: of advice on other keys than the presented one. */
  count(exchange: Exchange, keys?: KeysOfAdvice, seen?: Observation): void {
    countExchange(this.#counts, exchange, keys);
    this.#next?.count(exchange, keys, seen);
  }

  countUnread(): void {
    this.#counts.unread += 1;
    this.#next?.countUnread();
  }

  /** Counts every later request there as well. */
  passOnTo(next: Counting): void {
    this.#next = next;
  }

  read(): Counts {
    return structuredClone(this.#counts);
  }

  requests(): number {
    return this.#counts.requests;
  }

  unread(): number {
    return this.#counts.unread;
  }

  /** Starts again from zero; what was passed on remains there. */
  clear(): void {
    this.#counts = noCounts();
  }

  restore(counts: Counts): void {
    this.#counts = structuredClone(counts);
  }
}

/** The number of requests to an endpoint, whose name may be that of a member of objects: `valueOf`. */
export function requestsTo({ endpoints }: Counts, operationId: string): number {
  return Object.hasOwn(endpoints, operationId) ? (endpoints[operationId] ?? 0) : 0;
}

function countExchange(counts: Counts, exchange: Exchange, keys?: KeysOfAdvice): void {
  const { pathId, fault, operation } = exchange;
  counts.requests += 1;
  if (operation !== null) counts.endpoints[operation] = requestsTo(counts, operation) + 1;
  countPath(counts, pathId, !isByMistake(exchange));
  if (fault !== null && fault !== pathId) countPath(counts, fault, true);
  if (exchange.isResent) countRepeat(counts, exchange);
  for (const id of exchange.advice) countAdvice(counts, id, exchange, keys?.[id]);
}

function countPath({ paths }: Counts, pathId: PathId, isCovered: boolean): void {
  const row = paths[pathId] ?? { count: 0, isCovered: false };
  paths[pathId] = row;
  row.count += 1;
  row.isCovered ||= isCovered;
}

function countRepeat({ repeats }: Counts, { pathId, key, fingerprint }: Exchange): void {
  const counted = repeats.find((one) => one.pathId === pathId && one.fingerprint === fingerprint);
  if (counted !== undefined) {
    counted.count += 1;
    counted.key = key;
  } else if (repeats.length < maxRepeats) repeats.push({ pathId, key, fingerprint, count: 1 });
}

function countAdvice({ advice }: Counts, adviceId: AdviceId, exchange: Exchange, shown?: ShownKey): void {
  const row = advice[adviceId] ?? { count: 0, examples: [] };
  advice[adviceId] = row;
  row.count += 1;
  if (row.examples.length === maxExamples) return;
  const { id, at, method, path, key, fingerprint } = exchange;
  row.examples.push({ id, at, method, path, key, fingerprint, ...shown });
}

// A client that sends its key in the query, in the wrong header, or with other text, gets 401 by mistake.
function isByMistake({ pathId, advice }: Exchange): boolean {
  const hasNoKey = pathId === "401.missing" || pathId === "401.malformed";
  return hasNoKey && (advice.includes("key-in-authorization") || advice.includes("key-in-query"));
}

export interface ClientBehavior {
  /** The path of each key's last rejection, by the key's fingerprint; the latest thousand keys, oldest first. */
  readonly rejected: Map<string, PathId>;
  /** The origins of pages whose browsers sent a preflight request for a key; the first hundred. */
  readonly pages: Set<string>;
  readonly unknownKey: string;
}

const rejectedCapacity = 1000;
const pagesCapacity = 100;

/** The parts of a call that show something about its client, and that the journal must not keep. */
export interface ObservedCall {
  readonly request: ApiRequest;
  /** `undefined` if the API does not have the path. */
  readonly route: object | undefined;
  readonly endpoint: object | undefined;
  /** The sandbox's clock is read once, so that authorization, counters and journal agree. */
  readonly now: number;
  readonly presented: Presented;
  readonly sha256: string;
  readonly entry: KeyEntry | undefined;
}

export const noAdvice: readonly AdviceId[] = Object.freeze([]);

/** Adds what the request shows about its client. Depends only on the order of requests, never on elapsed time or connections. */
export function observe(
  { behavior }: { readonly behavior: ClientBehavior },
  call: ObservedCall,
  exchange: Exchange,
): void {
  const { entry, sha256 } = call;
  const { apiKey = "" } = call.request;
  const { pathId } = exchange;
  const hasPassed = isSuccess(pathId);
  const admitted = hasPassed && entry !== undefined ? successPath(entry) : undefined;
  const advice = adviceOnTraits(call, exchange, behavior.pages);
  const looksReal = !isMarked(apiKey) && exchange.presented === "well_formed";
  if ((looksReal && entry === undefined) || exchange.leaksRealKey) advice.push("real-key-suspected");
  if (entry !== undefined && hasReplacementThatWorked(entry, exchange.at))
    advice.push("old-key-after-replacement-seen");
  else if (admitted === "200.retiring") advice.push("retiring-key-in-use");
  if (admitted === "200.legacy") advice.push("legacy-key-in-use");
  if (entry === undefined && sha256 !== behavior.unknownKey) advice.push(...adviceOnStray(apiKey, exchange));
  // A delayed response may not have arrived yet.
  if (entry !== undefined && hasPassed && exchange.delivery === undefined) entry.hasWorked = true;
  const earlier = behavior.rejected.get(exchange.fingerprint ?? "");
  learn(behavior, exchange);
  if (earlier === pathId) {
    advice.push("sent-again-after-rejection");
    exchange.isResent = true;
  }
  if (advice.length > 0) exchange.advice = Object.freeze(advice);
}

// On a key with the mark of a sandbox that this one does not have.
function adviceOnStray(apiKey: string, { presented, pathId }: Exchange): readonly AdviceId[] {
  if (presented !== "well_formed" || !isMarked(apiKey) || !pathId.startsWith("401")) return noAdvice;
  return [isSandboxKey(apiKey) ? "key-of-another-sandbox" : "key-cut"];
}

function adviceOnTraits(call: ObservedCall, exchange: Exchange, pages: Set<string>): AdviceId[] {
  const { traits, isMisdirected } = exchange;
  const advice: AdviceId[] = [];
  if (traits.length === 0 && !isMisdirected) return advice;
  if (traits.includes("key in query")) advice.push("key-in-query");
  if (traits.includes("key in other header")) advice.push("key-in-authorization");
  const hasKey = hasKeyAnywhere(call, exchange);
  const isBrowser = traits.includes("browser header");
  if (isPageWithKey(call, exchange, pages)) advice.push("key-from-browser");
  else if (isBrowser && hasKey) advice.push("key-with-browser-headers");
  if (isMisdirected) {
    // Browsers send preflights on their own. A person who opens the server in a browser is not a client.
    if (!traits.includes("preflight") && (hasKey || !isBrowser)) advice.push("wrong-method-or-path");
  } else if (traits.includes("body") || (traits.includes("query") && !traits.includes("key in query"))) {
    advice.push("query-or-body-sent");
  }
  return advice;
}

function hasKeyAnywhere({ request }: ObservedCall, { traits }: Exchange): boolean {
  return request.apiKey !== undefined || hasKeyElsewhere(traits);
}

// A proxy forwards browser headers and adds the key itself, but sends no preflight for it.
function isPageWithKey(call: ObservedCall, exchange: Exchange, pages: Set<string>): boolean {
  const { traits } = exchange;
  const page = call.request.evidence?.page;
  if (traits.includes("preflight for key")) {
    if (page !== undefined && pages.size < pagesCapacity) pages.add(page);
    return true;
  }
  return (
    hasKeyAnywhere(call, exchange) &&
    (traits.includes("from page") || (page !== undefined && pages.has(page)))
  );
}

const rejectedStatuses: readonly (number | undefined)[] = [401, 403, 429];

/** Stores which rejection a client has got. After a response of another kind, such as a fault, repeating a request may be right. */
function learn({ rejected }: ClientBehavior, { fingerprint, pathId }: Exchange): void {
  if (fingerprint === null || isFault(pathId)) return;
  rejected.delete(fingerprint);
  if (!rejectedStatuses.includes(outcomeOf(pathId).status)) return;
  if (rejected.size === rejectedCapacity) rejected.delete(rejected.keys().next().value as string);
  rejected.set(fingerprint, pathId);
}

// A client cannot switch to a key that gets no 200 now.
function hasReplacementThatWorked({ replacement }: KeyEntry, now: number): boolean {
  if (replacement === undefined) return false;
  const isUsable = keyStateTable[keyStateAt(replacement.key, now)].rejection === null;
  return (replacement.hasWorked === true && isUsable) || hasReplacementThatWorked(replacement, now);
}
