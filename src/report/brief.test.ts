import { expect, test } from "vitest";
import { createSandbox } from "../index.js";
import { briefFacts, briefJson, thresholdFailure } from "./brief.js";
import { alignColumns, commandLine, shellWord, timesOf } from "./plain-text.js";
import type { Report } from "./report-shape.js";

const url = "https://any.example/v1/relying-party/me";

/** The report of requests with these keys, in order; `none` sends no key, and `slash` calls another path. */
async function reportOf(...refs: readonly string[]): Promise<Report> {
  const sandbox = createSandbox({ frozen: true });
  for (const ref of refs) {
    const apiKey = ref === "none" || ref === "slash" ? {} : { "x-api-key": sandbox.secret(ref as "active") };
    await sandbox.fetch(ref === "slash" ? `${url}/` : url, { headers: apiKey });
  }
  return sandbox.report();
}

const silent = await reportOf();
const one = await reportOf("active");
const careless = await reportOf("slash");

test("a brief has the first five failures, and counts all", () => {
  const failure = { id: "a", actual: "b", wanted: "c", cause: "d", whatToDo: "e" };
  const facts = briefFacts(one, Array(6).fill(failure));
  const brief = briefJson({ verdict: "client_failed", ...facts });
  expect(brief).toMatchObject({ failed: 6, failures: Array(5).fill({ what_to_do: "e" }) });
});

test("a brief's next step is a request, then the first failure, then serious advice, then a path, then another command", async () => {
  const failure = thresholdFailure(
    { gate: "advice", threshold: "--fail-on warning", level: "warning", sentence: "Why." },
    careless,
  );
  const advised = careless.advice.find(({ level }) => level !== "note")?.whatToDo;
  const covered = { ...one, paths: one.paths.map((path) => ({ ...path, covered: true })) };
  const next = (report: Report, failures = [] as (typeof failure)[]) =>
    briefFacts(report, failures, "a hint", "done").next;
  expect(failure).toMatchObject({
    id: "--fail-on",
    wanted: "no advice of level warning or error",
    whatToDo: advised,
  });
  expect([
    next(silent, [failure]),
    next(careless, [{ ...failure, whatToDo: "first" }]),
    next(careless),
  ]).toEqual(["a hint", "first", advised]);
  expect([next(one), next(covered)]).toEqual([expect.stringContaining("each path in missed"), "done"]);
});

test("a brief names the key for each missed path, or the steps, and sums the repeats of a key", async () => {
  const report = await reportOf("revoked", "revoked", "revoked", "none");
  const [row] = report.repeats;
  const facts = briefFacts(
    { ...report, repeats: [...report.repeats, { ...(row as typeof row & object), pathId: "429.per_day" }] },
    [],
  );
  expect(facts.repeats).toEqual({ revoked: 4 });
  expect(facts.missed).toMatchObject({
    "401.expired": "expired",
    "401.malformed": "malformed",
    "200.test": "active",
  });
  expect(Object.keys(facts.missed)).not.toContain("401.missing");
  expect(Object.keys(facts.missed)).toHaveLength(report.coverage.promised - report.coverage.covered);
  const how = report.paths.find(({ pathId }) => pathId === "401.expired")?.howToCover;
  if (!how) throw new Error("the request that covers 401.expired is known");
  const elsewhere = { request: { ...how.request, path: "/v1/relying-party/key-limits" }, curl: "curl it" };
  const paths = [{ scenario: "bad-day", reset: false }, { reset: true }, {}, elsewhere].map(
    (change, index) => ({
      pathId: `401.${index}` as "401.missing",
      promised: true,
      covered: false,
      count: 0,
      when: "",
      howToCover: { ...how, ...change },
    }),
  );
  expect(briefFacts({ ...report, paths }, []).missed).toEqual({
    "401.0": how.text,
    "401.1": how.text,
    "401.2": "expired",
    "401.3": `${how.text}: curl it`,
  });
});

test("columns are as wide as their widest cell, without the colors of a cell and without spaces at the end", () => {
  const lines = alignColumns([["a", "\u001b[31mlong\u001b[39m", "x"], ["bcd", "1", ""], ["e"]]);
  expect(lines).toEqual(["a    \u001b[31mlong\u001b[39m  x", "bcd  1", "e"]);
});

test("a command is shown as a shell reads it, up to its longest", () => {
  expect(["a=b", "", "it's", "$x"].map(shellWord)).toEqual(["a=b", "''", "'it'\\''s'", "'$x'"]);
  expect([commandLine(["abc", "d"], 5), commandLine(["abc", "de"], 5)]).toEqual(["abc d", "abc d…"]);
  expect([timesOf({ id: "key-in-output", count: 1 }), timesOf({ id: "key-in-query", count: 2 })]).toEqual([
    "1 line",
    "2 requests",
  ]);
});
