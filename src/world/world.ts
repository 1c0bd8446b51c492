import type { Assumptions, Profile } from "../domain/assumptions.js";
import type { RequestIds } from "../domain/seed.js";
import type { History } from "../history/history.js";
import type { Scenario } from "../scenario/scenario.generated.js";
import type { FarmerMaker } from "../synthetic/farmers/farmers.js";
import type { Change } from "./changes.js";
import type { ClientBehaviour, ObservedCall } from "./client-behaviour.js";
import type { Clock } from "./clock.js";
import type { Counters, Windows } from "./counters.js";
import type { OtherEvent } from "./events.js";
import type { Faults } from "./faults.js";
import type { Consents } from "./preview/consents.js";
import type { Farmers } from "./preview/farmers.js";
import type { Registry } from "./registry.js";
import type { Story, Timeline } from "./steps.js";

/** Time, randomness, a hash and the tables of farmers, passed in so that a world runs in Node and in browsers. */
export interface Platform {
  /** SHA-256 of a text's UTF-8 bytes, as 64 lower-case hex digits. */
  readonly sha256: (text: string) => string;
  /** The wall clock, in epoch milliseconds. */
  readonly time: () => number;
  /**
   * Epoch milliseconds by which clocks move: no correction of the wall clock moves them, a fake `Date` does, forth and back.
   */
  readonly steadyTime: () => number;
  /** A clock for durations, in milliseconds with fractions. */
  readonly stopwatch: () => number;
  /** Unpredictable unsigned 32-bit integers, for the keys that are created at run time and for nothing else. */
  readonly random: () => number;
  /** Makes farmers; not called before one is read. */
  readonly farmers: FarmerMaker;
}

/** One running world. Worlds share nothing: a process can hold many. */
export interface World {
  /** The bundled name, the file or the title of the scenario. */
  readonly name: string;
  /** The scenario with the options applied; `reset` starts it again. */
  readonly scenario: Scenario;
  /** The YAML that the whole scenario was written in; `undefined` when that is not known. */
  readonly text: string | undefined;
  readonly seed: number;
  // Changed by `changeAssumptions` alone, which carries the usage over.
  /** The profile that the assumptions are based on; with `varied`, answers vary in all that is left open. */
  profile: Profile;
  assumptions: Assumptions;
  /** The assumptions given rather than set by the profile; with `varied`, these do not vary. */
  givenAssumptions: Partial<Assumptions>;
  windows: Windows;
  readonly clock: Clock;
  readonly faults: Faults;
  readonly farmers: Farmers;
  /** Whether there is a preview of the announced endpoints; without it their paths are unknown ones (R49). */
  readonly preview: boolean;
  readonly consents: Consents;
  /** `undefined` without announced changes. */
  readonly changes: readonly Change[] | undefined;
  readonly timeline: Timeline;
  /** Runs the steps of the timeline that the clock has passed. */
  readonly settle: () => void;
  readonly story: Story;
  readonly registry: Registry;
  readonly behaviour: ClientBehaviour;
  /** The counters of its requests: those of its runtime, once it runs in one, so that the counts outlive it. */
  counters: Counters;
  /** What happened: that of its runtime, once it runs in one, so that it outlives the world. */
  history: History<OtherEvent>;
  readonly requestIds: RequestIds;
  readonly platform: Platform;
  /** `undefined` except in a trial of a client. */
  readonly trial: Trial | undefined;
}

/** What a trial of a client imposes on every world that the client meets, whichever scenario it starts. */
export interface Trial {
  /** Given assumptions, which win over those of the scenario. */
  readonly assumptions?: Partial<Assumptions>;
  /** Faults that come before those of the scenario. */
  readonly faults?: NonNullable<Scenario["faults"]>;
  /**
   * The variant of a row for the answers of a status; `usual` is the one that the seed or the profile gives. Any other text
   * than the id of a variant stands for what `minimal` does. Default: the usual one.
   */
  readonly choose?: (row: string, usual: string, status: number) => string;
  /** Announced changes instead of those of the scenario. */
  readonly changes?: Scenario["changes"];
  /** Called with the ref of each change that a response shows. */
  readonly onChanged?: (ref: string) => void;
  /** Breaks a promise of the specification. */
  readonly broken?: {
    /** The number of responses that it has changed so far. */
    responses: number;
    /** Whether a changed response shows its own path, so that advice applies. */
    readonly isAdvised: boolean;
    /** The ending of a call instead of another one. The API makes both. */
    end(world: World, call: ObservedCall, ending: object): object;
  };
}

export interface WorldOptions {
  readonly platform: Platform;
  /** Default: the title of the scenario, else `unnamed`. */
  readonly name?: string;
  /** The YAML of the scenario, where that is all of it. Default: unknown. */
  readonly text?: string | undefined;
  /** Default: the scenario's, else 1. */
  readonly seed?: number | undefined;
  /** When the clock starts (epoch milliseconds). Default: the scenario's, else the wall clock. */
  readonly now?: number | undefined;
  /** Default: the scenario's, else false. */
  readonly frozen?: boolean | undefined;
  /** Default: the scenario's, else `minimal`. */
  readonly profile?: Profile | undefined;
  /** Default: none. */
  readonly trial?: Trial | undefined;
}
