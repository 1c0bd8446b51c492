import { closeSync, openSync, readFileSync } from "node:fs";
import { createServer, request as httpRequest } from "node:http";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { exchange } from "../support/exchange.js";
import { baseUrl, runCli, serve, startCli } from "../support/run-cli.js";
import { startBin } from "../support/running-command.js";
import { listening, served } from "../support/servers.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const portOf = (url: string) => new URL(url).port;

/** The first call loads the control plane: on a busy machine, that takes longer than a start waits for a name. */
const loadControl = async (url: string) => expect((await fetch(`${url}/__sandbox/health`)).status).toBe(200);

test("stop ends a process that serves, and its port is free then", async () => {
  const running = startBin(["revoked", "--port", "0", "--json"]);
  const { base_url: url } = JSON.parse(await running.until(/\n/));
  const stopped = await runCli(["stop", url]);
  expect(stopped).toEqual({
    code: 0,
    stdout: expect.stringMatching(/^Stopped http:\S+: revoked, since \d{4}-\S+Z\.\n$/),
    stderr: "",
  });
  await baseUrl(serve(["--port", portOf(url)]));
  expect((await running.ended).code).toBe(0);
});

test("start --detach serves on after it has returned with the JSON line, until stop ends it", async () => {
  const cwd = temporaryFolder();
  const token = { SVC_SANDBOX_CONTROL_TOKEN: "correct-horse" };
  const argv = ["revoked", "--detach", "--port", "0", "--host", "0.0.0.0"];
  const { code, stdout, stderr } = await startBin(argv, { cwd, env: token }).ended;
  const { event, base_url: url, scenario, keys } = JSON.parse(stdout);
  onTestFinished(async () => void (await runCli(["stop", url], { env: token })));
  expect([code, event, scenario]).toEqual([0, "listening", "revoked"]);
  expect(Object.values(keys)).toContainEqual(expect.stringMatching(/^SVC_test_sbx\w{29}$/));
  // What it notes at its start is not lost.
  expect(stderr).toMatch(/^Other machines cannot use the address/);
  await loadControl(url);
  const again = ["start", "--detach", "--port", portOf(url)];
  expect(await startBin(again, { cwd }).ended).toMatchObject({
    code: 2,
    stdout: "",
    stderr: expect.stringMatching(/^Port .* in use .*\. To stop it: \S*svc-sandbox stop http/),
  });
  expect(await runCli(["stop", url], { env: token })).toMatchObject({ code: 0 });
  expect(await runCli(["stop", url])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("ECONNREFUSED"),
  });
});

test("start --detach keeps its log in the file that stderr is", async () => {
  const cwd = temporaryFolder();
  const file = openSync(join(cwd, "log"), "w");
  const { stdout } = await startBin(["--detach", "--port", "0"], { cwd, stderr: file }).ended;
  closeSync(file);
  const { base_url: url } = JSON.parse(stdout);
  await fetch(`${url}/v1/relying-party/me`);
  expect(await runCli(["stop", url])).toMatchObject({ code: 0 });
  expect(readFileSync(join(cwd, "log"), "utf8")).toMatch(/ GET .* 401\.missing .*\nStopping: /s);
});

test("stop ends exec and its command", async () => {
  const code = "console.log(process.env.SVC_CONTROL_URL); setInterval(() => {}, 9999)";
  const running = startBin(["exec", "--", process.execPath, "-e", code]);
  const url = (await running.until(/\n/)).trim();
  expect((await runCli(["stop", url, "--json"])).stdout).toMatch(/^\{"event":"stopped",.*\}\n$/);
  expect((await running.ended).code).toBe(143);
});

test("stop sends the token, and accepts the self-signed certificate of this machine", async () => {
  const server = await served({ tls: true, controlToken: "correct-horse" });
  expect((await runCli(["stop", server.url])).code).toBe(2);
  const env = { SVC_CONTROL_URL: server.controlUrl as string, SVC_SANDBOX_CONTROL_TOKEN: "correct-horse" };
  expect(await runCli(["stop", "--quiet"], { env })).toEqual({ code: 0, stdout: "", stderr: "" });
});

test("stop of another program, or of nothing ends with 2", async () => {
  const server = await served();
  const other = createServer((_request, response) => response.end("hello"));
  const url = `http://127.0.0.1:${await listening(other)}`;
  for (const one of [url, "http://127.0.0.1:9", "x"]) {
    const stderr = expect.stringMatching(/^(Failed to|Invalid) /);
    expect(await runCli(["stop", one])).toEqual({ code: 2, stdout: "", stderr });
  }
  expect((await fetch(`${server.controlUrl}/health`)).status).toBe(200);
});

const evil = `x\n::error::forged\r\u001B[2J${"x".repeat(10_000)}`;
const deep = `${"[".repeat(30_000)}${"]".repeat(30_000)}`;

test.each([
  [
    "texts with control characters",
    JSON.stringify({ status: "ok", version: "1.0.0", scenario: evil, started_at: evil }),
  ],
  ["an error message", JSON.stringify({ error: { code: "expectation_failed", message: evil } })],
  ["other types", JSON.stringify({ status: "ok", version: [], data: { scenario: 1, started_at: [evil] } })],
  ["deeply nested JSON", `{"status":"ok","version":${deep},"data":${deep},"error":${deep}}`],
  [
    "a scenario that breaks lines",
    JSON.stringify({
      ...{ status: "ok", version: "1.0.0", scenario: evil, started_at: "2026-01-01T00:00:00Z" },
      data: { scenario: evil, started_at: "2026-01-01T00:00:00Z" },
    }),
  ],
])("another program on the port cannot write into the output of a command, with %s", async (_what, body) => {
  const other = createServer((request, response) => {
    // It stops as it is asked to.
    response.writeHead(request.method === "GET" && stopped ? 404 : 200).end(body);
    if (request.method === "POST") stopped = true;
  });
  let stopped = false;
  const port = await listening(other);
  const url = `http://127.0.0.1:${port}`;
  for (const argv of [
    ["start", "--port", `${port}`],
    ["report", url],
    ["stop", url],
  ]) {
    const { code, stdout, stderr } = await runCli(argv);
    expect([argv, code]).toEqual([argv, expect.toBeOneOf([0, 2])]);
    expect(stdout + stderr).not.toMatch(/^::|(?!\n)\p{Cc}|x{1000}/mu);
  }
});

test("a port that a svc-sandbox uses gets a message with its scenario, its start, and how to stop it", async () => {
  const cwd = temporaryFolder();
  for (const [argv, said] of [
    [
      [],
      /in use by svc-sandbox \S+, with the scenario rotation since \d{4}-\S+Z\. Choose .* To stop it: (svc-sandbox .*)$/m,
    ],
    [
      ["--host", "0.0.0.0"],
      /in use by svc-sandbox \S+\. Choose .* To stop it: (svc-sandbox stop .*) --control-token <token>$/m,
    ],
  ] as const) {
    const running = serve(["rotation", ...argv], { cwd });
    const url = await baseUrl(running);
    await loadControl(url);
    const { code, stderr } = await runCli(["--port", portOf(url), ...argv], { cwd });
    expect([code, stderr]).toEqual([2, expect.stringMatching(said)]);
    expect(said.exec(stderr)?.[1]).toBe(`svc-sandbox stop ${url}`);
    await running.stop();
  }
  const server = await served({ tls: true });
  await exchange(`${server.controlUrl}/health`, { ca: server.certificate });
  const { stderr } = await startCli(["--port", portOf(server.url)], { cwd }).done;
  expect(stderr).toContain(`svc-sandbox stop ${server.url}\n`);
});

test("stop behind a proxy returns once the proxy has nothing behind it", async () => {
  const server = await served();
  const proxy = createServer((request, response) => {
    const { method, headers } = request;
    const forwarded = httpRequest(server.url + request.url, { method, headers }, (answer) => {
      response.writeHead(answer.statusCode as number, answer.headers);
      answer.pipe(response);
    });
    forwarded.on("error", () => response.writeHead(502).end());
    request.pipe(forwarded);
  });
  const url = `http://127.0.0.1:${await listening(proxy)}`;
  expect(await runCli(["stop", url, "--timeout", "5m"])).toMatchObject({ code: 0 });
});

test("stop waits with a --timeout that is longer than a timer", async () => {
  const { url } = await served({});
  expect((await runCli(["stop", url, "--timeout", "50d"])).code).toBe(0);
});
