import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, test } from "vitest";
import { endOf, failureLines, lastOutput } from "../../src/certify/brief.js";
import { renderCertificate } from "../../src/certify/document.js";
import {
  type CertifyResult,
  certificateJsonSchema,
  certificateOf,
  type Run,
  runOutcomes,
} from "../../src/certify/result.js";
import { reportFiles } from "../../src/dashboard/control/report-formats.generated.js";
import { redactKeys } from "../../src/rules/redact.js";
import { elementsOf } from "../report/xml-elements.js";
import { failed, passed } from "./certified.js";

const filesForPeople = reportFiles.filter(({ format }) => format !== "json");

const textOf = (result: CertifyResult) => renderCertificate(result, "json");

test("a client that failed by chance before its first request fails, and one that sends none is another end", () => {
  const ends = (verdict: CertifyResult["verdict"]) =>
    endOf({ ...passed, verdict, report: { ...passed.report, requests: 0 } });
  expect([ends("flaky"), ends("unusable")]).toEqual(["failed", "no_request"]);
});

test("a client whose requests reach no endpoint sent none", () => {
  const [row] = passed.report.paths as [CertifyResult["report"]["paths"][number]];
  const paths = [{ ...row, pathId: "405.method", count: 3 } as const];
  const report = { ...passed.report, requests: 3, paths };
  expect(endOf({ ...passed, verdict: "unusable", report })).toBe("no_request");
});

test.each(filesForPeople)(
  "a certificate as $title is what the golden file has",
  async ({ format, extension }) => {
    const golden = `./golden/certificate.${extension}`;
    await expect(renderCertificate(failed, format)).toMatchFileSnapshot(golden);
  },
);

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
])("a failure shows the failed test in the output of %s, and not its last lines", (_, line) => {
  const rest = Array.from({ length: 30 }, (_, i) => `  at line ${i}`);
  expect(failureLines(["12 tests passed", line, ...rest])).toEqual([line]);
  expect(failureLines(rest)).toEqual(rest.slice(-20));
});

test("the last output starts with earlier lines that show what failed", () => {
  const passing = Array.from({ length: 30 }, (_, i) => `ok ${i + 1} - passes`);
  const failing = ["not ok 2 - a revoked key is rejected", "AssertionError [ERR_ASSERTION]: 200 !== 401"];
  expect(lastOutput(["TAP version 13", ...failing, ...passing])).toEqual([...failing, ...passing.slice(-20)]);
  expect(lastOutput([...passing, ...failing])).toEqual([...passing.slice(-18), ...failing]);
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
    if (format === "markdown") expect(text).not.toMatch(/<script|`c`|@you/);
    if (format === "junit") expect(elementsOf(text).map(({ name }) => name)).not.toContain("script");
    expect(redactKeys(text)).toBe(text);
  });
});
