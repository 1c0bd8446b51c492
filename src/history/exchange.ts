import type { AdviceId } from "../domain/advice.js";
import type { Presented } from "../domain/authorize.js";
import type { FaultPathId, PathId } from "../domain/outcomes.js";
import type { RequestEvidence, RequestTraits } from "../domain/request-traits.js";
import type { RequestSource } from "../scenario/format/control-bodies.js";

/** A request to the API as plain data, made by every adapter. */
export interface ApiRequest {
  /** Upper case, as HTTP sends it. */
  readonly method: string;
  /** Only the path: no query, still percent-encoded. */
  readonly path: string;
  /** The `x-api-key` header without white space around it; several joined by `, `; `undefined` without one. */
  readonly apiKey: string | undefined;
  /** The keys in its path, if the path no longer holds them. Default: the path is searched. */
  readonly keysInPath?: readonly string[] | undefined;
  /** Its other traits, for advice. Default: none. */
  readonly traits?: RequestTraits;
  /** Details behind its traits. Default: none. */
  readonly evidence?: RequestEvidence | undefined;
  /** Its connection, for advice. Default: unknown. */
  readonly connection?: Connection | undefined;
  /** The handing over of its response, which the adapter marks. Default: immediately, or after the latency of a fault. */
  readonly delivery?: AnswerDelivery | undefined;
  /** Its query, body and headers, for an endpoint that accepts any of them. Default: none. */
  readonly content?: RequestContent | undefined;
  /** Whether a story or the control plane sends it, so that it is no reason for advice. Default: false. */
  readonly fromStory?: boolean;
}

/** The body of a request as text, or the reason why there is none. */
export interface ReadBody {
  /** Empty without a body. */
  readonly text: string;
  /** `undefined` for a readable body. */
  readonly problem?: string;
}

/** The parts of a request besides its method, path and key, which adapters read for endpoints with an input schema. */
export interface RequestContent {
  /** Without its question mark. */
  readonly query: string;
  readonly contentType: string | undefined;
  readonly idempotencyKey: string | undefined;
  readonly body: ReadBody;
}

/**
 * A connection that carries one request after the other. Compared by identity.
 *
 * Without one, the request came through a server or a service worker of others.
 */
export interface Connection {
  /**
   * The number of repeated requests that show a client with one request at a time, and not a burst.
   *
   * `Infinity` if a proxy may be at the other end, which sends requests of several clients on one connection.
   */
  readonly repeatsOfLoop: number;
}

/** The handing over of a response. Changed in place. */
export interface AnswerDelivery {
  /** Instant on the stopwatch when the response went out; `Infinity` before. */
  at: number;
}

/** A response of the API as plain data. */
export interface ApiAnswer {
  /** 0 without a response. */
  readonly status: number;
  /** Names and values in turn, `Content-Length` included. */
  readonly headers: readonly string[];
  /** Empty for HEAD. */
  readonly body: string;
}

/** What a request gets that a fault leaves without a response. */
export const noAnswer: ApiAnswer = Object.freeze({ status: 0, headers: [], body: "" });

/** The delivery of a response that a fault changed, as adapters carry it out; plain data. */
export interface Delivery {
  /** Milliseconds of real time before anything happens. */
  readonly delayMs: number;
  /** Send the response, reset the connection, or send nothing until the client gives up. */
  readonly kind: "send" | "reset" | "hang";
  /** Bytes of the body before the connection is closed; `undefined` to send the whole body. */
  readonly cutAfter: number | undefined;
  /** The rate of the body; `undefined` to send it in one piece. */
  readonly bytesPerSecond: number | undefined;
}

/** The limit whose end a 429 names; `undefined` if it names none. */
export type NamedLimit = "minute" | "day" | undefined;

/**
 * The record of a completed request: plain data, made once, and read by everything that shows or counts requests.
 *
 * It holds no key: method, path and content can be shown unchanged (R46).
 */
export interface Exchange {
  /** Counts the requests of a world, with its series of ids; faults and variations depend on it. */
  readonly number: number;
  /** The request id, whether or not the response carried it. */
  readonly id: string;
  /** Epoch milliseconds on the sandbox's clock. */
  readonly at: number;
  readonly method: string;
  /** Without its query, and with everything that looks like a key cut short. */
  readonly path: string;
  /** What the endpoint was sent, if it accepts any and no key is in it. */
  readonly content: RequestContent | undefined;
  /** Whether a story can send it: its body was readable and without a key, and no handler of the user's responded. */
  readonly isRepeatable: boolean;
  /** Whether a story or the control plane sent it. */
  readonly fromStory: boolean;
  /** Whether it went to an endpoint of the preview. */
  readonly isPreview: boolean;
  /** Whether the API does not have its path, or not with its method. */
  readonly isMisdirected: boolean;
  /** Whether it is a probe of any server, which journals, captures and reports leave out. */
  readonly isProbe: boolean;
  /** Its traits, without the input that its endpoint accepts. */
  readonly traits: RequestTraits;
  /** Whether a key that may be a real one was in another place than the header, or not alone in it. */
  readonly leaksRealKey: boolean;
  /** The kind of key that was presented. */
  readonly presented: Presented;
  /** The ref of the key, if it is one of this world. */
  readonly key: string | null;
  /** The first 12 hex digits of the SHA-256 of what was presented as the key. */
  readonly fingerprint: string | null;
  /** The path of the response, or of the fault that replaced it. */
  readonly pathId: PathId;
  /** The fault that hit the request, also when it only delayed the response. */
  readonly fault: FaultPathId | null;
  /** 0 when a fault left the request without a response. */
  readonly status: number;
  /** The error code of the response; `null` without one. */
  readonly code: string | null;
  /** The limit whose end a 429 names. */
  readonly namedLimit: NamedLimit;
  /** The response before a fault cut it; `noAnswer` also if a handler of the user's makes it. */
  readonly answer: ApiAnswer;
  /** The delivery as a fault changed it; `undefined` to send the response unchanged. */
  readonly delivery: Delivery | undefined;
  /** Whether the client did not wait for the delayed response: the one member that is set later. */
  isUnread?: true;
  /** Milliseconds that the response took, with the latency of a fault. */
  readonly durationMs: number;
  /** The advice that its client earned; nearly always none. */
  readonly advice: readonly AdviceId[];
  /** Whether its key had been refused and was sent again, with the real milliseconds since the first refusal. */
  readonly repeat?: { readonly withinMs: number };
}

/** The bytes of an exchange besides its texts. */
const bytesBesideTexts = 700;

/** Who sent a request, as the control plane shows it. */
export function sourceOf({ fromStory }: Exchange): RequestSource {
  return fromStory ? "story" : "client";
}

/** About the bytes of memory that an exchange takes; equal on every machine. */
export function bytesOf({ path, content, answer }: Exchange): number {
  const { query = "", contentType = "", idempotencyKey = "", body } = content ?? {};
  const texts = [path, query, contentType, idempotencyKey, body?.text ?? "", answer.body, ...answer.headers];
  return texts.reduce((sum, text) => sum + text.length, bytesBesideTexts);
}

/** The last exchanges that take at most so many bytes. */
export function latestOf(exchanges: readonly Exchange[], most: number): readonly Exchange[] {
  let left = most;
  const last = exchanges.findLastIndex((one) => {
    left -= bytesOf(one);
    return left < 0;
  });
  return exchanges.slice(last + 1);
}
