import type { RequestDetails } from "../../api/request-details.js";
import type { Report } from "../../report/report-shape.js";
import type { Assumptions, Profile } from "../../rules/assumptions.js";
import type { RequestCheck } from "../../rules/authorize.js";
import type { FaultKind, faultEffects } from "../../rules/fault-effects.js";
import type { PathId } from "../../rules/outcomes.js";
import type { InJson } from "../../rules/schema/json.js";
import type { StepKind } from "../../rules/steps.js";
import type { Fault } from "../../sandbox/faults.js";
import type {
  ClockView,
  KeyView,
  OrganizationView,
  RequestView,
  Upcoming,
} from "../../sandbox/view-shapes.js";

// What the page reads of the control plane's responses: views of the core, and what only its routes have.

type ListedKey = KeyView & {
  /** `until`: when a limit resets and the key gets 200 again. */
  readonly nextRequest: Pick<RequestView, "status" | "pathId"> & {
    readonly verdict: string;
    readonly until: string | null;
  };
};

type Response = NonNullable<RequestDetails["response"]>;

interface StepResult {
  readonly number: number;
  readonly of: number;
  readonly kind: StepKind;
  readonly say: string | null;
  readonly request: {
    readonly method: string;
    readonly path: string;
    readonly key: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: string | null;
    readonly times: number;
  } | null;
  readonly response: (Response & Pick<RequestView, "code" | "pathId" | "fault">) | null;
  readonly performed: {
    readonly rejection: { readonly code: string; readonly message: string } | null;
  } | null;
  readonly failure: { readonly code: string; readonly message: string } | null;
  readonly text: string | null;
  readonly meanwhile: readonly {
    readonly timelineStep: number;
    readonly at: string;
    readonly text: string;
    readonly message: string | null;
  }[];
  readonly now: string;
  readonly differences: readonly { readonly at: string; readonly expected: string; readonly found: string }[];
}

interface Progress {
  readonly steps: number;
  readonly done: number;
  readonly over: boolean;
}

interface StoryStep {
  readonly number: number;
  readonly kind: StepKind;
  readonly say: string | null;
}

interface Responses {
  Key: KeyView;
  ListedKey: ListedKey;
  KeyPage: { readonly data: readonly ListedKey[]; readonly total: number; readonly created: number };
  IssuedKey: { readonly key: KeyView; readonly secret: string };
  Secret: { readonly secret: string };
  Organization: OrganizationView;
  Directory: {
    readonly sections: readonly {
      readonly organization: OrganizationView;
      readonly active: { readonly test: number; readonly live: number };
      readonly isContinued: boolean;
      readonly keys: readonly ListedKey[];
    }[];
    readonly first: number;
    readonly last: number;
    readonly matching: number;
    readonly total: number;
    readonly page: number;
    readonly pages: number;
  };
  Clock: ClockView;
  Upcoming: Upcoming;
  Assumptions: Assumptions & { readonly profile: Profile };
  AssumptionRow: {
    readonly assumption: string;
    readonly meaning: string;
    readonly gap: string;
    readonly schema: Readonly<Record<string, unknown>>;
    readonly minimal: unknown;
    readonly typical: unknown;
    readonly varied: boolean;
  };
  Fault: Fault;
  Request: RequestView;
  RequestDetails: RequestDetails;
  RequestChecks: {
    readonly checks: readonly (Omit<RequestCheck, "exits"> & { readonly exits: readonly PathId[] })[];
    readonly successes: readonly PathId[];
    readonly faults: readonly PathId[];
    readonly effects: readonly (Pick<
      (typeof faultEffects)[FaultKind],
      "value" | "onlyDelays" | "ends" | "does"
    > & { readonly effect: FaultKind })[];
  };
  Sent: { readonly request: RequestView; readonly response: Response | null };
  Report: Report & {
    /** The numbers of requests of the story and this page, by path id. */
    readonly fromStory?: Readonly<Record<string, number>>;
    /** The numbers of requests that the journal still has, by path id and advice id. */
    readonly inJournal?: Readonly<Record<string, number>>;
  };
  Story: Progress & {
    readonly name: string | null;
    readonly description: string | null;
    readonly next: StoryStep | null;
    readonly outline: readonly (StoryStep & {
      readonly text: string | null;
      readonly done: boolean;
      readonly asExpected: boolean | null;
    })[];
    readonly last: StepResult | null;
  };
  StepResult: StepResult;
  NextStep: Progress & { readonly step: StepResult | null };
  Health: { readonly version: string; readonly scenario?: string; readonly seed?: number };
  Scenario: {
    readonly name: string;
    readonly title: string;
    readonly description: string;
    readonly startedWith: boolean;
    readonly running: boolean;
  };
  Validation: {
    readonly problems: readonly {
      readonly line: number | null;
      readonly column: number | null;
      readonly level: "error" | "warning";
      readonly message: string;
      readonly hint: string | null;
    }[];
  };
}

export type Shown<Part extends keyof Responses> = InJson<Responses[Part]>;
