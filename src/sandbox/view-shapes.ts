import { adviceIds } from "../rules/advice.js";
import type { KeyStateName } from "../rules/key-state.js";
import type { Environment } from "../rules/keys/key-text.js";
import type { Organization } from "../rules/organization.js";
import { faultOutcomeIds, outcomeShape } from "../rules/outcomes.js";
import { requestSources } from "../rules/request.js";
import * as s from "../schema/shape.js";

// What lists show of a sandbox. The functions that make the views are in `views.ts`, which pages read without these.

/**
 * The ref of a key as a sandbox lists it. Methods that take a key accept a ref of the scenario's type, so that a compiler finds a
 * misspelled one, or a ref with this type: `keys.revoke(keys.list()[0].ref)`.
 */
export type ListedKeyRef = string & { readonly listedKeyRef: true };

/** A key in lists; never contains the key itself (R34). Times are ISO 8601. */
export interface KeyView {
  readonly ref: ListedKeyRef;
  readonly organization: string;
  readonly name: string;
  readonly scopes: readonly string[];
  readonly limits: { readonly perMinute: number; readonly perDay: number };
  readonly environment: Environment;
  readonly legacy: boolean;
  /** The first 12 hex digits of the key's SHA-256. */
  readonly fingerprint: string;
  readonly state: KeyStateName;
  readonly usage: { readonly thisMinute: number; readonly today: number };
  /** When it was created; `null` for a key that the scenario starts with. */
  readonly createdAt: string | null;
  readonly revokedAt: string | null;
  readonly expiresAt: string | null;
  readonly overlapEndsAt: string | null;
  readonly replacedBy: ListedKeyRef | null;
  readonly replaces: ListedKeyRef | null;
}

/** An organization in lists, with all its members. */
export interface OrganizationView extends Organization {}

/** The clock for display; `now` is ISO 8601. */
export interface ClockView {
  readonly now: string;
  readonly frozen: boolean;
}

/** An event that happens when the clock reaches it. */
export interface Upcoming {
  /** When; ISO 8601. */
  readonly at: string;
  readonly kind:
    | "overlap_ends"
    | "key_expires"
    | "minute_reset"
    | "day_reset"
    | "timeline_step"
    | "fault_begins"
    | "fault_ends";
  readonly key: string | null;
  readonly organization: string | null;
  /** The index of the timeline's step. */
  readonly step: number | null;
  readonly text: string;
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
