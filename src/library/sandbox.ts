import type { Report } from "../report/report-shape.js";
import type { Assumptions, Profile } from "../rules/assumptions.js";
import type { KeyLimits, KeySettings } from "../rules/key-state.js";
import type { Environment } from "../rules/keys/key-text.js";
import type { OrganizationUpdate } from "../rules/organization.js";
import type { OutcomeId } from "../rules/outcomes.js";
import type { Duration, Instant, Overlap } from "../rules/time.js";
import type { Farmer } from "../sandbox/farmer-records/farmer-shape.js";
import type { Fault } from "../sandbox/faults.js";
import type { RequestView } from "../sandbox/journal/exchange.js";
import type { Actor } from "../sandbox/operations/change.js";
import type { KeyView, ListedKeyRef, OrganizationView } from "../sandbox/views.js";
import type { ReservedKeyRef } from "../scenario/format/fields.js";

// What users see of a sandbox. Functions with refs are methods, not function members, so that a sandbox with known refs can be
// passed as any sandbox.

/** A running sandbox. Sandboxes share nothing with each other. */
export interface Sandbox<KeyRef extends string = string, OrganizationRef extends string = string> {
  /** The scenario's bundled name or title. */
  readonly name: string;
  readonly seed: number;
  /** The profile of the assumptions. */
  readonly profile: Profile;
  readonly assumptions: Assumptions;
  /**
   * Returns the full key for a ref of the scenario; for `unknown` a well-formed key that does not exist, for `malformed` a
   * text that is not a key. The key `none` has no text: leave the header out.
   *
   * Throws `unknown_ref` with the existing refs; a key created at run time is shown only once, when it is created (R36).
   */
  secret(ref: KeyRef | Exclude<ReservedKeyRef, "none">): string;
  /**
   * Responds to a request to the API; ignores its host.
   *
   * Like `fetch`, rejects when the request's signal is aborted, and with a `TypeError` when a fault resets the connection.
   */
  readonly fetch: (input: Request | URL | string, init?: RequestInit) => Promise<Response>;
  readonly clock: SandboxClock;
  readonly keys: SandboxKeys<KeyRef, OrganizationRef>;
  readonly organizations: SandboxOrganizations<OrganizationRef>;
  readonly farmers: SandboxFarmers;
  readonly faults: SandboxFaults<KeyRef, OrganizationRef>;
  readonly requests: SandboxRequests<KeyRef>;
  /**
   * Returns coverage and advice since the start or the last `requests.clear()`.
   *
   * It is about the client, not the sandbox: `reset` does not change it.
   */
  readonly report: () => Report;
  /** Starts the scenario again: as a new sandbox, but with other request ids, and the report continues. */
  readonly reset: () => void;
}

/** The sandbox's clock. It never goes back: that throws `clock_backwards`. */
export interface SandboxClock {
  /** ISO 8601. */
  readonly now: () => string;
  readonly isFrozen: () => boolean;
  /** Moves the clock forward; returns the new time. */
  readonly advance: (by: Duration) => string;
  /** Moves the clock forward to a time; returns it. */
  readonly set: (to: Instant) => string;
  readonly freeze: () => void;
  readonly resume: () => void;
}

/** The role of the user on the owner's site; only administrators manage keys (R33). */
export interface ActingAs {
  /** Default: administrator. */
  readonly actor?: Actor;
}

/** A key to create (R29). */
export interface KeyCreation<OrganizationRef extends string = string>
  extends Partial<Omit<KeySettings, "name" | "limits">> {
  readonly organization: OrganizationRef;
  readonly environment: Environment;
  readonly name: string;
  /** Default: 60 a minute, 1000 a day. */
  readonly limits?: Partial<KeyLimits>;
  /** Default: made from the name. */
  readonly ref?: string;
  /** A duration from now, such as `10m`, or an instant; a number is an instant. Default: never. */
  readonly expires?: string | Instant;
}

/** The options of a rotation. */
export interface KeyRotation {
  /** How long the old key still works, up to `7d` (R39); 0 ends it immediately (R40). Default: `60m`. */
  readonly overlap?: Overlap;
  /** The replacement's ref. Default: the old ref with the next free number. */
  readonly as?: string;
}

/** A created key with its secret, which is shown only once (R34). */
export interface CreatedKey {
  readonly key: KeyView;
  readonly secret: string;
}

/** The keys, as their owner manages them. A rejected call throws a `SandboxError` with a code and changes nothing. */
export interface SandboxKeys<KeyRef extends string = string, OrganizationRef extends string = string> {
  /** Returns all keys, as in the dashboard: with state, usage and a fingerprint, never the secret. */
  list(): KeyView[];
  /** Returns a key of the scenario, or one that was created later. Throws `unknown_ref`, with the existing refs. */
  get(ref: KeyRef | ListedKeyRef | CreatedRef): KeyView;
  /** Creates a key (R29), and returns it with its secret, which is shown only once (R36). Throws `key_limit_reached`. */
  create(key: KeyCreation<OrganizationRef>, as?: ActingAs): CreatedKey;
  /**
   * Replaces an active key (R37), and returns the replacement with its secret. The old key works until the overlap ends.
   * Throws `key_not_active`.
   */
  rotate(ref: KeyRef | ListedKeyRef, rotation?: KeyRotation, as?: ActingAs): CreatedKey;
  /** Revokes a key: its next request gets 401 (R41). Throws `key_not_active`. */
  revoke(ref: KeyRef | ListedKeyRef, as?: ActingAs): KeyView;
  /** Sets when a key expires: after a duration from now, such as `10m`, or at an instant. Throws `key_not_active`. */
  expire(ref: KeyRef | ListedKeyRef, end: Required<Pick<KeyCreation, "expires">>, as?: ActingAs): KeyView;
}

/** Any text, while editors suggest the refs next to it. */
type CreatedRef = string & Record<never, never>;

/** The organizations of the sandbox. */
export interface SandboxOrganizations<OrganizationRef extends string = string> {
  /** Returns all organizations. */
  list(): OrganizationView[];
  /** Returns an organization. Throws `unknown_ref`, with the existing refs. */
  get(ref: OrganizationRef): OrganizationView;
  /** Changes the status or the access of an organization, effective with the next request. */
  update(ref: OrganizationRef, change: OrganizationUpdate, as?: ActingAs): OrganizationView;
}

/** The farmers to list. */
export interface FarmerPage {
  /** The index of the first one. Default: 0. */
  readonly offset?: number;
  /** At most this many. Default: 20. */
  readonly limit?: number;
}

/** The synthetic farmers, each made from the seed and its index when requested. */
export interface SandboxFarmers {
  readonly count: number;
  /** Indexes start at 0. Throws `unknown_ref` for an index without a farmer. */
  at(index: number): Farmer;
  /** Throws `unknown_ref` for an unknown `farmer_id`. */
  get(id: string): Farmer;
  /** Returns fewer at the end. Throws `validation_failed` unless offset and limit are whole numbers from 0. */
  list(page?: FarmerPage): Farmer[];
}

/** The faults between the client and the API. */
export interface SandboxFaults<KeyRef extends string = string, OrganizationRef extends string = string> {
  /** The active faults; times in them are instants. */
  list(): Fault<KeyRef | ListedKeyRef, OrganizationRef>[];
  /**
   * Replaces the active faults; durations in them count from now. Returns them as `list` does.
   *
   * Throws `validation_failed` with the problem of each field in `details.fields`, and changes nothing.
   */
  set(
    faults: readonly Fault<KeyRef | ListedKeyRef, OrganizationRef>[],
  ): Fault<KeyRef | ListedKeyRef, OrganizationRef>[];
}

/** The requests to list. */
export interface RequestQuery<KeyRef extends string = string> {
  /** At most this many, the latest ones. */
  readonly limit?: number;
  /** The request's outcome, or its fault's. */
  readonly outcome?: OutcomeId;
  readonly key?: KeyRef | ListedKeyRef | ReservedKeyRef;
  /** Includes keyless requests that browsers and monitors send to any server, such as `/favicon.ico`. Default: false. */
  readonly probes?: boolean;
  /** If false, leaves out requests that a fault hit and that their client sent again because of it. Default: true. */
  readonly faults?: boolean;
}

/** The journal: the last 1,000 requests. */
export interface SandboxRequests<KeyRef extends string = string> {
  /** Oldest first. Throws `unknown_ref` for an unknown key, `validation_failed` for another mistake. */
  list(query?: RequestQuery<KeyRef>): RequestView[];
  /** Returns the number of requests since the start, the last reset or `clear`, including those no longer listed. */
  readonly total: () => number;
  /** Clears the requests and the report. */
  readonly clear: () => void;
}
