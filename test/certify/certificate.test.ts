import { expect, test } from "vitest";
import {
  certificateJson,
  certificateJsonSchema,
  certifyResultOf,
  verdictOf,
} from "../../src/certify/certificate/certificate.js";
import { certificateLayout, certificateText } from "../../src/certify/certificate/certificate-formats.js";
import type { JudgedClient } from "../../src/certify/certify.js";
import { notJudged } from "../../src/certify/checks/judgment.js";
import { type ClientRun, timeoutsFor } from "../../src/certify/client-runs/client-run.js";
import { render } from "../../src/report/render/render.js";
import { failed, judgedCheck } from "./certified.js";
import { runEnd } from "./hand-made.js";

test("a certificate is one screen: causes first, then what held and what was not judged", () => {
  expect(certificateText(failed)).toBe(
    [
      "Failed (allowed 200.retiring): 1 problem, 1 of 9 checks not judged.  27 runs of `npm run test:api -- --grep 'it'\\''s a key'`, 41 s",
      "1. Breaks when a 401 has a charset in its `Content-Type`",
      "   Its last line: Error: unexpected Content-Type",
      "   Fix: Compare only the media type.",
      "   Again: svc-sandbox exec --profile varied --seed 3 -- npm run test:api -- --grep 'it'\\''s a key'",
      "Held: varied responses (1 of 2), wrong answers noticed (1 of 1), no resend of ACTIVE after a 401 and a 403 with `access_denied`, faults (1 of 1), no key in output or URL",
      "Not judged: resend.429.without: no request was rejected. Send the key.",
      "Not judged: varied 403: no request got a 403. Send a key that gets a 403.",
      "",
    ].join("\n"),
  );
});

test("on a terminal, the sentence and the fix of a problem are indented from their second line on", () => {
  const lines = certificateText(failed, {}, undefined, 40).split("\n");
  expect(lines.slice(1, 6)).toEqual([
    "1. Breaks when a 401 has a charset in",
    "   its `Content-Type`",
    "   Its last line: Error: unexpected Content-Type",
    "   Fix: Compare only the media type.",
    expect.stringMatching(/^ {3}Again: svc-sandbox exec .* 'it'\\''s a key'$/),
  ]);
});

test("what the scenario sets is named, and is neither a problem nor not judged", () => {
  const text = certificateText({
    ...failed,
    scenario: "real.yaml",
    assumptions: ["retry_after", "error_details"],
  });
  expect(text).toContain("\nSet by real.yaml: retry_after, error_details\nNot judged: resend.429");
  expect(text.replace(/^Set by .*\n/m, "")).toBe(certificateText(failed));
});

test("a certificate that --only or --allow limits says so first, in JUnit and in JSON", () => {
  const limited = { ...failed, only: ["varied", "fault.status"], allow: ["fault.status" as const] };
  const text = certificateText(limited);
  expect(text).toMatch(
    /^Failed \(only varied, fault\.status; allowed fault\.status\): 1 problem, 1 of 9 checks not judged\. {2}27 runs/,
  );
  const names = { only: ["varied", "fault.status"], allow: ["fault.status"] };
  expect(certificateJson(limited)).toMatchObject(names);
  const junit = render(certificateLayout(limited), "junit");
  expect(junit).toContain("Failed (only varied, fault.status; allowed fault.status): 1 problem");
});

test("its JSON has the members of its schema, and JUnit a test for each check", () => {
  const { properties = {} } = certificateJsonSchema() as { properties?: object };
  expect(Object.keys(properties)).toEqual(expect.arrayContaining(Object.keys(certificateJson(failed))));
  const junit = render(certificateLayout(failed), "junit");
  expect(junit).toMatch(/<testsuites [^>]*tests="11" failures="2" [^>]*time="41.345"/);
  expect(junit).toMatch(
    /name="resend\.429\.without" [^>]*>\s*<skipped message="no request was rejected\. Send the key\."\/>/,
  );
  expect(junit).toMatch(
    /name="varied 403" [^>]*>\s*<skipped message="no request got a 403\. Send a key that gets a 403\."\/>/,
  );
});

test("JUnit has the sentence of a problem as its message, and the fix, the last line and the command below", () => {
  const junit = render(
    certificateLayout(failed, { program: "npx svc-sandbox", scenario: "real.yaml" }),
    "junit",
  );
  const [, text = ""] = /name="varied\.3" [^>]*>\s*(<failure .*?)<\/failure>/s.exec(junit) ?? [];
  expect(text.replace(/ type="[^"]*"/, "").split("\n")).toEqual([
    '<failure message="Breaks when a 401 has a charset in its `Content-Type`">result: failed',
    "why: Breaks when a 401 has a charset in its `Content-Type`.",
    "fix: Compare only the media type.",
    "its last line: Error: unexpected Content-Type",
    "again: npx svc-sandbox exec real.yaml --profile varied --seed 3 -- npm run test:api -- --grep 'it'\\''s a key'",
  ]);
});

test("a certificate that passed says how many checks are judged", () => {
  const passed = { ...failed, verdict: "passed", problems: [], allow: [] } as const;
  expect(certificateText(passed)).toMatch(/^Passed: 8 of 9 checks, 1 not judged\. {2}27 runs of /);
  expect(certificateText({ ...passed, judged: 9, notJudged: 0 })).toMatch(
    /^Passed: 9 checks\. {2}27 runs of /,
  );
  expect(certificateJson(passed)).toMatchObject({ judged: 8, not_judged: 1 });
});

test("a problem comes before what is not judged, and both are shown", () => {
  const reason = { why: "the client covers 1 of 16 promised outcomes", whatToDo: "Send more." };
  expect(certificateText({ ...failed, ...reason })).toContain(`Not judged: ${reason.why}. Send more.`);
});

test("a check that failed without a problem is printed by its name, and counts as one", () => {
  const checks = [...failed.checks, judgedCheck({ kind: "varied", seed: 7 }, { kind: "failed" })];
  const lines = certificateText({ ...failed, checks }).split("\n");
  expect(lines[0]).toMatch(/^Failed \(allowed 200\.retiring\): 2 problems, /);
  expect(lines).toContain("2. varied.7 failed, and no run shows why");
});

test("advice that runs have is a problem of its own check, and not of the checks of these runs", () => {
  const advice = {
    name: "advice.key-in-output",
    sentence: "Prints a key (run answer.200.test)",
    whatToDo: "Print no key.",
    again: ["certify"],
    runs: ["answer.200.test", "fault.hang"],
  };
  const checks = [
    judgedCheck({ kind: "answer", outcome: "200.test" }, held),
    judgedCheck({ kind: "fault", outcome: "fault.hang" }, open),
    judgedCheck({ kind: "fault", outcome: "fault.reset" }, { kind: "failed" }),
    judgedCheck({ kind: "advice", id: "key-in-output" }, { kind: "failed" }),
  ];
  const problems = [{ ...advice, runs: [...advice.runs, "fault.reset"] }];
  const { sections } = certificateLayout({ ...failed, problems, checks });
  expect(sections[0]?.rows.map(({ message }) => message)).toEqual([
    undefined,
    "the run shows nothing. Send more.",
    undefined,
    "Prints a key (run answer.200.test)",
  ]);
  expect(certificateText({ ...failed, problems, checks })).toContain(
    "2. fault.reset failed, and no run shows why",
  );
});

test("each kind of a 429 that holds is named", () => {
  const kindsHeld = (...forms: readonly ("without" | "seconds" | "date")[]) => {
    const checks = forms.map((retryAfter) =>
      judgedCheck({ kind: "resend", outcome: "429.per_minute", retryAfter }, { kind: "held", key: "active" }),
    );
    return certificateText({ ...failed, checks });
  };
  expect(kindsHeld("without", "date")).toContain(
    "no resend of ACTIVE before its time after a 429 without `Retry-After` and a 429 with a date in `Retry-After`",
  );
});

test("a certificate that was stopped says so first, and JUnit has it as an error", () => {
  const stopped = { ...failed, verdict: "stopped" } as const;
  expect(certificateText(stopped)).toMatch(
    /^Stopped \(allowed 200\.retiring\): 1 problem in the runs that were made, 1 of 9 checks not judged\. {2}27 runs of /,
  );
  expect(certificateJson(stopped)).toMatchObject({ verdict: "stopped" });
  const junit = render(certificateLayout(stopped), "junit");
  expect(junit).toMatch(/<testsuites [^>]*errors="1"/);
  expect(junit).toMatch(
    /<testcase [^>]*name="conclusion"[^>]*>\s*<error message="Stopped \(allowed 200\.retiring\): 1 problem in the runs that were made, /,
  );
});

const held = { kind: "held" } as const;
const open = notJudged("the run shows nothing", "Send more.");
const plain: ClientRun = {
  ...runEnd({ report: { ...failed.report, requests: 9 } }),
  purpose: { kind: "plain" },
  seed: 1,
  conditions: {},
  clientMayWaitMs: 0,
  timeouts: timeoutsFor(1, 1),
  isAlone: false,
  number: 1,
};
const client: JudgedClient = {
  kind: "judged",
  checks: [],
  problems: [],
  notes: [],
  runCount: 9,
  plain,
  scenarios: [],
  isStopped: false,
};
const [problem] = failed.problems;

test.each<[string, object, string]>([
  [
    "everything held",
    {
      checks: [
        judgedCheck({ kind: "varied", seed: 1 }, held),
        judgedCheck({ kind: "answer", outcome: "200.test" }, held),
      ],
    },
    "passed",
  ],
  ["there is a problem", { problems: [problem], whyNotJudged: open }, "failed"],
  [
    "a check failed without a problem",
    { checks: [judgedCheck({ kind: "varied", seed: 1 }, { kind: "failed" })] },
    "failed",
  ],
  ["it cannot be judged", { whyNotJudged: open }, "not_judged"],
  ["no fault is judged", { checks: [judgedCheck({ kind: "fault", outcome: "fault.hang" }, open)] }, "passed"],
  [
    "no resend is judged",
    { checks: [judgedCheck({ kind: "resend", outcome: "401.revoked" }, open)] },
    "passed",
  ],
  ["it was stopped, although there is a problem", { problems: [problem], isStopped: true }, "stopped"],
])("the verdict if %s", (_, more, verdict) => {
  expect(verdictOf({ ...client, ...more })).toBe(verdict);
});

test("a command that prints a key has failed, also if it sends no request", () => {
  const withoutRequests = { ...plain, report: { ...plain.report, requests: 0 } };
  const clientWithoutRequests = { ...client, plain: withoutRequests, whyNotJudged: open };
  const verdictWith = (problems: typeof failed.problems) =>
    certifyResultOf({ ...clientWithoutRequests, problems }, { allow: [], firstSeed: 1 }, failed).verdict;
  expect(verdictWith([])).toBe("no_request");
  expect(verdictWith(failed.problems)).toBe("failed");
});
