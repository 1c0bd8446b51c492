import { type AdviceId, adviceIds } from "../../rules/advice.js";
import type { FaultOutcomeId } from "../../rules/fault-effects.js";
import type { PresentedKind } from "../../rules/keys/key-text.js";
import { faultOutcomeIds, type OutcomeId, outcomeShape } from "../../rules/outcomes.js";
import { type RequestTraits, requestSources } from "../../rules/request.js";
import { isoTime } from "../../rules/time.js";
import * as s from "../../schema/shape.js";
import type { ApiResponse, Delivery } from "../call.js";
import type { ListedKeyRef } from "../views.js";

/** A completed request with its result, without a key (R46): what the journal keeps. */
export interface Exchange {
  // The request.
  /** The number of the request in its series, from which its id is made: see `RequestIds`. The chances of faults depend on it. */
  readonly number: number;
  /** The request id, whether or not the response carried it. */
  readonly id: string;
  readonly at: number;
  readonly method: string;
  /** Without its query; everything that looks like a key is shortened. */
  readonly path: string;
  /** Lower-case names and values in turn, without keys. */
  readonly keptHeaders: readonly string[];
  /** Whether a story sent it, or `POST /send` of the control plane: no client. */
  readonly fromStory: boolean;

  // Where it went.
  readonly operation: string | null;
  /** Whether the API does not have its path, or not with its method. */
  readonly isMisdirected: boolean;
  /** Whether it probes any web server, such as for a favicon: journals and reports omit it. */
  readonly isProbe: boolean;

  // Its key.
  readonly presented: PresentedKind;
  readonly key: string | null;
  readonly fingerprint: string | null;

  // Its result.
  /** The outcome of the response, or of the fault that replaced it. */
  readonly outcome: OutcomeId;
  /** The fault that affected the request, even if it only delayed the response. */
  readonly fault: FaultOutcomeId | null;
  readonly status: number;
  readonly code: string | null;
  readonly response: ApiResponse;
  /** The delivery after a fault changed it; `undefined` to send the response unchanged. */
  readonly delivery: Delivery | undefined;
  /** Epoch milliseconds of its header `Date`, which adapters add. Default: `at`. */
  readonly date?: number | undefined;
  /** Milliseconds until the response, to the microsecond, including a fault's latency. */
  readonly durationMs: number;

  // What its advice depends on.
  /** What is unusual about the request. To endpoints of a scenario, a query or a body is usual. */
  readonly traits: RequestTraits;
  /** Whether a possibly real key was outside its header, or in the header with other text. */
  readonly leaksRealKey: boolean;
  /** What a presented key looks like that the sandbox does not have: `12 characters, no prefix of a key`. `undefined` for a key of the sandbox, or none. */
  readonly keyForm: string | undefined;
  /** For advice that is not about the presented key: the key that it is about, such as one in the query (R46). */
  readonly keysOfAdvice:
    | Readonly<Partial<Record<AdviceId, Pick<Exchange, "key" | "fingerprint">>>>
    | undefined;

  // What is set later: the first two by `advise`, the last one by an HTTP server.
  advice: readonly AdviceId[];
  /** Whether its key was sent again after the same rejection. Responses of faults between the two do not matter. `undefined`: no. */
  isResent: true | undefined;
  /** Whether the client did not wait for the delayed response; set when it is known. */
  isUnread?: true;
}

/** What stands for the ref of a key that the sandbox does not have. */
const reservedRefs = { missing: "none", malformed: "malformed", well_formed: "unknown" } as const;

/** The ref of the key that an exchange was sent with, also `none`, `malformed` or `unknown`. */
export function sentKeyRef({ key, presented }: Exchange): string {
  return key ?? reservedRefs[presented];
}

export function sourceOf({ fromStory }: Exchange): (typeof requestSources)[number] {
  return fromStory ? "story" : "client";
}

export const requestShape = s.mapping({
  /** The request id, whether or not the response carried it. */
  id: s.text(),
  method: s.text(),
  /** The path without its query; everything that looks like a key is shortened. */
  path: s.text(),
  /** A time of the sandbox's clock, in ISO 8601. */
  at: s.instant(),
  /** The ref of the key, if it is known. */
  key: s.orNull(s.text() as s.Shape<ListedKeyRef>),
  /** The first 12 hex digits of the presented key's SHA-256. */
  fingerprint: s.orNull(s.text()),
  /** 0 when a fault left the request without a response. */
  status: s.integer(),
  /** The API's error code. */
  code: s.orNull(s.text()),
  outcome: outcomeShape(),
  /** The fault that affected the request. If it only delayed the response, `outcome` is the response's. */
  fault: s.orNull(s.choice(faultOutcomeIds)),
  /** Whether the client did not wait for a delayed response. Default: false. */
  unread: s.optional(s.flag()),
  /** The advice that it caused; nearly always none. */
  advice: s.list(s.choice(adviceIds)),
  /** Milliseconds until the response, including a fault's latency. */
  durationMs: s.number({ min: 0 }),
  /** Who sent it: a client, or `story` for the story and `POST /send`. */
  source: s.choice(requestSources),
});
/** A request in the journal. Contains no key, only its ref and fingerprint (R46). */
export interface RequestView extends s.ValueOf<typeof requestShape> {}

export function viewRequest(exchange: Exchange): RequestView {
  const { id, at, method, path, status, code, outcome, fault, advice, durationMs } = exchange;
  return {
    id,
    at: isoTime(at),
    method,
    path,
    status,
    code,
    outcome,
    fault,
    advice,
    durationMs,
    source: sourceOf(exchange),
    ...(exchange.isUnread && { unread: true }),
    key: exchange.key as ListedKeyRef | null,
    fingerprint: exchange.fingerprint,
  };
}
