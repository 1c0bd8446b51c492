import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, it, test } from "vitest";
import { certificateBrief, tellingLines } from "../../src/certify/brief.js";
import { certificateBadge, renderCertificate } from "../../src/certify/document.js";
import {
  type CertifyResult,
  certificateJsonSchema,
  certificateOf,
  certifyVerdicts,
  type Run,
  readCertificate,
  runOutcomes,
} from "../../src/certify/result.js";
import type { Verification } from "../../src/certify/verify-certificate.js";
import { renderVerification, verifyCertificate } from "../../src/certify/verify-certificate.js";
import { reportFiles } from "../../src/dashboard/control/report-formats.generated.js";
import { redactKeys } from "../../src/spec/redact.js";
import { elementsOf } from "../report/xml-elements.js";
import { failed, passed } from "./certified.js";

const filesForPeople = reportFiles.filter(({ format }) => format !== "json");

type Json = string | number | boolean | null | Json[] | { [name: string]: Json };
type Steps = readonly (string | number)[];

const differencesOf = ({ facts }: Verification) => facts.filter(({ certified, now }) => certified !== now);
const plain = (value: object) => JSON.parse(JSON.stringify(value)) as { [name: string]: Json };
const textOf = (result: CertifyResult) => renderCertificate(result, "json");

test("a client that failed by chance before its first request is flaky in a brief, and one that sends none is not", () => {
  const verdictOf = (verdict: CertifyResult["verdict"]) =>
    certificateBrief({ ...passed, verdict, report: { ...passed.report, requests: 0 } }, "").verdict;
  expect([verdictOf("flaky"), verdictOf("unusable")]).toEqual(["flaky", "no_request"]);
});
const problemOf = (json: unknown) => {
  const read = readCertificate(JSON.stringify(json));
  return "problem" in read ? read.problem : undefined;
};

/** The way to each value that holds no others. */
function leavesOf(value: Json, steps: Steps = []): Steps[] {
  if (typeof value !== "object" || value === null) return [steps];
  const members = Array.isArray(value) ? [...value.entries()] : Object.entries(value);
  return members.flatMap(([name, member]) => leavesOf(member, [...steps, name]));
}

/** A copy in which the value at the end of the way is another one; without a new value it is taken out. */
function changed(whole: Json, steps: Steps, change?: (value: Json) => Json): { [name: string]: Json } {
  const copy = structuredClone(whole);
  const last = steps.at(-1) as string;
  const holder = steps.slice(0, -1).reduce((value, step) => (value as never)[step], copy) as never as {
    [name: string]: Json;
  };
  if (change !== undefined) holder[last] = change(holder[last] as Json);
  else if (Array.isArray(holder)) holder.splice(Number(last), 1);
  else delete holder[last];
  return copy as { [name: string]: Json };
}

function another(value: Json): Json {
  if (typeof value === "boolean") return !value;
  if (typeof value === "number") return value + 1;
  return value === null ? 0 : `${value}x`;
}

test.each(filesForPeople)("a certificate as $title is what the golden file has", async ({
  format,
  ending,
}) => {
  const golden = `./golden/certificate.${ending}`;
  await expect(renderCertificate(failed, format)).toMatchFileSnapshot(golden);
});

test("a certificate as JSON has every member of the result, in its order, under its name with underscores", () => {
  const named = JSON.stringify(failed).replace(/"\w+":/g, (name) =>
    name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
  );
  const json = { svc_sandbox_certificate: 1, ...JSON.parse(named) };
  expect(textOf(failed)).toBe(`${JSON.stringify(json, undefined, 2)}\n`);
});

test("a text ends with the causes and the verdict, and has one line for all runs that were not made", () => {
  const textIn = (result: CertifyResult) => renderCertificate(result, "text");
  const titles = (text: string) => text.match(/^[A-Z][a-z]+$/gm);
  const text = textIn(failed);
  expect(titles(text)?.slice(-3)).toEqual(["Certificate", "Promises", "Causes"]);
  expect(text.slice(text.indexOf("\nCauses\n")).split("\n").length).toBeLessThan(24);
  const [minimal, ...others] = failed.runs as [Run, ...Run[]];
  const unusable = textIn({
    ...failed,
    runs: [
      { ...minimal, outcome: "failed", code: 1 },
      ...others.map((run): Run => ({ ...run, outcome: "not_run", code: null })),
    ],
    promises: { ...failed.promises, runs: [] },
    verdict: "unusable",
  });
  expect(titles(unusable)).toEqual(["Runs", "Causes"]);
  expect(unusable.match(/^.*not run.*$/gm)).toEqual([
    expect.stringMatching(/^ {2}typical and 5 more +not run/),
  ]);
  expect(unusable).toMatch(/\nCauses\n {2}minimal failed with exit code 1\n/);
});

test.each([
  ["vitest", " FAIL  test/whoami.test.js > a revoked key is rejected"],
  ["pytest", "FAILED tests/test_whoami.py::test_revoked - assert 200 == 401"],
  ["unittest", "FAIL: test_revoked (__main__.Suite.test_revoked)"],
  ["node:test", "✖ a revoked key is rejected (3.1ms)"],
  ["TAP", "not ok 2 - a revoked key is rejected"],
  ["go test", "--- FAIL: TestRevoked (0.00s)"],
  ["Maven", "[ERROR] WhoamiTest.revoked:31 expected: <401> but was: <200>"],
  ["Gradle", "WhoamiTest > revoked() FAILED"],
  ["JUnit's console", "│  └─ revoked() [X] expected: <401> but was: <200>"],
  ["Jest", "  ● whoami › a revoked key is rejected"],
  ["Mocha", "  1) a revoked key is rejected:"],
  [".NET", "  Failed Whoami.Revoked [12 ms]"],
])("a brief shows the failed test in the output of %s, and not its last lines", (_, line) => {
  const rest = Array.from({ length: 30 }, (_, i) => `  at line ${i}`);
  expect(tellingLines(["12 tests passed", line, ...rest])).toEqual([line]);
  expect(tellingLines(rest)).toEqual(rest.slice(-20));
});

test("a brief has the number of broken promises, and of the noticed ones", () => {
  const brief = JSON.parse(renderCertificate(failed, "brief", undefined, {}));
  expect(brief.promises).toEqual({ tried: 4, noticed: 1 });
});

test("only a client that passed has a badge with certified, its coverage, and the share of promises that it notices", async () => {
  await expect(certificateBadge(passed)).toMatchFileSnapshot("./golden/badge.svg");
  for (const verdict of certifyVerdicts) {
    const [svg, title] = elementsOf(certificateBadge({ ...passed, verdict }));
    const says = `svc-sandbox: ${verdict === "passed" ? "certified, 2/3 paths, 2/2 promises" : verdict}`;
    expect([svg?.attributes["aria-label"], title?.text]).toEqual([says, says]);
  }
  const retries = [{ after: "401", outcome: "not_tried", sentence: "" }] as const;
  expect(certificateBadge({ ...passed, retries: [...retries] })).toContain(
    "certified, retries not tried, 2/3",
  );
  const untested = certificateBadge({
    ...passed,
    promises: { kinds: "none", tried: 0, noticed: 0, runs: [] },
  });
  expect(untested).toContain("certified, 2/3 paths, promises not tested<");
});

test("a written certificate can be read, with the same contents", () => {
  for (const result of [failed, passed]) {
    const read = readCertificate(textOf(result));
    expect("result" in read && read.result).toEqual(result);
    expect("result" in read && renderCertificate(read.result, "html")).toBe(
      renderCertificate(result, "html"),
    );
  }
});

test("a certificate is valid against the schema, which describes every member", () => {
  const schema = certificateJsonSchema();
  const isValid = new Ajv2020({ strict: false, allErrors: true }).compile(schema);
  for (const result of [failed, passed]) {
    isValid(certificateOf(result).json);
    expect(isValid.errors ?? []).toEqual([]);
  }
  for (const outcome of runOutcomes) {
    const [first] = passed.runs;
    expect(isValid(certificateOf({ ...passed, runs: [{ ...first, outcome } as never] }).json)).toBe(true);
  }
  expect(isValid({ ...certificateOf(passed).json, verdict: "perfect" })).toBe(false);
  expect(isValid({ ...certificateOf(passed).json, note: "" })).toBe(false);
  JSON.stringify(schema, (name, value) => {
    if (name !== "properties") return value;
    for (const [member, one] of Object.entries(value))
      expect([member, one]).toEqual([member, expect.objectContaining({ description: expect.any(String) })]);
    return value;
  });
});

describe("the file of a certificate", () => {
  const written = plain(certificateOf(failed).json);

  it("is rejected with a member more, or without one that every certificate has", () => {
    expect(problemOf({ ...written, note: "x" })).toContain("It is not a certificate: at note, ");
    for (const member of Object.keys(certificateOf(passed).json))
      expect(problemOf(changed(written, [member]))).toContain("It is not a certificate");
  });

  it("is the same one with its members in another order and other spaces", () => {
    const turned = Object.fromEntries(Object.entries(written).reverse());
    expect(problemOf(turned)).toBeUndefined();
    expect(readCertificate(`\uFEFF${JSON.stringify(written, null, "\t")}\r\n`)).toHaveProperty("result");
  });

  it.each([
    [textOf(failed).slice(0, 900), "not a complete file"],
    ["null", "certify --certificate writes one"],
    [JSON.stringify({ ...written, verdict: "good" }), "verdict"],
    [JSON.stringify({ ...written, svc_sandbox_certificate: 2, sandbox: "9.0.0" }), '"9.0.0"'],
  ])("%.20s is rejected with a reason", (text, says) => {
    expect(readCertificate(text)).toEqual({ problem: expect.stringContaining(says) });
  });
});

describe("verifying by running again", () => {
  const made = <Made extends { readonly outcome: string }>(runs: readonly Made[]) =>
    runs.filter(({ outcome }) => outcome !== "not_run");
  const whole = {
    ...failed,
    runs: made(failed.runs),
    promises: { ...failed.promises, runs: made(failed.promises.runs) },
    verdict: "failed" as const,
  };

  it("passes with the number of facts that are the same", () => {
    const text = renderVerification(verifyCertificate(whole, whole), "text");
    expect(text).toContain("Verified: all 53 facts are the same.");
  });

  it("finds every fact that somebody changed, except what the machine decides", () => {
    const facts = plain(whole);
    const unseen = leavesOf(facts).filter((steps) => {
      const forged = changed(facts, steps, another) as never as CertifyResult;
      const { verified, notes } = verifyCertificate(certificateOf(forged).result, whole);
      return verified && notes.length === 0;
    });
    const names = unseen.map((steps) => steps.filter((step) => typeof step === "string").join("."));
    expect(
      [...new Set(names)].filter((name) => !/^report\.(?:advice|endpoints|paths|repeats|runs)\./.test(name)),
    ).toEqual([
      ...[
        "document.file",
        "document.given",
        "startedAt",
        "durationMs",
        "runs.durationMs",
        "runs.requests",
        "runs.lastRequest.id",
      ],
      ...["runs.lastRequest.pathId", "runs.lastRequest.status", "runs.percent", "promises.runs.code"],
      ...["promises.runs.durationMs", "retries.sentence", "retries.whatToDo", "notTried.why"],
      ...["notTried.whatToDo", "unmet.gate", "unmet.sentence", "report.scenario", "report.seed"],
      ...["report.profile", "report.requests", "report.unread"],
    ]);
    expect(names.filter((name) => /\.(?:met|promised|pathId)$/.test(name))).not.toContain("report.paths.met");
  });

  it("names what differs, with both values", () => {
    const [first, ...others] = whole.runs;
    const now = {
      ...whole,
      verdict: "unusable",
      runs: [{ ...first, outcome: "failed", code: 1 }, ...others],
    };
    const verification = verifyCertificate(whole, now as CertifyResult);
    expect(differencesOf(verification)).toEqual([
      { fact: "verdict", certified: "failed", now: "unusable" },
      { fact: "outcome of minimal", certified: "passed", now: "failed" },
      { fact: "exit code of minimal", certified: "0", now: "1" },
    ]);
    expect(renderVerification(verification, "text")).toBe(
      `Compared a certificate for key-states with the same runs now

Differences
  verdict
    certified  failed
    now        unusable
  outcome of minimal
    certified  passed
    now        failed
  exit code of minimal
    certified  0
    now        1

Not verified: 3 of 52 facts differ.
`,
    );
    expect(JSON.parse(renderVerification(verification, "json"))).toMatchObject({
      verified: false,
      differences: [{ fact: "verdict", certified: "failed", now: "unusable" }, {}, {}],
    });
    expect(differencesOf(verifyCertificate(whole, { ...whole, runs: others }))).toEqual([
      { fact: "run minimal", certified: "profile minimal, seed 1", now: "nothing" },
    ]);
  });

  it.each<[string, Partial<CertifyResult>]>([
    ["retries", { retries: [] }],
    ["promises", { promises: { ...whole.promises, runs: whole.promises.runs.slice(1) } }],
    ["runs", { runs: whole.runs.slice(0, -1) }],
    ["paths", { report: { ...whole.report, paths: whole.report.paths.slice(1) } }],
    ["everything not tried", { notTried: [] }],
    [
      "a failed run, as not made",
      {
        verdict: "passed",
        runs: whole.runs.map(
          (run): Run => ({ ...run, outcome: run.outcome === "passed" ? "passed" : "not_run" }),
        ),
      },
    ],
  ])("finds that a section is missing: %s", (_, more) => {
    expect(verifyCertificate({ ...whole, ...more }, whole).verified).toBe(false);
  });
});

describe("R46 a caller who writes what could break out", () => {
  const nasty = '"><script>alert(1)</script> ]]> | `c` @you &amp; \u0000\u001b[31m\n\r\u202e\ud800 \u2028';
  const keys = [
    "SVC_test_sbx9f8e7d6c5b4a3928",
    "SVC%255Flive%255F9f8e7d6c5b4a3928",
    btoa("SVC_live_9f8e7d6c5b4a3928"),
  ];
  const texts = [nasty, ...keys];
  const [first] = failed.runs;
  const hostile: CertifyResult = {
    ...failed,
    scenario: nasty,
    command: ["--key", ...texts, texts.join("=")],
    runs: [
      {
        ...first,
        name: nasty,
        outcome: "failed",
        cause: { sentence: nasty, whatToDo: texts, points: [], fault: nasty as never },
      } as never,
    ],
  };

  test.each(reportFiles)("does not in $title", ({ format }) => {
    const text = renderCertificate(hostile, format);
    for (const key of keys) expect(text).not.toContain(key.slice(-12));
    expect(text).not.toContain("9f8e7d6c");
    if (format !== "json") {
      // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
      expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028\u202e]|[\ud800-\udfff]/);
    }
    if (format === "html") expect(text).not.toMatch(/<script/i);
    if (format === "markdown") expect(text).not.toMatch(/<script|`c`|@you/);
    if (format === "junit") expect(elementsOf(text).map(({ name }) => name)).not.toContain("script");
    expect(redactKeys(text)).toBe(text);
  });

  test("is rejected when the file is read; several lines of a command are not, without keys", () => {
    expect(readCertificate(textOf(hostile))).toEqual({ problem: expect.stringMatching(/ at scenario, /) });
    const read = readCertificate(textOf({ ...failed, command: ["sh", "-c", "a\n\tb", ...keys] }));
    expect("result" in read && read.result.command.slice(0, 3)).toEqual(["sh", "-c", "a\n\tb"]);
    expect(JSON.stringify(read)).not.toContain("9f8e7d6c");
  });
});
