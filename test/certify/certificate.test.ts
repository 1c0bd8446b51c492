import { expect, test } from "vitest";
import {
  certificateJson,
  certificateJsonSchema,
  certificateLayout,
  certifyResultOf,
} from "../../src/certify/certificate.js";
import type { ClientRun } from "../../src/certify/run.js";
import { certificateText } from "../../src/certify/verdict.js";
import { render } from "../../src/report/render/render.js";
import { failed } from "./certified.js";

test("a certificate is one screen: causes first, then what held and what was not judged", () => {
  expect(certificateText(failed)).toBe(
    [
      "Failed: 1 problem.  27 runs of `npm run test:api -- --grep 'it'\\''s a key'`, 41 s",
      "1. Breaks when a 401 has a charset in its `Content-Type`",
      "   Its last line: Error: unexpected Content-Type",
      "   Fix: Compare only the media type.",
      "   Again: svc-sandbox exec --profile varied --seed 3 -- npm run test:api -- --grep 'it'\\''s a key'",
      "Held: varied responses (1 of 2), wrong answers noticed (1 of 1), 401 of ACTIVE: requests 1, 2 and 7 of 7, 403 access_denied of ACTIVE: request 7 of 7, faults (1 of 1), no key in output or URL",
      "Allowed: wrong answers on 200.retiring",
      "Not judged: 429 without Retry-After: no request was rejected. Send the key.",
      "Not judged: varied 403: no request got a 403. Send a key that gets a 403.",
      "",
    ].join("\n"),
  );
});

test("what the scenario sets is named, and is neither a problem nor not judged", () => {
  const text = certificateText({
    ...failed,
    scenario: "real.yaml",
    assumptions: ["retry_after", "error_details"],
  });
  expect(text).toContain("\nSet by real.yaml: retry_after, error_details\nNot judged: 429");
  expect(text.replace(/^Set by .*\n/m, "")).toBe(certificateText(failed));
});

test("its JSON has the members of its schema, and JUnit a test for each check", () => {
  const { properties = {} } = certificateJsonSchema() as { properties?: object };
  expect(Object.keys(properties)).toEqual(expect.arrayContaining(Object.keys(certificateJson(failed))));
  const junit = render(certificateLayout(failed), "junit");
  expect(junit).toMatch(/<testsuites [^>]*tests="10" failures="2"/);
  expect(junit).toContain("Breaks when a 401 has a charset");
});

test("every problem is shown: the first four whole, each other one by its sentence and its command", () => {
  const [problem] = failed.problems;
  if (problem === undefined) throw new Error("it has no problem");
  const text = certificateText({ ...failed, problems: Array.from({ length: 6 }, () => problem) });
  const lines = text.slice(0, text.indexOf("Held: ")).split("\n");
  const countOf = (part: string) => lines.filter((line) => line.includes(part)).length;
  expect([problem.sentence, "Again: ", "Fix: ", "Its last line: "].map(countOf)).toEqual([6, 6, 4, 4]);
});

test("a problem comes before what is not judged, and both are shown", () => {
  const reason = { why: "the client covers 1 of 16 promised outcomes", whatToDo: "Send more." };
  const { checks, problems, notes, report, ...about } = failed;
  const plain = { report: { ...report, requests: 1 }, result: "passed" } as ClientRun;
  const seen = { checks, problems, notes, runs: 1, plain, scenarios: [] };
  const verdictOf = (more: object) => certifyResultOf({ ...seen, ...more }, about)?.verdict;
  expect(verdictOf({ unusable: reason })).toBe("failed");
  expect(verdictOf({ unusable: reason, problems: [] })).toBe("not_judged");
  expect(certificateText({ ...failed, ...reason })).toContain(`Not judged: ${reason.why}. Send more.`);
});
