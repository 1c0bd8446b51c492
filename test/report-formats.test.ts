import { expect, onTestFinished, test } from "vitest";
import { createSandbox, outcomes, type Report } from "../src/index.js";
import { startServer } from "../src/node/index.js";
import { reportFormats } from "../src/report/render/document.js";
import { parseReport } from "../src/report/report.js";
import { renderReport } from "../src/report/report-document.js";
import { converse } from "./support/raw-socket.js";
import { mePath } from "./support/send.js";
import { elementsOf } from "./support/xml-elements.js";

const clean = createSandbox().report();

/** The report of a client that puts keys and nonsense wherever it can. */
async function hostileReport(): Promise<{ report: Report; keys: string[] }> {
  const name = '"<b>|x|</b> `c` @you ]]> &amp; _e_ \u001b[31m\u202e';
  const keys = {
    active: { environment: "test" },
    revoked: { environment: "test", state: "revoked" },
    pinned: { environment: "live", secret: "SVC_live_PinnedPinnedPinned" },
  } as const;
  const server = await startServer({
    scenario: { version: 1, name, organizations: { bank: { type: "bank", keys } } },
  });
  onTestFinished(() => server.close(0));
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

test.each(reportFormats)("R46 no key is in the format %s, wherever the client put it", async (format) => {
  const { report, keys } = await hostileReport();
  expect(report.advice.length).toBeGreaterThan(4);
  const text = renderReport(report, format, { failures: ["A reason."] });
  for (const key of keys) {
    expect(text).not.toContain(key);
    expect(text).not.toContain(key.slice("legacysvc_test_".length));
  }
  // What a client sent moves no cursor; JSON has escapes of its own.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
  if (format !== "json") expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
  expect(text.endsWith("\n")).toBe(true);
});

test("JSON is what the control plane answers, and can be read back", async () => {
  const { report } = await hostileReport();
  const { failures, ...plain } = JSON.parse(renderReport(report, "json", { failures: ["A reason."] }));
  expect(failures).toEqual(["A reason."]);
  expect(parseReport(plain)).toEqual(report);
  expect(plain.paths[0]).toEqual({
    path_id: "200.test",
    promised: true,
    met: true,
    count: report.paths[0]?.count,
    when: "a valid test key",
    how_to_meet: null,
  });
});

test.each([
  undefined,
  null,
  7,
  "x",
  [],
  {},
  { scenario: "x" },
  { ...clean, paths: [null] },
  { ...clean, advice: [{ id: "x" }] },
])("%j is no report", (plain) => {
  expect(parseReport(plain)).toBeUndefined();
});

test("the text says plainly that the client never called", () => {
  const text = renderReport(clean, "text");
  const said = "The client never called the API. Coverage 0 %: 0 of 17 promised paths met.";
  expect(text).toBe(`0 requests to key-states (seed 1, profile minimal)\n\n${said}\n`);
  expect(renderReport(clean, "markdown").split("\n")[0]).toBe(`# ${said}`);
});

test("JUnit says plainly that the client never called", () => {
  const elements = elementsOf(renderReport(clean, "junit"));
  const [skipped] = elements.filter(({ name }) => name === "skipped");
  expect(skipped?.attributes.message).toMatch("The client never called the API.");
});

test("the text lists every promised path, what else was met, and the advice with its requests", async () => {
  const sandbox = createSandbox({ frozen: true });
  const get = (path: string, headers = {}) => sandbox.fetch(`https://any.example${path}`, { headers });
  for (let i = 0; i < 7; i++) await get("/v1/relying-party/me/");
  await get(mePath, { "x-api-key": sandbox.secret("legacy") });
  const text = renderReport(sandbox.report(), "text");
  expect(text).toMatch(/^ {2}200\.legacy +1 {2}met +a valid key/m);
  expect(text).toMatch(/^ {2}404\.unknown_path +7 {2}not promised {2}a path/m);
  expect(text).not.toContain("405.method");
  expect(text).toMatch(/^ {2}401\.revoked +send SVC_KEY_REVOKED \(ref revoked\): curl /m);
  expect(text).toMatch(/^ {2}warning {2}wrong-method-or-path {2}7 requests {2}R47/m);
  expect(text.match(/did you mean GET \/v1\/relying-party\/me\?/g)).toHaveLength(5);
  expect(text).toMatch(/^ +and 2 more$/m);
  expect(text).toMatch(/\nCoverage 5 %: 1 of 17 promised paths met\. Advice: 1 warning, 1 note\.\n$/);
});

test("Markdown is tables whose rows have as many cells as their heads", async () => {
  const { report } = await hostileReport();
  const text = renderReport(report, "markdown", { failures: ["Too | little."] });
  const tables = text.split("\n\n").filter((block) => block.startsWith("|"));
  expect(tables).toHaveLength(3);
  for (const table of tables) {
    const widths = table
      .trim()
      .split("\n")
      .map((row) => row.split("|").length);
    expect(new Set(widths).size).toBe(1);
    expect(table.split("\n")[1]).toMatch(/^\|(?:---\|)+$/);
  }
  expect(text).not.toMatch(/<b>|`c`|@you|\]\]>/);
});

test("JUnit skips what was missed, fails errors and reasons, and has the rest as output", async () => {
  const { report } = await hostileReport();
  const elements = elementsOf(renderReport(report, "junit", { failures: ["The coverage is too low."] }));
  const named = (name: string) => elements.filter((one) => one.name === name);
  const promised = outcomes.filter(({ promised }) => promised).length;
  expect(named("testsuite").map(({ attributes: { name, tests } }) => [name, tests])).toEqual([
    ["client", "1"],
    ["paths", String(promised)],
    ["advice", "11"],
    ["thresholds", "1"],
  ]);
  const errors = report.advice.filter(({ level }) => level === "error");
  expect(named("failure")).toHaveLength(errors.length + 1);
  expect(named("skipped")).toHaveLength(promised - report.coverage.met);
  const [all] = named("testsuites");
  expect(all?.attributes.failures).toBe(String(named("failure").length));
  // The schema that Jenkins checks with does not have it there.
  expect(all?.attributes).not.toHaveProperty("skipped");
  const skipped = named("testsuite").reduce((sum, { attributes }) => sum + Number(attributes.skipped), 0);
  expect(skipped).toBe(named("skipped").length);
  expect(named("property")[0]?.attributes).toEqual({ name: "requests", value: String(report.requests) });
  const warnings = named("system-out").filter(({ text }) => text.startsWith("warning"));
  expect(warnings).toHaveLength(report.advice.filter(({ level }) => level === "warning").length);
  expect(elementsOf(renderReport(clean, "junit")).some(({ name }) => name === "failure")).toBe(false);
});
