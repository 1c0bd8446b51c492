import { once } from "node:events";
import { mkdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { connect, createServer } from "node:net";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { parseEnv } from "node:util";
import { describe, expect, it } from "vitest";
import { acceptedWrites, type Write } from "../control/writes.js";
import { freePort } from "../support/free-port.js";
import { baseUrl, runCli, serve } from "../support/run-cli.js";
import { listening } from "../support/servers.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const me = "/v1/relying-party/me";

const tiny = `version: 1
organizations:
  a-bank: { name: A Bank, type: bank, keys: { only: { environment: test, name: One } } }
`;

/** Serves until the test is over; responds once it listens. */
async function started(...argv: string[]) {
  const running = serve(argv);
  return { ...running, url: await baseUrl(running) };
}

describe("svc-sandbox start", () => {
  it("prints addresses, scenario, keys and what each one gets, and a curl line that works when it is pasted", async () => {
    const { url, stdout } = await started("key-states");
    const text = stdout.text();
    expect(text).toMatch(new RegExp(`^svc-sandbox is listening on ${url}\n`));
    expect(text).toContain(`  Control    ${url}/__sandbox\n  Dashboard  ${url}/__sandbox/\n`);
    expect(text).toContain("  Scenario  key-states, seed 1\n");
    expect(text).toMatch(/ {2}Clock {5}2026-03-02T09:00:0\S+Z, running\n/);
    expect(text).toContain("  Profile   minimal\n");
    expect(text).toMatch(/\n {2}revoked {2,}SVC_test_sbx\w{29} {2,}401 unauthorized {2,}401\.revoked\n/);
    expect(text).toMatch(/\n {2}active {2,}SVC_test_sbx\w{29} {2,}200 {2,}200\.test\n/);
    expect(text).toMatch(/\n {2}malformed {2,}\S+ {2,}401 unauthorized {2,}401\.malformed\n/);
    expect(text).toMatch(/\n {2}unknown {2,}SVC_test_sbx\w{29} {2,}401 unauthorized {2,}401\.unknown\n/);
    const [, key = "", address = ""] = /\n {2}curl -i -H "x-api-key: (\S+)" (\S+)\n/.exec(text) ?? [];
    expect((await fetch(address, { headers: { "x-api-key": key } })).status).toBe(200);
  });

  it("prints one line of JSON, and nothing else, with --json", async () => {
    const { url, stop } = await started("rate-limited", "--json", "--seed", "7");
    const { stdout, code } = await stop();
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^[^\n]+\n$/)]);
    const { keys, ...line } = JSON.parse(stdout);
    const sandbox = { scenario: "rate-limited", seed: 7 };
    expect(line).toEqual({ event: "listening", base_url: url, control_url: `${url}/__sandbox`, ...sandbox });
    for (const secret of Object.values(keys)) expect(secret).toMatch(/^SVC_(?:test|live)_sbx\w{29}$/);
  });

  it("prints the chosen port with --json, also with a public URL", async () => {
    const argv = ["--json", "--port", "0", "--public-url", "https://box.example"];
    const [line] = await serve(argv).stdout.shows(/^.*\n/);
    const { base_url, local_url } = JSON.parse(line);
    expect([base_url, (await fetch(local_url + me)).status]).toEqual(["https://box.example", 401]);
  });

  it("prints only the base URL with --quiet, and logs nothing", async () => {
    const { url, stop } = await started("--quiet");
    await fetch(url + me);
    expect(await stop()).toEqual({ code: 0, stdout: `${url}\n`, stderr: "" });
  });

  it.each(["pretty", "json"])(
    "logs each accepted change and each rejected token with --log %s, and no token",
    async (log) => {
      const { url, stop } = await started("key-states", "--log", log, "--control-token", "open-sesame");
      const call = async (route: string, body?: object, bearer = "open-sesame") => {
        const [method = "", path] = route.split(" ");
        await fetch(`${url}/__sandbox${path}`, {
          ...{ method, headers: { "content-type": "application/json", authorization: `Bearer ${bearer}` } },
          ...(body !== undefined && { body: JSON.stringify(body) }),
        });
      };
      await call("POST /keys/active/revoke", {});
      await call("POST /keys/nobody/revoke", {});
      await call("GET /keys");
      await call("GET /keys", undefined, "wrong");
      await call("POST /reset", {}, "wrong");
      // Without a token, nobody has tried one.
      expect((await fetch(`${url}/__sandbox/keys`)).status).toBe(401);
      const { stderr } = await stop();
      const entries = stderr.split("\n").flatMap((line) => {
        if (log !== "json") return /^[A-Z]+ \/__sandbox.*$/.exec(line) ?? [];
        if (!line.includes('"control"')) return [];
        const { call: shown, result } = JSON.parse(line);
        return `${shown}  ${result}`;
      });
      expect(entries).toEqual([
        "POST /__sandbox/keys/active/revoke  200",
        "POST /__sandbox/keys/nobody/revoke  404 not_found",
        "GET /__sandbox/keys  401 control_token_required",
        "POST /__sandbox/reset  401 control_token_required",
      ]);
      for (const secret of ["open-sesame", "wrong"]) expect(stderr).not.toContain(secret);
    },
  );

  it("logs each write with its result, also one that cannot be saved, and no JSON inside a message", async () => {
    const cwd = temporaryFolder({ "volume/.keep": "" });
    const running = serve(["--log", "json", "--json", "--state", "volume/state.json"], { cwd });
    const url = await baseUrl(running);
    const send = async ({ method, path, json, bytes, headers }: Omit<Write, "described">) => {
      const body = json === undefined ? bytes : JSON.stringify(json);
      const typed = { "content-type": "application/json", ...headers } as Record<string, string>;
      const init = { method, headers: typed, ...(body !== undefined && { body: body as string }) };
      return (await fetch(`${url}/__sandbox${path}`, init)).status;
    };
    const sent = acceptedWrites.filter(({ path }) => path !== "/stop");
    const statuses: number[] = [];
    for (const write of sent) statuses.push(await send(write));
    rmSync(join(cwd, "volume"), { recursive: true });
    expect(await send({ method: "POST", path: "/reset", json: {} })).toBe(507);
    mkdirSync(join(cwd, "volume"));
    const { code, stderr } = await running.stop();
    expect(code).toBe(0);
    const lines = stderr
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    const problems = lines.flatMap(({ event, message }) => (event === "problem" ? [message] : []));
    expect(problems).toEqual([expect.stringMatching(/^Failed to write the state to .*\.$/)]);
    const calls = lines
      .filter(({ event }) => event === "control")
      .map(({ call, result }) => `${result.slice(0, 3)} ${call}`);
    expect(calls).toEqual([
      ...sent.map(({ method, path }, index) => `${statuses[index]} ${method} /__sandbox${path}`),
      "507 POST /__sandbox/reset",
    ]);
  });

  it("draws a seed with --seed random, prints it, and keeps it with --state", async () => {
    const cwd = temporaryFolder();
    const lineOf = async (...argv: string[]) => {
      const running = serve(["--seed", "random", "--json", ...argv], { cwd });
      await baseUrl(running);
      return JSON.parse((await running.stop()).stdout);
    };
    const [one, other, kept] = [await lineOf(), await lineOf(), await lineOf("--state", "state.json")];
    expect(new Set([one, other, kept].map(({ seed }) => seed)).size).toBe(3);
    expect(new Set([one, other, kept].map(({ keys }) => keys.active)).size).toBe(3);
    expect(await lineOf("--state", "state.json")).toMatchObject({ seed: kept.seed, keys: kept.keys });
    const again = serve(["--seed", `${one.seed}`, "--json"], { cwd });
    await baseUrl(again);
    expect(JSON.parse((await again.stop()).stdout).keys).toEqual(one.keys);
    const shown = serve(["--seed", "random"], { cwd });
    await shown.stdout.shows(/ {2}Scenario {2}key-states, seed \d+\n/);
  });

  it("--until-stdin-ends prints the JSON line, serves until its input ends, and exits with 0", async () => {
    const pipes = { stdin: new PassThrough(), stdout: new PassThrough() };
    const running = serve(["--until-stdin-ends"], { pipes });
    const { base_url: url } = JSON.parse((await running.stdout.shows(/^\{.*\n/))[0]);
    expect((await fetch(url + me)).status).toBe(401);
    pipes.stdin.end();
    const { code, stderr } = await running.done;
    expect([code, stderr]).toEqual([0, expect.stringMatching(/^Stopping: stdin ended\.$/m)]);
  });

  it("serves no control plane with --no-control", async () => {
    const { url, stdout } = await started("--no-control", "--json");
    expect(JSON.parse(stdout.text()).control_url).toBeNull();
    expect((await fetch(`${url}/__sandbox/health`)).status).toBe(404);
  });

  it("requires the given control token, and does not print it", async () => {
    const { url, stdout } = await started("--control-token", "a-token-of-mine");
    const state = async (headers = {}) => (await fetch(`${url}/__sandbox/state`, { headers })).status;
    expect(await state()).toBe(401);
    expect(await state({ authorization: "Bearer a-token-of-mine" })).toBe(200);
    expect(stdout.text()).not.toContain("a-token-of-mine");
  });

  it("prints the token that it made for an address that others can reach", async () => {
    const output = async (...argv: string[]) => {
      const { stdout, stderr } = await started("--host", "0.0.0.0", ...argv);
      return [stdout.text(), stderr.text()] as const;
    };
    expect((await output())[0]).toMatch(/\n {2}Token {6}[\w-]{32} /);
    expect(JSON.parse((await output("--json"))[0]).control_token).toMatch(/^[\w-]{32}$/);
    expect((await output("--quiet"))[1]).toMatch(/^Control token: [\w-]{32}\n$/);
  });

  it("prints its addresses and the curl line last, in the 24 rows of a small window", async () => {
    const running = serve(["--port", "0"], { cwd: temporaryFolder() });
    const [text] = await running.stdout.shows(/^svc-sandbox is listening on http[\s\S]*Try it[\s\S]*\n\n/);
    const rows = text.split("\n").slice(-24).join("\n");
    for (const shown of ["  Base URL   http", "  Dashboard  http", "  curl -i "]) {
      expect(rows).toContain(shown);
    }
  });

  it("prints and writes the public URL, and shows who can reach a control plane without a token", async () => {
    const cwd = temporaryFolder();
    const argv = ["--public-url", "https://box.example", "--allow-host", "a.example,b.example"];
    const running = serve([...argv, "--allow-host", "c.example:81", "--write-env", "e"], { cwd });
    const [text] = await running.stdout.shows(
      /^svc-sandbox is listening on http:\/\/127[\s\S]*Try it[\s\S]*\n\n/,
    );
    expect(text).toContain("  Base URL   https://box.example\n  Control    https://box.example/__sandbox\n");
    expect(text).toContain("https://box.example/v1/relying-party/me");
    await running.stderr.shows(/who reaches box\.example, a\.example, b\.example or c\.example:81 can/);
    const file = readFileSync(join(cwd, "e"), "utf8");
    expect(file).toMatch(
      /^SVC_BASE_URL=https:\/\/box\.example\nSVC_CONTROL_URL=https:\/\/box\.example\/__sandbox\n/m,
    );
    const open = await started("--host", "0.0.0.0");
    await open.stderr.shows(/Other machines cannot use the address .*--public-url/);
  });

  it("gives a curl line that a shell understands for an IPv6 address", async () => {
    const line = /\n {2}curl -i -H "x-api-key: \S+" -g 'http:\/\/\[::1\]:\d+\/v1\/relying-party\/me'\n/;
    await serve(["--host", "::1"]).stdout.shows(line);
  });

  it("names the outcome of each response only with --explain", async () => {
    const path = async (...argv: string[]) =>
      (await fetch((await started(...argv)).url + me)).headers.get("x-sandbox-outcome");
    expect([await path("--explain"), await path()]).toEqual(["401.missing", null]);
  });

  it("starts the clock at --now, freezes it with --frozen, and names changed assumptions", async () => {
    const file = `${tiny}assumptions: { rate_limit_code: slow_down, me_scope: null }\n`;
    const argv = ["a.yaml", "--now", "2027-01-01T00:00:00+01:00", "--frozen"];
    const running = serve(argv, { cwd: temporaryFolder({ "a.yaml": file }) });
    await baseUrl(running);
    expect(running.stdout.text()).toContain("  Clock     2026-12-31T23:00:00.000Z, frozen\n");
    const assumed = '  Profile   minimal, rate_limit_code: "slow_down", me_scope: null\n';
    expect(running.stdout.text()).toContain(assumed);
  });

  it("finishes an open request when it is stopped, accepts no new one, and exits with 0", async () => {
    const faults = "faults: [{ when: { outcome: 401.missing, requests: [1] }, then: { latency: 1s } }]\n";
    const { url, stop } = await started(join(temporaryFolder({ "a.yaml": tiny + faults }), "a.yaml"));
    const socket = connect(Number(new URL(url).port), "127.0.0.1");
    socket.write(`GET ${me} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`);
    // A response on another connection shows that the request before it has arrived.
    await fetch(url + me);
    const stopped = stop();
    await expect(fetch(url + me)).rejects.toThrow();
    const [response] = await once(socket, "data");
    expect(String(response)).toMatch(/^HTTP\/1\.1 401 /);
    const { code, stderr } = await stopped;
    expect([code, stderr]).toEqual([0, expect.stringContaining("Stopping: open requests have 2 seconds")]);
  });

  it("shows which port is in use, and how to choose another", async () => {
    const port = await listening(createServer((socket) => socket.destroy()));
    const stderr = expect.stringMatching(
      new RegExp(`^Port ${port} on .* in use by another program\\..*--port 0\\.\n$`),
    );
    const ran = await runCli(["--port", String(port)], { cwd: temporaryFolder() });
    expect(ran).toEqual({ code: 2, stdout: "", stderr });
  });
});

describe("the request log", () => {
  it("has one aligned line for each request, on stderr", async () => {
    const { url, stderr } = await started("--frozen");
    await fetch(url + me);
    await fetch(`${url}/v2`, { method: "POST" });
    const [line] = await stderr.shows(/.*401\.missing.*\n.*404\.unknown_path.*\n/);
    const [first = "", second = ""] = line.split("\n");
    expect(first).toMatch(
      /^2026-03-02T09:00:00Z {2}GET {3}\/v1\/relying-party\/me {2}401 unauthorized +401\.missing +\d+\.\d ms {2}-$/,
    );
    expect(second.indexOf("404.unknown_path")).toBe(first.indexOf("401.missing"));
  });

  it("R46 names the key by its ref, or by its fingerprint, and never shows it", async () => {
    const { url, stdout, stderr } = await started("--json");
    const { revoked } = JSON.parse(stdout.text()).keys;
    const real = "SVC_live_of-somebody-else";
    await fetch(url + me, { headers: { "x-api-key": revoked } });
    await fetch(`${url}/${revoked}?key=${revoked}`, { headers: { "x-api-key": real } });
    await stderr.shows(/ms {2}revoked\n.*ms {2}[0-9a-f]{12} {2}.*key-in-query/);
    expect(stderr.text()).not.toMatch(new RegExp(`${revoked}|of-somebody-else`));
  });

  it("adds the request id with --verbose, and is silent with --log off", async () => {
    const { url, stderr } = await started("--verbose");
    await fetch(url + me);
    await stderr.shows(/401\.missing.* req_[0-9a-f]{24}\n/);
    const off = await started("--log", "off");
    await fetch(off.url + me);
    const headers = { "content-type": "application/json" };
    await fetch(`${off.url}/__sandbox/keys/active/revoke`, { method: "POST", headers, body: "{}" });
    expect((await off.stop()).stderr).toBe("");
  });

  it("has no key and no token with --log json, and none with --json when the variable hides them", async () => {
    const key = /SVC_(?:test|live)_\w{8}/;
    const open = await started("--host", "0.0.0.0");
    expect((await open.stop()).stdout).toMatch(key);
    const hidden = await started("--host", "0.0.0.0", "--log", "json");
    const { stdout, stderr } = await hidden.stop();
    expect(stdout).toContain("SVC_test_…");
    expect(stdout + stderr).not.toMatch(/SVC_(?:test|live)_\w|#token=/);
    expect(stderr).toContain("Set one with --control-token, or add --show-keys");
    const shown = await started("--log", "json", "--show-keys");
    expect((await shown.stop()).stdout).toMatch(key);
    const lineWith = async (...more: string[]) => {
      const running = serve(["--host", "0.0.0.0", "--json", "--log", "json", ...more]);
      await baseUrl(running);
      return JSON.parse((await running.stop()).stdout);
    };
    const [masked, whole] = [await lineWith(), await lineWith("--show-keys")];
    expect([masked.keys.active, masked.control_token]).toEqual(["SVC_test_…", undefined]);
    expect([whole.keys.active, whole.control_token]).toEqual([
      expect.stringMatching(key),
      expect.any(String),
    ]);
    const asked = serve(["--host", "0.0.0.0", "--json"], { env: { SVC_SANDBOX_SHOW_KEYS: "0" } });
    await baseUrl(asked);
    const line = JSON.parse((await asked.stop()).stdout);
    expect([line.keys.active, line.control_token]).toEqual(["SVC_test_…", undefined]);
  });

  it("is one JSON object per line with --log json", async () => {
    const { url, stop } = await started("--log", "json", "--frozen");
    await fetch(url + me);
    const lines = (await stop()).stderr.trimEnd().split("\n");
    const [request, note] = lines.map((line) => JSON.parse(line));
    expect(Math.abs(Date.parse(request.time) - Date.now())).toBeLessThan(600_000);
    expect(request).toEqual({
      ...{
        ...{ level: "info", time: expect.stringMatching(/Z$/), event: "request" },
        id: expect.stringMatching(/^req_/),
      },
      ...{ at: "2026-03-02T09:00:00.000Z", method: "GET", path: me, key: null, fingerprint: null },
      ...{ status: 401, code: "unauthorized", fault: null, outcome: "401.missing", advice: [] },
      duration_ms: expect.any(Number),
      source: "client",
    });
    expect(note).toMatchObject({ level: "info", event: "note", message: expect.stringMatching(/^Stopping/) });
  });
});

describe("--write-env", () => {
  it("writes the environment for clients, readable only for its owner", async () => {
    const cwd = temporaryFolder({ "tiny.yaml": tiny });
    const running = serve(["tiny.yaml", "--write-env", ".env.sandbox"], { cwd });
    const url = await baseUrl(running);
    const file = join(cwd, ".env.sandbox");
    const [, secret] = /only +(SVC_test_\w+)/.exec(running.stdout.text()) ?? [];
    expect(readFileSync(file, "utf8").split("\n")).toEqual([
      "# svc-sandbox sets the lines from here",
      `SVC_BASE_URL=${url}`,
      `SVC_CONTROL_URL=${url}/__sandbox`,
      `SVC_API_KEY=${secret}`,
      `SVC_KEY_ONLY=${secret}`,
      expect.stringMatching(/^SVC_KEY_UNKNOWN=SVC_test_sbx\w+$/),
      "SVC_KEY_MALFORMED=not-an-api-key",
      "# to here.",
      "",
    ]);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it("writes the control token if one is required, given or drawn", async () => {
    const cwd = temporaryFolder({ "tiny.yaml": tiny });
    for (const argv of [
      ["--control-token", "open-sesame"],
      ["--host", "0.0.0.0"],
    ]) {
      const running = serve(["tiny.yaml", "--write-env", ".env.sandbox", "--json", ...argv], { cwd });
      const url = await baseUrl(running);
      const { SVC_SANDBOX_CONTROL_TOKEN: token } = parseEnv(readFileSync(join(cwd, ".env.sandbox"), "utf8"));
      if (argv[0] === "--control-token") expect(token).toBe("open-sesame");
      const headers = { authorization: `Bearer ${token}` };
      expect((await fetch(`${url}/__sandbox/state`, { headers })).status).toBe(200);
      expect(statSync(join(cwd, ".env.sandbox")).mode & 0o777).toBe(0o600);
    }
  });

  it("is complete before the first request gets a response, and again before a call that changes the keys does", async () => {
    const cwd = temporaryFolder({ "tiny.yaml": tiny });
    const port = String(await freePort());
    const running = serve(["tiny.yaml", "--write-env", "e", "--port", port], { cwd });
    const url = `http://127.0.0.1:${port}`;
    // Faster than `fetch`, so that the first response comes as early as it can.
    const responds = () =>
      new Promise((resolve) => {
        const socket = connect(Number(port), "127.0.0.1", () => socket.write(`GET ${me} HTTP/1.1\r\n\r\n`));
        socket.on("error", () => resolve(false)).once("data", () => resolve(socket.destroy()));
      });
    while (!(await responds()));
    const variables = () => parseEnv(readFileSync(join(cwd, "e"), "utf8"));
    const first = variables();
    const call = async (method: string, path: string, body: object) => {
      const headers = { "content-type": "application/json" };
      const sent = { method, headers, body: JSON.stringify(body) };
      expect((await fetch(`${url}/__sandbox${path}`, sent)).ok).toBe(true);
    };
    await call("POST", "/reset", { seed: 7 });
    expect([first.SVC_BASE_URL, Object.keys(variables())]).toEqual([url, Object.keys(first)]);
    expect(variables().SVC_KEY_ONLY).not.toBe(first.SVC_KEY_ONLY);
    await call("PUT", "/scenario", { name: "rotation" });
    const headers = { "x-api-key": variables().SVC_KEY_RETIRING ?? "" };
    expect((await fetch(url + me, { headers })).status).toBe(200);
    expect(Object.keys(variables())).not.toContain("SVC_KEY_ONLY");
    await running.stop();
  });
});
