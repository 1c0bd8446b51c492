import { requestChecks } from "../../../api/request-details.js";
import { sendByRef } from "../../../api/story/send.js";
import { formats, reportFormats } from "../../../report/render/layout.js";
import { clientReport } from "../../../report/report.js";
import { renderReport } from "../../../report/report-layout.js";
import { explainRequest } from "../../../report/request-text.js";
import { faultEffects, faultKinds } from "../../../rules/fault-effects.js";
import { faultOutcomes } from "../../../rules/outcomes.js";
import * as s from "../../../rules/schema/shape.js";
import { successOutcomesOf } from "../../../sandbox/endpoint.js";
import type { Exchange } from "../../../sandbox/journal/exchange.js";
import { operations } from "../../../sandbox/operations/operations.js";
import type { SandboxState } from "../../../sandbox/sandbox-state.js";
import { expectRequests, listRequests, viewRequest } from "../../../sandbox/views.js";
import { expectationQuery, requestQuery } from "../../../scenario/format/inputs.js";
import { controlRoute, type Route, refInBody, textResponse } from "../route.js";

export const requestRoutes: readonly Route[] = [
  controlRoute("GET /requests", {
    summary: "The last 1,000 requests, oldest first",
    query: requestQuery,
    run: ({ sandbox, query }) => listRequests(sandbox, query),
  }),
  controlRoute("GET /expect", {
    summary:
      "Counts the requests of clients in the journal, which keeps the last 1,000: 409 with the five nearest if there are not `count`, by default at least one",
    query: expectationQuery,
    run: ({ sandbox, query }) => ({ count: expectRequests(sandbox, query) }),
  }),
  controlRoute("DELETE /requests", {
    summary: "Clears the requests and the report; the usage of the keys stays",
    run: ({ sandbox }) => operations.clear_requests(sandbox),
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
    isBare: true,
    run({ sandbox, query: { format = "json", story } }) {
      const report = clientReport(sandbox);
      if (format !== "json") return textResponse(formats[format].mediaType, renderReport(report, format));
      return { data: { ...report, ...(story && storyAndJournal(sandbox)) } };
    },
  }),
  controlRoute("GET /request-checks", {
    summary: "The checks of a request in order, with the outcomes of their rejections",
    run: ({ sandbox }) => ({
      checks: requestChecks,
      successes: sandbox.endpoints.flatMap(successOutcomesOf),
      faults: faultOutcomes,
      effects: faultKinds.map((effect) => {
        const { value, label, example, onlyDelays, ends, does } = faultEffects[effect];
        return { effect, value, label, example, onlyDelays, ends, does };
      }),
    }),
  }),
  controlRoute("GET /requests/{id}", {
    summary:
      "One request: the result of each check, the response, what to do, and the body for /send that repeats it",
    run: ({ sandbox, params: { id = "" } }) => explainRequest(sandbox, id),
  }),
  controlRoute("POST /send", {
    summary: "Sends a request to the API; it is in the journal, not in the report",
    body: "sending",
    run({ sandbox, body }) {
      const { status, headers, body: text } = refInBody("key", () => sendByRef(sandbox, body));
      const [exchange] = sandbox.journal.requests({ limit: 1 });
      return {
        request: viewRequest(exchange as Exchange),
        response: status === 0 ? null : { status, headers, body: text },
      };
    },
  }),
];

function countsOf(ids: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const id of ids) counts[id] = (counts[id] ?? 0) + 1;
  return counts;
}

function storyAndJournal({ journal }: SandboxState) {
  const fromStory = journal.requests({ source: "story" }).map(({ outcome }) => outcome);
  const inJournal = journal
    .requests()
    .flatMap(({ outcome, fault, advice }) => [...new Set([outcome, fault ?? outcome, ...advice])]);
  return { fromStory: countsOf(fromStory), inJournal: countsOf(inJournal) };
}
