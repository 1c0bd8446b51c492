import { execFileSync } from "node:child_process";
import { createServer } from "node:http";
import { join } from "node:path";
import { Readable } from "node:stream";
import { expect, it, test } from "vitest";
import { formats, reportFormats } from "../../src/report/render/layout.js";
import { renderReport } from "../../src/report/report-layout.js";
import { parseReport } from "../../src/report/report-shape.js";
import type { startServer } from "../../src/server/index.js";
import { serveControl } from "../control/client.js";
import { coverage } from "../support/coverage.js";
import { requested } from "../support/requested.js";
import { runCli } from "../support/run-cli.js";
import { mePath } from "../support/send.js";
import { listening, served } from "../support/servers.js";
import { temporaryFolder } from "../support/temporary-folder.js";

/** Calls the API with the key of a ref. */
async function call(url: string, secret: string | undefined, query = ""): Promise<void> {
  await fetch(url + mePath + query, { headers: secret === undefined ? {} : { "x-api-key": secret } });
}

const serve = (options: Parameters<typeof startServer>[0] = {}) => served({ frozen: true, ...options });

/** A server that responds to everything with the same. */
async function serveResponse(status: number, body: string | Iterable<string>): Promise<string> {
  const server = createServer((_request, response) => {
    Readable.from(typeof body === "string" ? [body] : body).pipe(response.writeHead(status));
  });
  return `http://127.0.0.1:${await listening(server)}`;
}

function* endless() {
  for (;;) yield "x".repeat(100_000);
}

test.each(reportFormats)("GET /report?format=%s returns the report with its media type", async (format) => {
  const { server, ask } = await serveControl();
  for (const query of ["", "?page=2"]) await call(server.url, server.sandbox.secret("revoked"), query);
  const { headers, text, body } = await ask(`/report?format=${format}`);
  expect(headers["content-type"]).toMatch(formats[format].mediaType);
  if (format === "json") expect(parseReport(body.data)).toEqual(server.sandbox.report());
  else expect(text).toBe(renderReport(server.sandbox.report(), format));
});

test("report accepts the base URL, the control URL, and SVC_CONTROL_URL", async () => {
  const server = await serve();
  await call(server.url, server.sandbox.secret("active"));
  const expected = { code: 0, stdout: renderReport(server.sandbox.report(), "text"), stderr: "" };
  for (const url of [server.url, `${server.url}/`, `${server.controlUrl}`, `${server.controlUrl}/report`]) {
    expect(await runCli(["report", url])).toEqual(expected);
  }
  expect(await runCli(["report"], { env: { SVC_CONTROL_URL: String(server.controlUrl) } })).toEqual(expected);
});

test("report exits with 5 and the reason when it misses a threshold", async () => {
  const server = await serve();
  await fetch(`${server.url}${mePath}?key=${server.sandbox.secret("active")}`);
  const run = (...flags: string[]) => runCli(["report", server.url, ...flags]);
  await call(server.url, server.sandbox.secret("active"));
  const { percent } = coverage(1);
  expect((await run("--min-coverage", String(percent))).code).toBe(0);
  const low = await run("--min-coverage", String(percent + 1));
  expect([low.code, low.stdout]).toEqual([
    5,
    expect.stringContaining(`\nThe coverage is ${percent}%, below the required ${percent + 1}%`),
  ]);
  const strict = await run("--fail-on", "error", "--format", "json");
  expect([strict.code, JSON.parse(strict.stdout).failures]).toEqual([
    5,
    ["--fail-on error does not allow advice of level error: key-in-query."],
  ]);
});

test.each([
  ["legacy", { note: 5, warning: 0, error: 0 }],
  ["?legacy", { note: 5, warning: 5, error: 5 }],
  ["/legacy", { note: 5, warning: 5, error: 0 }],
])("--fail-on of each level after the request %s exits with %o", async (request, expected) => {
  const server = await serve();
  const legacy = server.sandbox.secret("legacy");
  const path = request.startsWith("/") ? `${mePath}/` : mePath;
  const query = request.startsWith("?") ? `?key=${legacy}` : "";
  await fetch(server.url + path + query, { headers: { "x-api-key": legacy } });
  const codes: Record<string, number> = {};
  for (const level of Object.keys(expected)) {
    const { code, stdout } = await runCli(["report", server.url, "--fail-on", level, "--format", "json"]);
    codes[level] = code;
    expect(JSON.parse(stdout).failures).toHaveLength(code === 0 ? 0 : 1);
  }
  expect(codes).toEqual(expected);
});

test("the report shows how many delayed responses the client did not wait for", async () => {
  const { sandbox, url } = await serve({ scenario: "key-states" });
  sandbox.faults.set([
    { when: { requests: [1] }, then: { latency: "1h" } },
    { when: { requests: [2] }, then: { hang: true } },
  ]);
  for (const requests of [1, 2]) {
    const leave = new AbortController();
    const asked = fetch(url + mePath, { signal: leave.signal }).catch(() => {});
    await requested(sandbox, requests);
    leave.abort();
    await asked;
  }
  await call(url, undefined);
  await expect.poll(() => sandbox.report()).toMatchObject({ requests: 3, unread: 1 });
  const unreadBy = sandbox.requests.list().map(({ fault, unread }) => [fault ?? "none", unread]);
  expect(Object.fromEntries(unreadBy)).toEqual({ "fault.latency": true });
  expect(renderReport(sandbox.report(), "text").replace(/\s+/g, " ")).toContain(
    "before 1 delayed response arrived",
  );
});

test("report --merge makes one report of several runs", async () => {
  const [first, second] = [await serve(), await serve({ scenario: "bad-day" })];
  for (let i = 0; i < 4; i++) await call(first.url, first.sandbox.secret("active"), "?page=2");
  await call(second.url, undefined, "?page=2");
  const report = async (url: string, flag: string) => (await runCli(["report", url, flag])).stdout;
  const cwd = temporaryFolder({
    "a.json": await report(first.url, "--json"),
    "b.json": JSON.stringify({ data: JSON.parse(await report(second.url, "--json")) }),
    "text.json": await report(first.url, "--verbose"),
  });
  const { code, stdout } = await runCli(["report", "--merge", "a.json", "b.json", "--json"], { cwd });
  const merged = JSON.parse(stdout);
  const [a, b] = [first.sandbox.report(), second.sandbox.report()];
  expect([code, merged.requests, merged.coverage.covered]).toEqual([
    0,
    a.requests + b.requests,
    a.coverage.covered + b.coverage.covered,
  ]);
  expect(merged.runs).toEqual([
    { scenario: "key-states", seed: 1, profile: "minimal", pinned: [] },
    { scenario: "bad-day", seed: 1, profile: b.profile, pinned: [] },
  ]);
  expect(merged.advice).toEqual([expect.objectContaining({ id: "query-or-body-sent", count: 5 })]);
  expect(merged.advice[0].examples).toHaveLength(5);
  const gated = ["report", "--merge", "a.json", "b.json", "--min-coverage", "90"];
  expect((await runCli(gated, { cwd })).code).toBe(5);
  for (const argv of [["--merge"], ["--merge", "none.json"], ["--merge", "text.json"], ["a.json", "b"]]) {
    expect([argv, (await runCli(["report", ...argv], { cwd })).code]).toEqual([argv, 2]);
  }
});

test("report reads any existing file, and names one that is not a report", async () => {
  const { url } = await served({ scenario: "key-states" });
  const report = (await runCli(["report", url, "--json"])).stdout;
  const cwd = temporaryFolder({ "keep.txt": "text", report });
  const { code, stderr } = await runCli(["report", "keep.txt"], { cwd });
  expect([code, stderr]).toEqual([2, expect.stringContaining('"keep.txt" is not a JSON report')]);
  expect((await runCli(["report", "report"], { cwd })).code).toBe(0);
});

test("report sends a token if one is needed", async () => {
  const server = await serve({ controlToken: "let-me-in-please" });
  expect((await runCli(["report", server.url, "--control-token", "let-me-in-please"])).code).toBe(0);
});

test("report exits with 2, and shows what to do, if it can get no report, or an endless one", async () => {
  const without = await serve({ control: false });
  const cases = [
    ["http://127.0.0.1:1", /connect ECONNREFUSED .* `svc-sandbox start`/],
    [without.url, /there is no control plane at this URL/],
    [await serveResponse(200, '{"data":{"scenario":1}}'), /it returned 200, unlike a sandbox/],
    [await serveResponse(502, "<h1>Bad gateway</h1>"), /it returned 502/],
    [await serveResponse(200, endless()), /a body of more than 16384 kB/],
    ["not a url", /Invalid sandbox URL/],
    ["http://user:secret@127.0.0.1", /Invalid sandbox URL/],
  ] as const;
  for (const [url, message] of cases) {
    const { code, stdout, stderr } = await runCli(["report", url]);
    expect([url, code, stdout, stderr]).toEqual([url, 2, "", expect.stringMatching(message)]);
    expect(stderr).not.toMatch(/secret|\n\s+at /);
  }
});

it.runIf(process.platform !== "win32")("report never waits for the writer of a pipe", async () => {
  const cwd = temporaryFolder();
  execFileSync("mkfifo", [join(cwd, "pipe")]);
  for (const argv of [["pipe"], ["--merge", "pipe"]]) {
    const { code, stderr } = await runCli(["report", ...argv], { cwd });
    expect([code, stderr]).toEqual([2, expect.stringContaining('"pipe": it is not a regular file.')]);
  }
});

test.each(["none.json", "none.txt", "none.XML"])("report names %s, which does not exist", async (name) => {
  const { code, stderr } = await runCli(["report", name], { cwd: temporaryFolder() });
  expect([code, stderr]).toEqual([2, expect.stringContaining(`"${name}": ENOENT`)]);
});
