import type { Assumptions, Profile } from "../rules/assumptions.js";
import { keyVariable } from "../rules/keys/key-text.js";
import type { Instant } from "../rules/time.js";
import type { Scenario } from "../scenario/scenario.generated.js";
import type { ApiCall, CallResult, Endpoint, Routes } from "./call.js";
import type { VirtualClock } from "./clock.js";
import type { Farmers } from "./farmer-records/farmer-list.js";
import type { ActiveFault, FaultFacts, FiredFault } from "./faults.js";
import type { ClientHistory } from "./journal/client-history.js";
import type { Counters } from "./journal/counts.js";
import type { Journal } from "./journal/journal.js";
import type { Platform } from "./platform.js";
import type { RecordAdditions } from "./record-additions.js";
import type { Registry } from "./registry.js";
import type { RequestIds } from "./request-ids.js";
import type { StoryProgress, Timeline } from "./steps.js";
import type { VariantRules } from "./variants.js";

/**
 * The state of a running sandbox. Sandboxes share nothing that changes: a process can run many. A later start keeps these members,
 * and replaces those of `ScenarioState`.
 */
export interface SandboxState extends ScenarioState {
  readonly platform: Platform;
  /** The client's run that it belongs to, whose conditions come before the rest of the state. Default: none. */
  readonly clientRun: ConditionedRun | undefined;
  /** Of its first start: other scenarios that start later get them as well. */
  readonly startOptions: StartOptions;
  readonly journal: Journal;
  /** Counts the requests for the report: the client stays the same after a restart. */
  readonly counters: Counters;
  readonly invocation: Invocation;
}

/** The part of a sandbox's state that follows from its scenario. A later start replaces all of it, with the same scenario or another one. */
export interface ScenarioState {
  name: string;
  /** The scenario with the options applied; a reset starts it again. */
  scenario: Scenario;
  text: string | undefined;
  /** Decides everything that the scenario leaves open: ids, names, secrets, chances of faults, variants. */
  seed: number;

  // How the API behaves where the specification leaves it open.
  profile: Profile;
  /** The run's profile, or else the sandbox's own. With `varied`, responses vary in everything left open. */
  profileInEffect: Profile;
  /** The assumptions that the scenario sets itself: `varied` varies only their form. */
  ownAssumptions: Partial<Assumptions>;
  assumptions: Assumptions;
  /** What the profile in effect adds to keys and organizations where they are shown. */
  additions: RecordAdditions;
  endpoints: readonly Endpoint[];
  routes: Routes;

  clock: VirtualClock;
  startedAt: number;
  timeline: Timeline;

  registry: Registry;
  farmers: Farmers;
  /** The SHA-256 of the key that stories send as `unknown`. */
  unknownKeyHash: string;

  // Requests.
  faults: readonly ActiveFault[];
  requestIds: RequestIds;
  /** What earlier requests have shown of the client, for advice. */
  history: ClientHistory;

  story: StoryProgress;
  isChangedByUser: boolean;
}

/** What a start sets in place of its scenario, as a caller wrote it. */
export interface StartOptions {
  readonly seed?: number | undefined;
  readonly now?: Instant | undefined;
  readonly frozen?: boolean | undefined;
  readonly profile?: Profile | undefined;
}

/**
 * A client's run of `exec` or `certify`, whose conditions come before the state of its sandboxes. They are applied in `src/runs`;
 * this is all that a sandbox knows of them.
 */
export interface ConditionedRun {
  readonly profile?: Profile | undefined;
  /** The start of clocks that neither their options nor their scenario set (epoch milliseconds). Default: the wall clock. */
  readonly clockStart?: number | undefined;
  readonly rows?: VariantRules["rows"];
  /**
   * Tells by how many variants a response with a status shifts each row: of the variants a, b and c, where the seed chooses b, 1
   * makes it c. It is called once for each response. A run that gives each response other variants than the one before it counts
   * the responses here, except those to a story; any other run returns 0.
   */
  readonly takeVariantShift: (call: ApiCall, status: number) => number;
  /** Whether its responses hide where a request ended: there is no advice on them. */
  readonly hidesOutcomes: boolean;
  /** What a client's call gets, with the trace that the run keeps of it. Only the run reads the trace. */
  readonly resultOf: (sandbox: SandboxState, call: ApiCall, own: OwnResponse) => CallResult;
}

/** What a call gets if its run puts nothing in place of it. */
export interface OwnResponse {
  readonly facts: FaultFacts;
  /** The sandbox's own fault that fired. The faults have counted the call already, also one that the run replaces. */
  readonly fault: FiredFault | undefined;
  /** Responds as the checks decide, or with this fault. */
  readonly respond: () => CallResult;
}

export interface Invocation {
  /** Options that curl needs to reach the server. */
  readonly curlOptions: string;
  readonly program: string;
  readonly certify: string;
  readonly command: string;
  /** Whether the user has the sandbox itself, as tests do: texts name its members in place of variables and calls. Default: no. */
  readonly isInTest?: boolean;
}

/** How a text names the key of a ref. */
export function keyInWords(ref: string, { isInTest = false }: Pick<Invocation, "isInTest">): string {
  return isInTest ? `sandbox.secret("${ref}")` : keyVariable(ref);
}

/** How the user reaches a server and certifies a client. */
export function invocationOfServer(isSecure = false, program = "svc-sandbox"): Invocation {
  const curlOptions = isSecure ? "-k" : "";
  return { curlOptions, program, certify: `${program} certify`, command: "npm test" };
}
