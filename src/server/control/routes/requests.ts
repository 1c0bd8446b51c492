import { requestChecks } from "../../../api/authorize.js";
import { sendByRef } from "../../../api/story/send.js";
import { formats, reportFormats } from "../../../report/render/layout.js";
import { clientReport } from "../../../report/report.js";
import { renderReport } from "../../../report/report-layout.js";
import { explainRequest } from "../../../report/request-text.js";
import { type FaultKind, faultExamples, faultKinds, faultKindTable } from "../../../rules/fault-effects.js";
import { faultOutcomeIds } from "../../../rules/outcomes.js";
import { successOutcomesOf } from "../../../sandbox/call.js";
import { type Exchange, viewRequest } from "../../../sandbox/journal/exchange.js";
import { clearRequests } from "../../../sandbox/operations/operations.js";
import { expectRequests, listRequests } from "../../../sandbox/request-queries.js";
import type { SandboxState } from "../../../sandbox/sandbox-state.js";
import { expectationQuery, requestQuery } from "../../../scenario/format/inputs.js";
import * as s from "../../../schema/shape.js";
import { membersToSnakeCase } from "../../../schema/spelling.js";
import type { Route } from "../route.js";
import { controlRoute, dataResult, refInBody } from "../route.js";

export const requestRoutes: readonly Route[] = [
  controlRoute("GET /requests", {
    summary: "The last 1,000 requests, oldest first",
    query: requestQuery,
    run: ({ sandbox, query }) => dataResult(listRequests(sandbox, query)),
  }),
  controlRoute("GET /expect", {
    summary: "Counts the requests of clients: 409 if there are not `count`, by default at least one",
    query: expectationQuery,
    run: ({ sandbox, query }) => dataResult({ count: expectRequests(sandbox, query) }),
  }),
  controlRoute("DELETE /requests", {
    summary: "Clears the requests and the report; the usage of the keys stays",
    run({ sandbox }) {
      clearRequests(sandbox);
      return { kind: "nothing" };
    },
  }),
  controlRoute("GET /report", {
    summary: "The outcomes that clients have covered, and advice",
    query: s.mapping({
      format: s.optional(s.described(s.choice(reportFormats), "The format of the report. Default: json.")),
      story: s.optional(
        s.described(
          s.flag(),
          "Whether to count requests of the story and `POST /send` in `from_story`, and all of the journal in `in_journal`.",
        ),
      ),
    }),
    run({ sandbox, query }) {
      const { format = "json" } = query;
      const report = clientReport(sandbox);
      if (format !== "json") {
        return { kind: "text", type: formats[format].mediaType, text: renderReport(report, format) };
      }
      const data = query.story ? { ...report, ...requestCounts(sandbox) } : report;
      return { kind: "json", status: 200, json: { data: membersToSnakeCase(data) } };
    },
  }),
  controlRoute("GET /request-checks", {
    summary: "The checks of a request in order, with the outcomes of their rejections",
    run: ({ sandbox }) =>
      dataResult({
        checks: requestChecks,
        successes: sandbox.endpoints.flatMap(successOutcomesOf),
        faults: faultOutcomeIds,
        effects: faultKinds.map(describedEffect),
      }),
  }),
  controlRoute("GET /requests/{id}", {
    summary:
      "One request: the result of each check, the response, what to do, and the body for /send that repeats it",
    run: ({ sandbox, params }) => dataResult(explainRequest(sandbox, params.id)),
  }),
  controlRoute("POST /send", {
    summary: "Sends a request to the API; it is in the journal, not in the report",
    body: "sending",
    run({ sandbox, body }) {
      const response = refInBody("key", () => sendByRef(sandbox, body));
      // The latest request is the one that was just sent.
      const [exchange] = sandbox.journal.requests({ limit: 1 });
      const request = viewRequest(exchange as Exchange);

      // A fault may leave it without a response.
      if (response.status === 0) return dataResult({ request, response: null });
      const { status, headers, body: text } = response;
      return dataResult({ request, response: { status, headers, body: text } });
    },
  }),
];

/** What the page shows of a fault of each kind; `{}` stands for the value. */
const faultLabels: Readonly<Record<FaultKind, string>> = {
  latency: "{} late",
  status: "status {}",
  reset: "connection reset",
  hang: "no response",
  truncate: "truncated body",
  malformed: "broken JSON",
  slow: "{} bytes a second",
};

/** What the page needs to offer an effect of a fault. */
function describedEffect(effect: FaultKind) {
  const { valueKind, onlyDelays, ends, causeClause } = faultKindTable[effect];
  const example = faultExamples[effect];
  return {
    effect,
    value: valueKind,
    label: faultLabels[effect],
    example,
    onlyDelays,
    ends,
    does: causeClause,
  };
}

/** The numbers of requests in the journal by id: those of the story by outcome; all of them by outcome, fault and advice. */
function requestCounts({ journal }: SandboxState) {
  const fromStory: Record<string, number> = {};
  for (const { outcome } of journal.requests({ source: "story" })) {
    fromStory[outcome] = (fromStory[outcome] ?? 0) + 1;
  }

  const inJournal: Record<string, number> = {};
  for (const { outcome, fault, advice } of journal.requests()) {
    // A set: a fault may also be the outcome of its request, which counts once then.
    const ids = new Set<string>([outcome]);
    if (fault !== null) ids.add(fault);
    for (const id of advice) ids.add(id);
    for (const id of ids) inJournal[id] = (inJournal[id] ?? 0) + 1;
  }
  return { fromStory, inJournal };
}
