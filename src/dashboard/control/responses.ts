import type { Lifeline } from "../../api/lifelines.js";
import type { NextResult } from "../../api/next-request.js";
import type { stepView } from "../../api/story/step-view.js";
import type { Report as ReportView } from "../../report/report-shape.js";
import type { ExplainedRequest as DetailsView } from "../../report/request-text.js";
import type { Fault as FaultView } from "../../sandbox/faults.js";
import type { RequestView } from "../../sandbox/journal/exchange.js";
import type { ClockView, KeyView, OrganizationView, Upcoming as UpcomingView } from "../../sandbox/views.js";
import type { InJson } from "../../schema/spelling.js";

// What the page reads of the control plane's responses: views of the core as JSON, and what only its routes have.

export type Key = InJson<KeyView>;
export type Clock = InJson<ClockView>;
export type ShownRequest = InJson<RequestView>;
export type ShownRequestDetails = InJson<DetailsView>;
export type ShownFault = InJson<FaultView>;
type Report = InJson<ReportView>;
export type ReportOutcome = Report["outcomes"][number];
type ReportAdvice = Report["advice"][number];
/** Advice of the report, or of one request. */
export type ShownAdvice = Omit<ReportAdvice, "count" | "examples"> & Partial<ReportAdvice>;
/** The report, with what the page also sent itself. */
export type ShownReport = Report & {
  /** The numbers of requests of the story and this page that the journal still has, by outcome. */
  readonly from_story?: Readonly<Record<string, number>>;
  /** The numbers of requests that the journal still has, by outcome, fault and advice id. */
  readonly in_journal?: Readonly<Record<string, number>>;
};
type ShownResponse = NonNullable<ShownRequestDetails["response"]>;

export type ListedKey = Key & { readonly next_request: InJson<NextResult> };
/** The actions that change a key in the page. */
export type KeyAction = "rotate" | "expire" | "revoke";
export type IssuedKey = { readonly key: Key; readonly secret: string };
export type DirectoryPart = {
  readonly organization: InJson<OrganizationView>;
  readonly active: { readonly test: number; readonly live: number };
  readonly keys: readonly ListedKey[];
};
type Directory = {
  readonly sections: readonly DirectoryPart[];
  readonly matching: number;
  readonly total: number;
  /** How many keys, and organizations without keys, the limit leaves out. */
  readonly left: number;
};
type ShownCheck = { readonly name: string; readonly question: string; readonly rules: string };
/** An effect of faults with its words for people; `{}` in them is its value. */
export type Effect = {
  /** Its name, as in `then` of a fault. */
  readonly effect: string;
  readonly label: string;
  readonly example: ShownFault["then"];
};
export type RequestChecks = {
  readonly checks: readonly (ShownCheck & { readonly exits: readonly string[] })[];
  readonly successes: readonly string[];
  readonly faults: readonly string[];
  readonly effects: readonly Effect[];
};
export type ShownSentRequest = { readonly request: ShownRequest; readonly response: ShownResponse | null };
export type ShownScenario = {
  readonly name: string;
  readonly description: string;
  readonly running: boolean;
};
export type ShownProblem = {
  readonly line: number | null;
  readonly column: number | null;
  readonly level: "error" | "warning";
  readonly message: string;
  readonly hint: string | null;
};
export type StepResult = InJson<ReturnType<typeof stepView>> & {
  readonly checks: ShownRequestDetails["checks"] | null;
};
export type Story = {
  readonly steps: number;
  readonly done: number;
  readonly name: string | null;
  readonly description: string | null;
  /** The refs of the keys that its steps use. */
  readonly keys: readonly string[];
  readonly outline: readonly { readonly as_expected: boolean | null }[];
  readonly last: StepResult | null;
};

/** A key with its life. */
export type ShownLifeline = InJson<Lifeline>;
export type ShownPhase = ShownLifeline["phases"][number];

/** What happens when the clock gets to a time. */
export type UpcomingEvent = InJson<UpcomingView>;

/** What the page reads, by its path in the control plane. */
export type ControlData = {
  readonly "/assumptions": { readonly scopes: readonly string[] };
  readonly "/clock": Clock;
  readonly "/faults": readonly ShownFault[];
  readonly "/health": { readonly version: string; readonly scenario?: string; readonly seed?: number };
  readonly "/profiles": { readonly profiles: Readonly<Record<string, string>> };
  readonly "/report?story=true": ShownReport;
  readonly "/request-checks": RequestChecks;
  /** The last 1,000 requests, oldest first. */
  readonly "/requests": readonly ShownRequest[];
  /** The scenario as YAML. Pinned keys are hidden. */
  readonly "/scenario": string;
  readonly "/scenarios": readonly ShownScenario[];
  readonly "/story": Story;
  readonly "/upcoming": readonly UpcomingEvent[];
  readonly [key: `/keys/${string}`]: ListedKey;
  readonly [directory: `/directory?${string}`]: Directory;
  readonly [lifelines: `/lifelines?${string}`]: {
    readonly lifelines: readonly ShownLifeline[];
    readonly left: number;
  };
  readonly [request: `/requests/${string}`]: ShownRequestDetails;
  readonly [requests: `/requests?${string}`]: readonly ShownRequest[];
};
