import type { Environment } from "../domain/api-key.js";
import type { Assumptions, Profile } from "../domain/assumptions.js";
import type { KeyLimits } from "../domain/limits.js";
import type { LiveAccess, OrganizationStatus } from "../domain/organization.js";
import type { PathId } from "../domain/outcomes.js";
import type { Report } from "../report/report.js";
import type { BundledKeyRefs, BundledOrganizationRefs } from "../scenario/bundled.generated.js";
import type { ScenarioName } from "../scenario/bundled.js";
import type { Scenario } from "../scenario/scenario.generated.js";
import type { Farmer } from "../synthetic/farmers/farmer-shape.js";
import type { Duration, Instant } from "../world/clock.js";
import type { Fault } from "../world/faults.js";
import type { Actor } from "../world/operations/initiator.js";
import type { AttestationView, ConsentView } from "../world/preview/consent-views.js";
import type { KeyView, ListedKeyRef, OrganizationView, RequestView } from "../world/views.js";

// Methods rather than functions as members where refs come in, so that a sandbox whose refs are known can be passed
// where any sandbox will do.

/** A running sandbox: one world, and everything that can be done to it. Sandboxes share nothing with each other. */
export interface Sandbox<KeyRef extends string = string, OrganizationRef extends string = string> {
  /** The name of the scenario: bundled name or title. */
  readonly name: string;
  readonly seed: number;
  /** The profile that the assumptions are based on. */
  readonly profile: Profile;
  readonly assumptions: Assumptions;
  /**
   * The full key of a ref of the scenario.
   *
   * Throws `unknown_ref`, with the refs there are; a key that was made at run time is shown once, when it is made (R36).
   */
  secret(ref: KeyRef): string;
  /** A well-formed key that does not exist: a request with it ends in `401.unknown`. */
  readonly unknownSecret: () => string;
  /**
   * Answers a request to the API, whatever its host.
   *
   * Rejects, as `fetch` does, when the request's signal is aborted, and with a `TypeError` when a fault of the scenario
   * resets the connection.
   */
  readonly fetch: (input: Request | URL | string, init?: RequestInit) => Promise<Response>;
  readonly clock: SandboxClock;
  readonly keys: SandboxKeys<KeyRef, OrganizationRef>;
  readonly organizations: SandboxOrganizations<OrganizationRef>;
  readonly farmers: SandboxFarmers;
  /** With `preview: true` in the scenario; every call throws `not_found` without. */
  readonly consents: SandboxConsents;
  /** With `preview: true` in the scenario; every call throws `not_found` without. */
  readonly attestations: SandboxAttestations;
  readonly faults: SandboxFaults<KeyRef, OrganizationRef>;
  readonly requests: SandboxRequests<KeyRef>;
  /**
   * Which ways of ending the clients have met, and how they behaved, since the start or the last `requests.clear()`.
   *
   * It is about the client, not the world: `reset` leaves it as it is.
   */
  readonly report: () => Report;
  /** The world as it is now, as a scenario that starts a world which behaves the same. Holds no key made at run time. */
  readonly snapshot: () => Scenario;
  /**
   * What the sandbox has seen since it was started or reset, as a scenario with a story: each request with its answer as
   * the expectation, and what was done between them. `verify` proves it anywhere, byte for byte. Holds no key.
   *
   * Throws `capture_impossible` when there is nothing that a story can repeat, `not_found` for a request that is not kept.
   */
  capture(part?: Capture<KeyRef>): Scenario;
  /** Starts the scenario again, as if the sandbox had just been created. */
  readonly reset: () => void;
}

/** Which part of the requests to capture. */
export interface Capture<KeyRef extends string = string> {
  /** The id of the first request. Default: the first one that is kept, of the last 480 at least. */
  readonly from?: string;
  /** The id of the last request. Default: the last one. */
  readonly to?: string;
  /** Requests with this key alone, or with `none`, `malformed` or `unknown`. */
  readonly key?: KeyRef | ListedKeyRef | "none" | "malformed" | "unknown";
}

/** The sandbox's clock. It never runs backwards: `clock_backwards`. */
export interface SandboxClock {
  /** ISO 8601. */
  readonly now: () => string;
  readonly isFrozen: () => boolean;
  /** Moves the clock on; answers the new time. */
  readonly advance: (by: Duration) => string;
  /** Moves the clock on to a time; answers it. */
  readonly set: (to: Instant) => string;
  readonly freeze: () => void;
  readonly resume: () => void;
}

/** The role of the user in the dashboard; only administrators manage keys (R33). */
export interface ActingAs {
  /** Default: administrator. */
  readonly actor?: Actor;
}

/** A key to create (R29). */
export interface KeyCreation<OrganizationRef extends string = string> {
  readonly organization: OrganizationRef;
  readonly environment: Environment;
  readonly name: string;
  /** Default: `["attestations:read"]`. */
  readonly scopes?: readonly string[];
  /** Default: 60 a minute, 1000 a day. */
  readonly limits?: Partial<KeyLimits>;
  /** The ref of the key. Default: made from the name. */
  readonly ref?: string;
  /** A length of time from now, such as `10m`, or an instant; a number is an instant. Default: never. */
  readonly expires?: string | Instant;
}

/** The options of a rotation. */
export interface KeyRotation {
  /** The overlap in which the old key continues to work: up to 7 days, 0 ends it at once (R39, R40). Default: 60 minutes. */
  readonly overlap?: Duration;
  /** The ref of the replacement. Default: the old ref with the next free number. */
  readonly as?: string;
}

/** A key that was just made, and the only sight of its secret (R34). */
export interface CreatedKey {
  readonly key: KeyView;
  readonly secret: string;
}

/** The dashboard's key page. Each refusal is a `SandboxError` with a code, and changes nothing. */
export interface SandboxKeys<KeyRef extends string = string, OrganizationRef extends string = string> {
  list(): KeyView[];
  get(ref: KeyRef | ListedKeyRef): KeyView;
  create(key: KeyCreation<OrganizationRef>, as?: ActingAs): CreatedKey;
  rotate(ref: KeyRef | ListedKeyRef, rotation?: KeyRotation, as?: ActingAs): CreatedKey;
  revoke(ref: KeyRef | ListedKeyRef, as?: ActingAs): KeyView;
}

/** A change of an organization. */
export interface OrganizationUpdate {
  readonly status?: OrganizationStatus;
  readonly sandboxAccess?: boolean;
  readonly liveAccess?: LiveAccess;
}

/** The organizations of the world. */
export interface SandboxOrganizations<OrganizationRef extends string = string> {
  list(): OrganizationView[];
  get(ref: OrganizationRef): OrganizationView;
  update(ref: OrganizationRef, change: OrganizationUpdate, as?: ActingAs): OrganizationView;
}

/** Which farmers to list. */
export interface FarmerPage {
  /** The index of the first one. Default: 0. */
  readonly offset?: number;
  /** At most this many. Default: 20. */
  readonly limit?: number;
}

/** The synthetic farmers: made from the seed and an index when they are asked for, each on its own. */
export interface SandboxFarmers {
  readonly count: number;
  /** Throws `unknown_ref` for an index that none has; they are counted from 0. */
  at(index: number): Farmer;
  /** Throws `unknown_ref` when none has this `farmer_id`. */
  get(id: string): Farmer;
  /** Fewer at the end. Throws `validation_failed` for an offset or a limit that is no whole number from 0. */
  list(page?: FarmerPage): Farmer[];
}

/** The faults between the client and the API. */
export interface SandboxFaults<KeyRef extends string = string, OrganizationRef extends string = string> {
  /** The active faults; times in them are instants. */
  list(): Fault<KeyRef | ListedKeyRef, OrganizationRef>[];
  /**
   * Replaces the active faults; durations in them count from now. Returns them as `list` does.
   *
   * Throws `validation_failed` with what is wrong with each field in `details.fields`, and changes nothing then.
   */
  set(
    faults: readonly Fault<KeyRef | ListedKeyRef, OrganizationRef>[],
  ): Fault<KeyRef | ListedKeyRef, OrganizationRef>[];
}

/** The consent requests that clients have made, and what farmers decide about them. Preview: shapes may change. */
export interface SandboxConsents {
  /** In the order in which they were made. */
  list(): ConsentView[];
  /** Throws `unknown_ref`, or `consent_not_open` unless it is pending. */
  grant(id: string): ConsentView;
  /** Throws `unknown_ref`, or `consent_not_open` unless it is pending. */
  reject(id: string): ConsentView;
  /** Throws `unknown_ref`, or `consent_not_open` unless it is granted. */
  revoke(id: string): ConsentView;
}

/** The attestations that farmers have consented to. Preview: shapes may change. */
export interface SandboxAttestations {
  /** In the order of their consent requests. */
  list(): AttestationView[];
  /** Throws `unknown_ref`, or `attestation_not_open` unless it is ready and active. */
  suspend(id: string): AttestationView;
  /** Throws `unknown_ref`, or `attestation_not_open` unless it is suspended. */
  resume(id: string): AttestationView;
}

/** Which requests to list. */
export interface RequestQuery<KeyRef extends string = string> {
  /** At most this many, the latest ones. */
  readonly limit?: number;
  /** That on which the request ended, or that of the fault that hit it. */
  readonly pathId?: PathId;
  readonly key?: KeyRef | ListedKeyRef;
  /** With requests without a key that browsers and watchdogs send to any server, such as `/favicon.ico`. Default: false. */
  readonly probes?: boolean;
}

/** The journal: the last 1,000 requests. */
export interface SandboxRequests<KeyRef extends string = string> {
  /** Oldest first. Throws `unknown_ref` for a key that there is not, `validation_failed` for another mistake. */
  list(query?: RequestQuery<KeyRef>): RequestView[];
  /** The number of requests since the start, the last reset or `clear`, those that fell out included. */
  readonly total: () => number;
  /** Clears them and the report. */
  readonly clear: () => void;
}

/** The source of a sandbox: a bundled name, or a scenario as a value. */
export type ScenarioSource = ScenarioName | Scenario;

type OrganizationsIn<Value> = Value extends { readonly organizations: infer Organizations }
  ? (keyof Organizations & string) | InPopulation<Value, `organization-${number}`>
  : string;
type KeysIn<Value> = Value extends { readonly organizations: infer Organizations }
  ?
      | { [Ref in keyof Organizations]: KeysOf<Organizations[Ref]> }[keyof Organizations]
      | InPopulation<Value, `organization-${number}-key-${number}`>
      | MadeInTimeline<Value>
  : string;
type InPopulation<Value, Ref> = Value extends { readonly population: object } ? Ref : never;
type MadeInTimeline<Value> = Value extends { readonly timeline: readonly (infer Step)[] }
  ? MadeBy<Step>
  : never;
type MadeBy<Step> = Step extends { readonly create_key: { readonly ref: infer Ref extends string } }
  ? Ref
  : Step extends { readonly rotate: { readonly as: infer Ref extends string } }
    ? Ref
    : never;
type KeysOf<Organization> = Organization extends { readonly keys: infer Keys } ? keyof Keys & string : never;

/** The refs of the keys of a scenario, as far as its type says them. */
export type KeyRef<Source> = Source extends ScenarioName ? BundledKeyRefs[Source] : KeysIn<Source>;

/** The refs of the organizations of a scenario, as far as its type says them. */
export type OrganizationRef<Source> = Source extends ScenarioName
  ? BundledOrganizationRefs[Source]
  : OrganizationsIn<Source>;
