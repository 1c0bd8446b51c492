import { adviceIds, adviceLevels } from "../rules/advice.js";
import { profiles } from "../rules/assumptions.js";
import { mapTexts } from "../rules/keys/redact.js";
import { type OutcomeId, outcomeShape } from "../rules/outcomes.js";
import { oneSafeLine } from "../rules/terminal-text.js";
import { findMismatches } from "../schema/check.js";
import * as s from "../schema/shape.js";
import { membersToCamelCase, tolerantJsonShape } from "../schema/spelling.js";

// The shape of a report as JSON, and its type. Apart from `report.ts`, which pages need without the shape.

const sandboxFields = {
  scenario: s.described(s.text(), "The name of the scenario."),
  seed: s.described(s.integer(), "The seed."),
  profile: s.described(s.choice(profiles), "The profile."),
  pinned: s.described(s.list(s.text()), "The assumptions that the scenario sets, apart from the profile."),
};

const coverage = s.mapping({
  percent: s.described(s.integer({ max: 100 }), "A whole number, rounded down: 100 means all."),
  covered: s.described(s.integer(), "The number of covered outcomes."),
  promised: s.described(s.integer(), "The total number."),
});
/** The covered share of the promised outcomes. */
export interface Coverage extends s.ValueOf<typeof coverage> {}

/** How many of a kind are covered. */
const share = s.mapping({
  covered: s.described(s.integer(), "The number of covered ones."),
  total: s.described(s.integer(), "The total number."),
});

/** A request to send, for `coverInstruction`. */
const sending = s.mapping({
  method: s.described(s.text(), "Its method."),
  path: s.described(s.text(), "Its path with its query."),
});

const coverInstruction = s.mapping({
  ref: s.described(
    s.text(),
    "The ref of the key to send; none, malformed or unknown for no key of the sandbox.",
  ),
  request: s.described(sending, "The request, without its key."),
  scenario: s.described(s.orNull(s.text()), "The bundled scenario to start first."),
  reset: s.described(s.flag(), "Whether to reset the sandbox first."),
  text: s.described(s.text(), "The steps as text."),
  curl: s.described(s.text(), "The request as a command for a shell with the environment of clients."),
});
/** How to cover an outcome. */
export interface HowToCover extends s.ValueOf<typeof coverInstruction> {}

/** The id of an outcome, of which another version may have more. */
const outcome = () => ({ ...outcomeShape(), isGrowing: true }) as s.Shape<OutcomeId>; // a choice has this member

const reportedOutcome = s.mapping({
  outcome: s.described(
    outcome(),
    "An outcome of the closed list, or the status and operation id of a success.",
  ),
  promised: s.described(s.flag(), "Whether the API promises it; the coverage counts only these."),
  covered: s.described(s.flag(), "Whether it is covered, by a request whose key was not in a wrong place."),
  count: s.described(s.integer(), "The number of requests that ended there."),
  when: s.described(s.text(), "The requests that end there."),
  howToCover: s.described(
    s.orNull(coverInstruction),
    "How to cover it; null if it is covered, or if no request leads there for certain.",
  ),
});
/** An outcome of requests. */
export interface ReportedOutcome extends s.ValueOf<typeof reportedOutcome> {}

const reportedRequest = s.mapping({
  id: s.described(s.text(), "The request id."),
  at: s.described(s.instant(), "ISO 8601, on the sandbox's clock."),
  method: s.described(s.text(), "The method."),
  path: s.described(s.text(), "The path, without keys."),
  key: s.described(s.orNull(s.text()), "The ref of the key that the advice is about, if the sandbox has it."),
  fingerprint: s.described(s.orNull(s.text()), "The fingerprint of that key, or of the text in its place."),
  didYouMean: s.described(s.orNull(s.text()), "The nearest method and path, if the API does not have these."),
});
/** A request that caused advice. */
export interface ReportedRequest extends s.ValueOf<typeof reportedRequest> {}

const advice = s.mapping({
  id: s.described(s.growingChoice(adviceIds), "The advice."),
  level: s.described(s.choice(adviceLevels), "How serious it is."),
  rule: s.described(s.text(), "The rules that it is based on."),
  count: s.described(s.integer(), "The number of requests that caused it."),
  meaning: s.described(s.text(), "What happened."),
  whatToDo: s.described(s.text(), "What to do."),
  examples: s.described(s.list(reportedRequest), "The first requests, at most five."),
});
/** An advice and the requests that caused it. */
export interface ReportedAdvice extends s.ValueOf<typeof advice> {}

const reportedEndpoint = s.mapping({
  method: s.described(s.text(), "The method."),
  path: s.described(s.text(), "The path; a name in braces matches any one segment."),
  operationId: s.described(s.text(), "The operation id."),
  release: s.described(
    s.choice(["released", "announced"]),
    "announced: only a scenario has it, and the coverage leaves it out.",
  ),
  requests: s.described(s.integer(), "The number of requests to it."),
  covered: s.described(s.flag(), "Whether some run covered one of its successes."),
});
/** An endpoint and the requests to it. */
export interface ReportedEndpoint extends s.ValueOf<typeof reportedEndpoint> {}

const resend = s.mapping({
  outcome: s.described(outcome(), "The outcome of the requests."),
  key: s.described(s.orNull(s.text()), "The ref of the key, if the sandbox has it."),
  fingerprint: s.described(s.orNull(s.text()), "The fingerprint of the key."),
  count: s.described(s.integer(), "The number of requests after the first rejection."),
});
/** How often a key was resent after its rejection. */
export interface ReportedResend extends s.ValueOf<typeof resend> {}

export const reportShape = s.mapping({
  ...sandboxFields,
  /** Left out for a single run. */
  runs: s.optional(s.described(s.list(s.mapping(sandboxFields)), "The sandboxes of the runs.")),
  requests: s.described(s.integer(), "The number of requests in all runs."),
  unread: s.described(s.integer(), "The number of delayed responses that the client did not wait for."),
  coverage: s.described(coverage, "The promised outcomes that some run covered."),
  announced: s.described(share, "The announced endpoints that some run covered."),
  faults: s.described(share, "The kinds of faults that some run covered."),
  endpoints: s.described(s.list(reportedEndpoint), "The endpoints of the sandbox."),
  /** In the order of their table; in a merged report, in the order of the first report that has each. */
  outcomes: s.described(s.list(reportedOutcome), "Every outcome."),
  /** The most serious first. */
  advice: s.described(s.list(advice), "Problems in the client's behavior."),
  resends: s.described(s.list(resend), "The keys that were resent after 401, 403 or 429."),
});
/** The outcomes that a client has covered, and advice on its behavior. Plain data without keys. */
export interface Report extends s.ValueOf<typeof reportShape> {}

/** Reads a report as JSON; `undefined` for anything else. Keeps unknown members, which a newer sandbox may send. */
export function parseReport(json: unknown): Report | undefined {
  if (findMismatches(tolerantJsonShape(reportShape), json).length > 0) return undefined;

  // Its texts are shown on a terminal, and come from a file or another process.
  return mapTexts(membersToCamelCase(json) as Report, oneSafeLine);
}
