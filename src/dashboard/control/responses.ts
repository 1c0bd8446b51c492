import type { Lifeline } from "../../api/lifelines.js";
import type { NextResult } from "../../api/next-request.js";
import type { stepView } from "../../api/story/summarize.js";
import type { Report as ReportView } from "../../report/report-shape.js";
import type { ExplainedRequest as DetailsView } from "../../report/request-text.js";
import type { Fault as FaultView } from "../../sandbox/faults.js";
import type { RequestView } from "../../sandbox/journal/exchange.js";
import type { ClockView, KeyView, OrganizationView, Upcoming as UpcomingView } from "../../sandbox/views.js";
import type { InJson } from "../../schema/spelling.js";

// What the page reads of the control plane's responses: views of the core as JSON, and what only its routes have.

export type ShownRequest = InJson<RequestView>;
export type ShownRequestDetails = InJson<DetailsView>;
export type ShownFault = InJson<FaultView>;
export type ListedKey = InJson<KeyView> & {
  /** When it ends or has ended; null if it does not. */
  readonly ends_at: string | null;
  readonly next_request: InJson<NextResult>;
};
export type IssuedKey = { readonly key: InJson<KeyView>; readonly secret: string };

/** The report, with what the page also sent itself. */
export type ShownReport = InJson<ReportView> & {
  /** The numbers of requests of the story and this page that the journal still has, by outcome. */
  readonly from_story?: Readonly<Record<string, number>>;
  /** The numbers of requests that the journal still has, by outcome, fault and advice id. */
  readonly in_journal?: Readonly<Record<string, number>>;
};

export type ShownSentRequest = {
  readonly request: ShownRequest;
  readonly response: ShownRequestDetails["response"];
};

/** What the page reads, by its path in the control plane. */
export type ControlData = {
  readonly "/assumptions": { readonly scopes: readonly string[] };
  readonly "/clock": InJson<ClockView>;
  readonly "/faults": readonly ShownFault[];
  readonly "/health": { readonly version: string; readonly scenario?: string; readonly seed?: number };
  readonly "/profiles": { readonly profiles: Readonly<Record<string, string>> };
  readonly "/report?story=true": ShownReport;
  readonly "/request-checks": {
    readonly checks: readonly {
      readonly name: string;
      readonly question: string;
      readonly rules: string;
      readonly exits: readonly string[];
    }[];
    readonly successes: readonly string[];
    readonly faults: readonly string[];
    /** The effects of faults with their words for people; `{}` in a label is its value. */
    readonly effects: readonly {
      /** Its name, as in `then` of a fault. */
      readonly effect: string;
      readonly label: string;
      readonly example: ShownFault["then"];
    }[];
  };
  /** The last 1,000 requests, oldest first. */
  readonly "/requests": readonly ShownRequest[];
  /** The scenario as YAML. Pinned keys are hidden. */
  readonly "/scenario": string;
  readonly "/scenarios": readonly {
    readonly name: string;
    readonly description: string;
    readonly running: boolean;
  }[];
  readonly "/story": {
    readonly steps: number;
    readonly done: number;
    /** Whether a user has changed the sandbox. */
    readonly changed: boolean;
    readonly name: string | null;
    readonly description: string | null;
    readonly outline: readonly { readonly as_expected: boolean | null }[];
    readonly last:
      | (InJson<ReturnType<typeof stepView>> & { readonly checks: ShownRequestDetails["checks"] | null })
      | null;
  };
  /** What happens when the clock gets to a time, earliest first. */
  readonly "/upcoming": readonly InJson<UpcomingView>[];
  readonly [key: `/keys/${string}`]: ListedKey;
  readonly [directory: `/directory?${string}`]: {
    readonly sections: readonly {
      readonly organization: InJson<OrganizationView>;
      readonly active: { readonly test: number; readonly live: number };
      readonly keys: readonly ListedKey[];
    }[];
    readonly matching: number;
    readonly total: number;
    /** How many keys, and organizations without keys, the limit leaves out. */
    readonly left: number;
  };
  readonly [lifelines: `/lifelines?${string}`]: {
    readonly lifelines: readonly InJson<Lifeline>[];
    readonly left: number;
  };
  readonly [request: `/requests/${string}`]: ShownRequestDetails;
  readonly [requests: `/requests?${string}`]: readonly ShownRequest[];
};
