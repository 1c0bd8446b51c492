import { expect, test } from "vitest";
import { githubAnnotations, unmetThresholds } from "../../src/cli/thresholds.js";
import { createSandbox, type Report, type Scenario } from "../../src/index.js";
import { mergeReports } from "../../src/report/merge-reports.js";
import { type ReportFormat, reportFormats } from "../../src/report/render/layout.js";
import { conclusion, renderReport } from "../../src/report/report-layout.js";
import { parseReport } from "../../src/report/report-shape.js";
import { faultKinds } from "../../src/rules/fault-effects.js";
import { oneSafeLine } from "../../src/rules/terminal-text.js";
import { membersToSnakeCase } from "../../src/schema/spelling.js";
import { coverageText, promisedCount } from "../support/coverage.js";
import { memberWordsIn, pageOf, sectionOf, wordsOfValue } from "../support/pages.js";
import { type Misbehave, probeKeys, serveProbed } from "../support/probed-server.js";
import { converse } from "../support/raw-socket.js";
import { runCli } from "../support/run-cli.js";
import { mePath } from "../support/send.js";
import { served } from "../support/servers.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { elementsOf } from "./xml-elements.js";

const clean = createSandbox().report();
const unmet = (sentence: string) => ({ kind: "coverage", title: "--min-coverage 90", sentence }) as const;

/** Expects a text that is well-formed in its format, though everything in it was chosen by an attacker. */
function expectSound(format: ReportFormat, text: string, keys: readonly string[]): void {
  for (const key of keys) {
    expect(text).not.toContain(key);
    expect(text).not.toContain(key.slice(key.lastIndexOf("_") + 1));
  }
  // JSON escapes controls itself.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
  if (format !== "json") expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
  expect(text.endsWith("\n")).toBe(true);
  if (format === "json") JSON.parse(text);
  if (format === "junit") expect(elementsOf(text).map(({ name }) => name)).not.toContain("b");
  if (format !== "markdown") return;
  // In the block of YAML nothing is Markdown.
  expect(text.replace(/```yaml[\s\S]*```/, "")).not.toMatch(/<b>|`c`|@you|\]\]>/);
  const tables = text.split("\n\n").filter((block) => block.startsWith("|"));
  expect(tables.length).toBeGreaterThan(1);
  for (const table of tables) {
    const rows = table.trim().split("\n");
    expect(new Set(rows.map((row) => row.split("|").length)).size).toBe(1);
    expect(rows[1]).toMatch(/^\|(?:---\|)+$/);
  }
}

/** The report of a client that puts keys and nonsense wherever it can. */
async function hostileReport(): Promise<{ report: Report; keys: string[] }> {
  made ??= makeHostileReport();
  return made;
}

let made: ReturnType<typeof makeHostileReport> | undefined;

async function makeHostileReport() {
  const name = '"<b>|x|</b> `c` @you ]]> &amp; _e_ \u001b[31m\u202e';
  const keys = {
    active: { environment: "test" },
    revoked: { environment: "test", state: "revoked" },
    pinned: { environment: "live", secret: "SVC_live_PinnedPinnedPinned" },
  } as const;
  const server = await served({
    scenario: { version: 1, name, organizations: { bank: { type: "bank", keys } } },
  });
  const { sandbox } = server;
  const secrets = [
    ...(["active", "revoked", "pinned"] as const).map((ref) => sandbox.secret(ref)),
    "SVC_live_9f8e7d6c5b4a39281706f5e4d3c2b1a0",
    "legacysvc_test_0123456789abcdef",
  ];
  const port = Number(new URL(server.url).port);
  const send = (line: string, ...headers: string[]) =>
    converse(port, {
      chunks: [`${line} HTTP/1.1\r\nHost: x\r\n${headers.join("\r\n")}\r\n\r\n`],
      after: "listen",
    });
  for (const key of secrets) {
    const encoded = encodeURIComponent(key).replaceAll("_", "%255F");
    await send(`GET ${mePath}?key=${key}&b=${encoded}`, `x-api-key: ${key}`, `Authorization: Bearer ${key}`);
    await send(`GET ${mePath}`, `x-api-key: ${key}`, `Origin: https://${key}`);
    await send(`GET ${mePath}/${key}/${encoded}/<b>|x|@you\u009b31m\`c\`_e_`, `x-api-key: ${key}`);
    await send(`DELETE /${key}?${key}`, `x-api-key: ${key}`, `Authorization: Basic ${btoa(key)}`);
  }
  return { report: sandbox.report(), keys: secrets };
}

test.each(reportFormats)(
  "R46 a report as %s contains no key, no matter where the client put it",
  async (format) => {
    const { report, keys } = await hostileReport();
    expect(report.advice.length).toBeGreaterThan(4);
    expectSound(format, renderReport(report, format, { failures: ["Too | little."] }), keys);
  },
);

/** Responds with everything that could break out of a format, and with the key in every place there is. */
const hostile: Misbehave = (reply, { apiKey = "none" }) => {
  const nasty = `]]></failure> & "q" <b>|x|</b> \`c\` _e_ @you \u0000\u0007\u001b[31m\u202e\ud800 ${apiKey}`;
  const encoded = encodeURIComponent(encodeURIComponent(apiKey));
  const escaped = [...apiKey].map((one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`).join("");
  reply.headers["X-Request-Id"] = `id-${apiKey}`;
  reply.headers["X-Echo"] = [`${apiKey}`, encoded];
  reply.headers[`X-${apiKey.replaceAll("_", "-")}`] = "name";
  reply.headers["WWW-Authenticate"] = `ApiKey realm="${apiKey}"`;
  reply.bytes = JSON.stringify({
    error: { code: nasty, message: nasty, details: { [apiKey]: apiKey, rest: apiKey.slice(9) } },
    data: { organization: nasty, environment: nasty, scopes: [nasty], limits: { [nasty]: 1 } },
    [nasty]: nasty,
  }).replace('"code":"', `"code":"${escaped}`);
};
const hostileServers: readonly Misbehave[] = [
  hostile,
  (reply, presented) => {
    hostile(reply, presented);
    if (presented.number > 1) {
      Object.assign(reply, { status: 302, headers: { Location: `https://x.example/${presented.apiKey}` } });
    }
  },
  (reply, { apiKey }) => {
    reply.bytes = `{"oops: ${apiKey}`;
  },
];

test.each(["text", "json"] as const)(
  "R46 a comparison as %s contains no key, no matter how the server repeats it",
  async (format) => {
    for (const misbehave of hostileServers) {
      const { url } = await serveProbed(misbehave);
      const argv = ["compare", url, "--format", format, "--verbose"];
      const { code, stdout, stderr } = await runCli(argv, { env: probeKeys });
      expect([code, stderr]).toEqual([1, ""]);
      expectSound(format, stdout, Object.values(probeKeys));
    }
  },
);

test("the JSON of a report is the same as the control plane's, and can be read back, without control characters", async () => {
  const { report } = await hostileReport();
  const written = JSON.parse(renderReport(report, "json", { failures: ["A reason."] }));
  const { failures, conclusion, notes, ...plain } = written;
  expect({ failures, conclusion, notes }).toEqual({
    ...{ failures: ["A reason."], conclusion: expect.stringMatching(/^Coverage /), notes: [] },
  });
  expect(parseReport(plain)).toEqual({ ...report, scenario: oneSafeLine(report.scenario) });
  expect(plain.outcomes[0]).toEqual({
    ...{ outcome: "200.test", promised: true, covered: true, count: report.outcomes[0]?.count },
    ...{ when: "a valid test key", how_to_cover: null },
  });
});

/** A report as 1.0.0 writes it: a member that is newer is optional. */
const firstReport = JSON.parse(pageOf("test/golden/report.json"));

test("a report of the first version can be read, merged and rendered", () => {
  const report = parseReport(firstReport) as Report;
  expect(membersToSnakeCase(report)).toEqual(firstReport);
  expect(mergeReports([report, clean]).requests).toBe(firstReport.requests);
  for (const format of reportFormats) expect(renderReport(report, format)).toContain("401.revoked");
});

test("a report of any version needs every member of the first one; it may have others, and other names of outcomes and advice", () => {
  const teapot = { ...firstReport.outcomes[0], outcome: "418.teapot", more: 1 };
  expect(parseReport({ ...firstReport, failures: [], outcomes: [teapot] })).toMatchObject({
    failures: [],
    outcomes: [{ outcome: "418.teapot", more: 1 }],
  });
  const { runs: _runs, ...needed } = firstReport;
  const [path, advice] = [needed.outcomes[0], needed.advice[0]];
  const parts: readonly [object, (part: object) => object][] = [
    [needed, (part) => part],
    [needed.coverage, (coverage) => ({ ...needed, coverage })],
    [needed.faults, (faults) => ({ ...needed, faults })],
    [path, (part) => ({ ...needed, outcomes: [part] })],
    [advice, (part) => ({ ...needed, advice: [part] })],
    [advice.examples[0], (part) => ({ ...needed, advice: [{ ...advice, examples: [part] }] })],
  ];
  for (const [part, within] of parts) {
    expect(parseReport(within(part))).toBeDefined();
    for (const name of Object.keys(part)) {
      expect([name, parseReport(within({ ...part, [name]: undefined }))]).toEqual([name, undefined]);
    }
  }
});

test("anything else is not a report", () => {
  const broken = [{ scenario: "x" }, { ...clean, outcomes: [null] }, { ...clean, advice: [{ id: "x" }] }];
  // The coverage of another tool: more members than problems are listed.
  const otherTool = Object.fromEntries(Array.from({ length: 150 }, (_, file) => [`/src/${file}.ts`, {}]));
  for (const plain of [undefined, null, 7, "x", [], {}, otherTool, ...broken]) {
    expect(parseReport(plain)).toBeUndefined();
  }
});

test("the JSON of a comparison spells its members like the API, and contains everything", async () => {
  const { url } = await serveProbed((reply, { ref }) => {
    if (ref === "unknown") reply.status = 200;
  });
  const report = JSON.parse((await runCli(["compare", url, "--json"], { env: probeKeys })).stdout);
  expect(report).toMatchObject({
    ...{
      url: `${url}/v1/relying-party/me`,
      requests: 19,
      max_requests: 90,
      assumptions: { www_authenticate: { value: false, from: ["each 401"] } },
      unseen: { retry_after: "a 429 (--probe-limits)" },
      verdict: "differs",
    },
  });
  expect(report.outcomes.slice(2, 4)).toEqual([
    { outcome: "401.unknown", got: "200 unauthorized", result: "differs" },
    { outcome: "200.test", variable: "SVC_KEY_ACTIVE", got: "200", result: "agrees" },
  ]);
  expect(report.differences).toEqual([
    {
      rules: ["R11"],
      outcome: "401.unknown",
      at: "status",
      expected: "401",
      found: "200 unauthorized",
      seen: "3 of 3 times",
      message: "No valid key.",
    },
  ]);
});

test("each format shows that the client never called", () => {
  const summary = `The client never called the API. ${coverageText(0)}.`;
  const title = "0 requests to key-states (seed 1, profile minimal)";
  expect(renderReport(clean, "text")).toBe(`${title}\n\n${summary}\n`);
  const { notes } = JSON.parse(renderReport(clean, "json", { hint: "Look there." }));
  expect(notes).toContain("Look there.");
  expect(renderReport(clean, "markdown")).toBe(`# ${summary}\n\n${title}.\n`);
  const [skipped] = elementsOf(renderReport(clean, "junit")).filter(({ name }) => name === "skipped");
  expect(skipped?.attributes.message).toBe(summary);
});

test("the text lists every promised outcome, what else was covered, and the advice with its requests", async () => {
  const sandbox = createSandbox({ frozen: true });
  const get = (path: string, headers = {}) => sandbox.fetch(`https://any.example${path}`, { headers });
  for (let i = 0; i < 7; i++) await get("/v1/relying-party/me/");
  await get(mePath, { "x-api-key": sandbox.secret("legacy") });
  const text = renderReport(sandbox.report(), "text");
  expect(text).toMatch(/^ {2}200\.legacy +1 +a valid key/m);
  expect(text).toMatch(/^ {2}404\.unknown_path +7 {2}a path .*\(not promised\)/m);
  expect(text).not.toContain("405.method");
  expect(text).toMatch(/^ {2}401\.revoked +- +a revoked key: send sandbox\.secret\("revoked"\)$/m);
  expect(text).toMatch(/^ {2}warning {2}wrong-method-or-path {2}7 requests {2}R47/m);
  expect(text.match(/did you mean GET \/v1\/relying-party\/me\?/g)).toHaveLength(5);
  expect(text).toMatch(/^ +and 2 more$/m);
  expect(text.endsWith(`\n${coverageText(1)}. Advice: 1 warning; 1 note.\n`)).toBe(true);
});

test("a client that covers every promised outcome has no advice, and is pointed to what comes next", async () => {
  const { scopes } = createSandbox().assumptions;
  const organizations = { "harvest-bank": { keys: { active: { scopes } } } } as never;
  const scenario: Scenario = { version: 1, extends: "key-states", organizations };
  const sandbox = createSandbox({ scenario, frozen: true });
  const keyless: Readonly<Record<string, string>> = {
    none: "",
    malformed: "not-a-key",
    unknown: "SVC_test_sbxnobodyHoldsThis00000000000000",
  };
  for (const { promised, howToCover } of sandbox.report().outcomes) {
    if (!promised || howToCover === null) continue;
    const { ref, request } = howToCover;
    const key = keyless[ref] ?? sandbox.secret(ref as "active");
    const headers = { ...(key !== "" && { "x-api-key": key }) };
    await sandbox.fetch(`https://any.example${request.path}`, { method: request.method, headers });
  }
  const report = sandbox.report();
  const text = renderReport(report, "text");
  expect(text).toMatch(new RegExp(`\n${coverageText(promisedCount)}\\. No advice; \\d notes\\.\n$`));
  expect(text).toMatch(/^Every promised outcome is covered\.$/m);
  const cwd = temporaryFolder({ "full.json": renderReport(report, "json") });
  const { stdout } = await runCli(["report", "full.json"], { cwd });
  expect(stdout).toMatch(/^Every promised outcome is covered\. Next: svc-sandbox certify -- npm test$/m);
  expect(unmetThresholds(report, { minCoverage: 100, failOn: "warning" })).toEqual([]);
  sandbox.faults.set([{ then: { status: 503 } }]);
  await sandbox.fetch(`https://any.example${mePath}`);
  expect(sandbox.report().faults).toEqual({ covered: 1, total: faultKinds.length });
  expect(conclusion(sandbox.report())).toContain(`Faults: 1 of ${faultKinds.length} covered.`);
});

test("R46 annotations for GitHub are a line for each advice and threshold", async () => {
  const { report, keys } = await hostileReport();
  const text = githubAnnotations(report, [unmet("The coverage is 5%.")]);
  for (const key of keys) expect(text).not.toContain(key);
  const lines = text.trimEnd().split("\n");
  expect(lines).toHaveLength(report.advice.length + 1);
  expect(lines[0]).toMatch(/^::error title=svc-sandbox key-in-query::\d+ requests: /);
  expect(lines.at(-1)).toBe("::error title=svc-sandbox --min-coverage 90::The coverage is 5%25.");
});

/** The elements of a JUnit document, whose counts are held against its cases. */
function junitOf(xml: string) {
  const elements = elementsOf(xml);
  const named = (name: string) => elements.filter((one) => one.name === name);
  const [all] = named("testsuites");
  for (const { name, text } of elements) {
    if (!/^(?:failure|system-out)$/.test(name)) expect(text.trim()).toBe("");
  }
  expect(all?.attributes.failures).toBe(String(named("failure").length));
  // The schema that Jenkins checks with does not have it there.
  expect(all?.attributes).not.toHaveProperty("skipped");
  const skipped = named("testsuite").reduce((sum, { attributes }) => sum + Number(attributes.skipped), 0);
  expect(skipped).toBe(named("skipped").length);
  const suites = named("testsuite").map(({ attributes: { name, tests } }) => [name, tests]);
  return { named, suites: Object.fromEntries(suites) };
}

test("the JUnit of a report skips outcomes that are not covered, fails errors and unmet thresholds, and skips other advice", async () => {
  const { report } = await hostileReport();
  const { named, suites } = junitOf(renderReport(report, "junit", { failures: ["The coverage"] }));
  const promised = promisedCount;
  const count = (wanted: string) => report.advice.filter(({ level }) => level === wanted).length;
  // With a second endpoint, the endpoints are a suite as well.
  const endpoints = named("testsuite").find(({ attributes }) => attributes.name === "endpoints");
  expect(suites).toMatchObject({
    ...{ conclusion: "1", outcomes: String(promised), failures: "1", notes: String(count("note")) },
    advice: String(count("error") + count("warning")),
  });
  expect(named("failure")).toHaveLength(count("error") + 1);
  expect(named("skipped").length - Number(endpoints?.attributes.skipped ?? 0)).toBe(
    promised - report.coverage.covered + count("warning") + count("note"),
  );
  expect(named("testcase").map(({ attributes }) => attributes.name)).toEqual(
    expect.arrayContaining(["conclusion", "401.missing", "error key-in-query", "The coverage"]),
  );
  expect(junitOf(renderReport(clean, "junit")).suites).toEqual({ conclusion: "1" });
});

test("the page for scripts and agents names only members of a report", async () => {
  const { report } = await hostileReport();
  const known = wordsOfValue(JSON.parse(renderReport(report, "json")));
  const words = memberWordsIn(sectionOf("docs/report.md", "For scripts and agents").replaceAll("|", " "));
  expect(words.filter((word) => !known.includes(word) && word !== "exec")).toEqual([]);
});

test("the JUnit of a report names each column, and its message has the values", async () => {
  const sandbox = createSandbox({ scenario: "announced-endpoints" });
  await sandbox.fetch(`https://any.example${mePath}`);
  const { named } = junitOf(renderReport(sandbox.report(), "junit"));
  const texts = named("system-out").map(({ text }) => text);
  expect(texts).toContain("requests: 1\nwhen, and how to cover it: no x-api-key header");
  expect(texts).toContain(
    "coverage: not covered\nrequests: 1\noperation id: getRelyingPartyContext\nrelease: released",
  );
  expect(named("skipped").map(({ attributes }) => attributes.message)).toContain(
    "not covered, 1, getRelyingPartyContext, released",
  );
});

test("color is for terminals only", async () => {
  // A comparison shows when it was made.
  const withoutTime = (text: string) => text.replace(/ at [\d-]+T[\d:.]+Z/, "");
  const probed = await serveProbed();
  const server = await served({ frozen: true });
  await fetch(server.url + mePath, { headers: { "x-api-key": server.sandbox.secret("legacy") } });
  // biome-ignore lint/suspicious/noControlCharactersInRegex: color begins with it
  const color = /\u001b\[\d+m/g;
  // The first call loads the control plane: on a busy machine, that takes longer than the commands wait by themselves.
  const patient = ["--timeout", "1m"];
  for (const argv of [
    ["compare", probed.url, ...patient],
    ["report", server.url, ...patient],
  ]) {
    const plain = await runCli(argv);
    const colored = await runCli(argv, { terminal: true });
    expect(plain.stdout).not.toMatch(color);
    expect(colored.stdout).toMatch(color);
    expect(withoutTime(colored.stdout.replace(color, ""))).toBe(withoutTime(plain.stdout));
  }
});
