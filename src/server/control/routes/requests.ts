import { outcomesOf } from "../../../api/endpoints.js";
import { requestChecks, requestDetails, requireRequest } from "../../../api/request-details.js";
import { storyRequest } from "../../../api/story/run-story.js";
import { sendRequest } from "../../../api/story/send-request.js";
import { curlLine } from "../../../report/how-to-cover.js";
import { formats, reportFormats } from "../../../report/render/layout.js";
import { clientReport } from "../../../report/report.js";
import { renderReport } from "../../../report/report-layout.js";
import { requestText } from "../../../report/request-text.js";
import { variableOf } from "../../../rules/api-key.js";
import { SandboxError } from "../../../rules/errors.js";
import { faultEffects, faultKinds } from "../../../rules/fault-effects.js";
import { faultOutcomes, isSuccess, mePath, type OutcomeId } from "../../../rules/outcomes.js";
import * as s from "../../../rules/schema/shape.js";
import { type Exchange, senderOf } from "../../../sandbox/journal/exchange.js";
import { operations } from "../../../sandbox/operations/operations.js";
import type { SandboxState } from "../../../sandbox/sandbox.js";
import type { StoryStep } from "../../../sandbox/steps.js";
import { expectRequests, listRequests, viewRequest } from "../../../sandbox/views.js";
import { type ControlBody, expectationQuery, requestQuery } from "../../../scenario/format/inputs.js";
import { controlRoute, type Route, refInBody, textResponse } from "../route.js";

export const requestRoutes: readonly Route[] = [
  controlRoute("GET /requests", {
    summary: "The last 1,000 requests, oldest first",
    query: requestQuery,
    run: ({ sandbox, query }) => listRequests(sandbox, query).map(viewRequest),
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
      successes: outcomesOf(sandbox.endpoints).flatMap(({ id }) => (isSuccess(id) ? id : [])),
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
    run({ sandbox, params: { id = "" } }) {
      const details = requestDetails(sandbox, id);
      const repeat = repeatedRequest(requireRequest(sandbox, id));
      return { ...details, repeat, curl: curlOf(details.outcome, repeat), text: requestText(details) };
    },
  }),
  controlRoute("POST /send", {
    summary: "Sends a request to the API; it is in the journal, not in the report",
    body: "sending",
    run({ sandbox, body }) {
      const request = refInBody("key", () => sendable(sandbox, body));
      const { status, headers, body: text } = sendRequest(sandbox, request);
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

function sendable(sandbox: SandboxState, given: ControlBody<"sending">) {
  try {
    return storyRequest(sandbox, given).request;
  } catch (error) {
    if (!(error instanceof SandboxError) || error.code !== "secret_not_kept") throw error;
    // The sandbox has only the hash of a key that was created at run time, which is all that the API compares.
    const { request } = storyRequest(sandbox, { ...given, key: "unknown" });
    return { ...request, keyHash: sandbox.registry.key(given.key).key.sha256 };
  }
}

type RepeatableRequest = NonNullable<StoryStep["request"]>;

function repeatedRequest(exchange: Exchange): RepeatableRequest {
  const { method } = exchange;
  const path = repeatablePath(exchange);
  return {
    key: senderOf(exchange),
    ...(method !== "GET" && { method: /^[A-Z]{1,20}$/.test(method) ? method : "OTHER" }),
    ...(path !== mePath && { path }),
  };
}

function curlOf(outcome: OutcomeId, { key = "none", method, path = mePath }: RepeatableRequest): string {
  const variable = key === "none" ? undefined : variableOf(key);
  return curlLine({ variable, method, path }, "-i --globoff --path-as-is", outcome);
}

// Parts that were cut out of a path, or that stories cannot contain, change no response.
function repeatablePath({ path: shown }: Exchange): string {
  const encoded = shown
    .replaceAll("…", "*")
    .replace(/[^!-~]/g, (one) => `%${one.charCodeAt(0).toString(16).padStart(2, "0").slice(-2)}`);
  return (encoded.startsWith("/") ? encoded : `/${encoded}`).slice(0, 1000);
}
