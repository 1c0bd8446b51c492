import type { AdviceId } from "../domain/advice.js";
import { fingerprintOf, type KeyRecord } from "../domain/api-key.js";
import type { Presented } from "../domain/authorize.js";
import type { FaultPathId, PathId } from "../domain/outcomes.js";
import { hexOf, mix32, randomStream } from "../domain/seed.js";

/** One request as the journal shows it. Holds no key: a ref and a fingerprint instead (R46). */
export interface JournalEntry {
  /** The request id, whether or not the answer carried it. */
  readonly id: string;
  /** Epoch milliseconds on the sandbox's clock. */
  readonly at: number;
  readonly method: string;
  /** Without its query, and with everything that looks like a key cut short. */
  readonly path: string;
  /** The ref of the key, when it is one of this world. */
  readonly key: string | null;
  /** The first 12 hex digits of the SHA-256 of what was presented as the key. */
  readonly fingerprint: string | null;
  /** 0 when a fault left the request without an answer. */
  readonly status: number;
  /** The API's error code. */
  readonly code: string | null;
  readonly pathId: PathId;
  /** The fault that hit the request, also when it only let the answer wait; `pathId` is that of the answer then. */
  readonly fault: FaultPathId | null;
  /** The advice that its client earned; nearly always none. */
  readonly advice: readonly AdviceId[];
  /** Milliseconds that the answer took, with the latency of a fault. */
  readonly durationMs: number;
  /** Whether the story or `POST /send` has sent it, and no client. */
  readonly told: boolean;
}

/** The record of a request, without what can be derived from it later. */
export interface RequestNote extends Omit<JournalEntry, "id" | "key" | "fingerprint" | "told"> {
  /** The number of the request, which gives its id. */
  readonly number: number;
  /** The id, when its form is another one than the number gives. */
  readonly variedId?: string | undefined;
  /** The key, when it is one of this world. */
  readonly key: KeyRecord | undefined;
  /** The fingerprint of what was presented, when it is not a key of this world. */
  readonly unknownKey: string | null;
  /** Whether it went to an endpoint of the preview. Default: false. */
  readonly isPreview?: boolean;
  /** Whether a story or the control plane sent it. Default: false. */
  readonly isTold?: boolean;
  /** The answer before a fault cut it; holds no key. Default: unknown. */
  readonly answer?: KeptAnswer | undefined;
  /** The bytes of its body that were sent; `undefined` for all. */
  readonly cutAfter?: number | undefined;
  /** The kind of key that was presented. */
  readonly presented: Presented;
  /** Its query, body and headers, where the endpoint takes any; holds no key. */
  readonly content?: KeptContent | undefined;
  /** Whether a story cannot send it. Default: false. */
  readonly isUnrepeatable?: boolean;
}

/** What an endpoint was sent beside a path and a key. */
export interface KeptContent {
  /** Without its question mark. */
  readonly query: string;
  readonly contentType: string | undefined;
  readonly idempotencyKey: string | undefined;
  readonly body: { readonly text: string };
}

/** A record of a request as plain data: of the key its ref. */
export type PlainNote = Omit<RequestNote, "key"> & { readonly key: string | null };

/** An answer of the API as the journal keeps it: shared with what was sent, never copied. */
export interface KeptAnswer {
  /** 0 when a fault left the request without an answer. */
  readonly status: number;
  /** Names and values in turn. */
  readonly headers: readonly string[];
  readonly body: string;
}

export interface JournalQuery {
  /** At most this many, the latest ones. Default: all. */
  readonly limit?: number | undefined;
  /** That on which the request ended, or that of the fault that hit it. */
  readonly pathId?: string | undefined;
  /** A key's ref. */
  readonly key?: string | undefined;
}

/** Makes an empty journal: a ring of notes, so that memory stays flat however long the sandbox runs. */
export function createJournal(idOf: (number: number) => string, capacity = 1000) {
  let ring: RequestNote[] = [];
  let next = 0;
  let total = 0;
  const inOrder = () => (total > capacity ? [...ring.slice(next), ...ring.slice(0, next)] : ring);
  return {
    record(note: RequestNote): void {
      ring[next] = note;
      next = next + 1 === capacity ? 0 : next + 1;
      total += 1;
    },
    /** Oldest first; copies. */
    list({ limit, pathId, key }: JournalQuery = {}): JournalEntry[] {
      const matching = inOrder().filter(
        (note) =>
          (pathId === undefined || note.pathId === pathId || note.fault === pathId) &&
          (key === undefined || note.key?.ref === key),
      );
      const chosen = limit === undefined ? matching : matching.slice(Math.max(0, matching.length - limit));
      return chosen.map((note) => entryOf(note, idOf));
    },
    /** The note of the request of an id; `undefined` when there is none, or none any more. */
    find: (id: string): RequestNote | undefined => ring.find((note) => idOfNote(note, idOf) === id),
    /** The notes of the requests after the first `count` that were recorded, as far as they are kept; oldest first. */
    after: (count: number): readonly RequestNote[] =>
      inOrder().slice(Math.max(0, ring.length - (total - count))),
    /** The number of requests recorded since the start or the last `clear`, forgotten ones included. */
    total: () => total,
    clear(): void {
      ring = [];
      next = 0;
      total = 0;
    },
    /** Its notes as plain data, oldest first. */
    describe: (): PlainNote[] => inOrder().map(({ key, ...note }) => ({ ...note, key: key?.ref ?? null })),
    /** Goes on from notes that a journal has described, the last of `count`; `keyOf` finds the key of a ref. */
    restore(notes: readonly PlainNote[], count: number, keyOf: (ref: string) => KeyRecord | undefined): void {
      ring = notes.map(({ key, ...note }) => ({ ...note, key: key === null ? undefined : keyOf(key) }));
      next = ring.length % capacity;
      total = count;
    },
  };
}

export type Journal = ReturnType<typeof createJournal>;

export function entryOf(note: RequestNote, idOf: (number: number) => string): JournalEntry {
  const { at, method, path, key, unknownKey, status, code, pathId, fault, advice, durationMs } = note;
  const { isTold = false } = note;
  return {
    id: idOfNote(note, idOf),
    at,
    method,
    path,
    status,
    code,
    pathId,
    fault,
    advice,
    durationMs,
    told: isTold,
    key: key?.ref ?? null,
    fingerprint: key === undefined ? unknownKey : fingerprintOf(key.sha256),
  };
}

function idOfNote({ number, variedId }: RequestNote, idOf: (number: number) => string): string {
  return variedId ?? idOf(number);
}

/** The number of requests that have ids of one series, and the number of series. */
const seriesLength = 2 ** 32;
const seriesCount = 2 ** 21;

/**
 * Makes the source of a world's request ids (R7).
 *
 * The n-th id depends on the seed, the series and n alone; those of a series differ, because the mixing is one to one.
 * `answered` requests are taken to have had theirs. The number of a request has its series in it.
 */
export function createRequestIds(seed: number, answered = 0) {
  const seriesOf = (number: number) => Math.floor(number / seriesLength);
  const draw = (series: number) => {
    // The first series has the ids of the seed alone.
    const stream = randomStream(seed, "request.id", ...(series === 0 ? [] : [String(series)]));
    return { series, start: `req_${hexOf(stream())}${hexOf(stream())}`, salt: stream() };
  };
  let count = answered;
  let drawn = draw(seriesOf(answered));
  return {
    /** Counts one more request; returns its number. */
    next(): number {
      count += 1;
      return count;
    },
    /** The id of the request of a number: `req_` and 24 hex digits. */
    idOf(number: number): string {
      if (seriesOf(number) !== drawn.series) drawn = draw(seriesOf(number));
      return drawn.start + hexOf(mix32(number ^ drawn.salt));
    },
    /** The number of the last request counted. */
    answered: () => count,
    series: () => seriesOf(count),
    /** Goes on in another series. */
    enter(series: number): void {
      count = (series % seriesCount) * seriesLength + placeInSeries(count);
    },
  };
}

/** The number of a request within its series, from 1 on. */
export function placeInSeries(number: number): number {
  return number % seriesLength;
}

export type RequestIds = ReturnType<typeof createRequestIds>;
