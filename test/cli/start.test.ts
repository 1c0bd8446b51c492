import { once } from "node:events";
import { readFileSync, statSync } from "node:fs";
import { type AddressInfo, connect, createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { baseUrl, runCli, serve } from "../support/run-cli.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const me = "/v1/relying-party/me";

const tiny = `version: 1
organizations:
  a-bank: { name: A Bank, type: bank, keys: { only: { environment: test, name: One } } }
`;

describe("svc-sandbox start", () => {
  it("prints addresses, scenario, keys and what each one gets, once requests are accepted", async () => {
    const running = serve(["key-states"]);
    const url = await baseUrl(running);
    const text = running.stdout.text();
    expect(text).toMatch(new RegExp(`^svc-sandbox is listening on ${url}\n`));
    expect(text).toContain(`  Control    ${url}/__sandbox\n  Dashboard  ${url}/__sandbox/\n`);
    expect(text).toContain("  Scenario   key-states, seed 1\n");
    expect(text).toMatch(/ {2}Clock {6}2026-03-02T09:00:0\S+Z, running\n/);
    expect(text).toContain("  Profile    minimal\n");
    expect(text).toMatch(/\n {2}revoked {2,}SVC_test_sbx\w{29} {2,}401 unauthorized {2,}401\.revoked\n/);
    expect(text).toMatch(/\n {2}active {2,}SVC_test_sbx\w{29} {2,}200 {2,}200\.test\n/);
    expect((await fetch(url + me)).status).toBe(401);
  });

  it("prints a curl line that works when it is pasted", async () => {
    const running = serve(["key-states"]);
    await baseUrl(running);
    const [, key, url] = /\n {2}curl -i -H "x-api-key: (\S+)" (\S+)\n/.exec(running.stdout.text()) ?? [];
    const response = await fetch(url as string, { headers: { "x-api-key": key as string } });
    expect(response.status).toBe(200);
  });

  it("takes svc-sandbox.yaml of the folder when no scenario is named", async () => {
    const running = serve([], { cwd: temporaryFolder({ "svc-sandbox.yaml": tiny }) });
    expect(await running.stdout.shows(/Scenario +(\S+),/)).toHaveProperty("1", "svc-sandbox.yaml");
    expect(running.stdout.text()).toContain("\n  only ");
  });

  it("prints one line of JSON, and nothing else, with --json", async () => {
    const running = serve(["rate-limited", "--json", "--seed", "7"]);
    const url = await baseUrl(running);
    const { stdout, code } = await running.stop();
    expect(code).toBe(0);
    expect(stdout).toMatch(/^[^\n]+\n$/);
    const { keys, ...line } = JSON.parse(stdout);
    expect(line).toEqual({
      event: "listening",
      base_url: url,
      control_url: `${url}/__sandbox`,
      scenario: "rate-limited",
      seed: 7,
    });
    for (const secret of Object.values(keys)) expect(secret).toMatch(/^SVC_(?:test|live)_sbx\w{29}$/);
  });

  it("prints only the base URL with --quiet, and logs nothing", async () => {
    const running = serve(["--quiet"]);
    const url = await baseUrl(running);
    await fetch(url + me);
    expect(await running.stop()).toEqual({ code: 0, stdout: `${url}\n`, stderr: "" });
  });

  it("serves no control plane with --no-control", async () => {
    const running = serve(["--no-control", "--json"]);
    const url = await baseUrl(running);
    expect(JSON.parse(running.stdout.text()).control_url).toBeNull();
    expect((await fetch(`${url}/__sandbox/health`)).status).toBe(404);
  });

  it("lets an instance go when nobody has used it for --instance-ttl", async () => {
    const running = serve(["--instance-ttl", "50ms"]);
    const instances = `${await baseUrl(running)}/__sandbox/instances`;
    expect((await fetch(instances, { method: "POST" })).status).toBe(201);
    const left = async () => ((await (await fetch(instances)).json()) as { data: unknown[] }).data;
    await vi.waitFor(async () => expect(await left()).toEqual([]), { timeout: 5000 });
  });

  it("asks for the control token that was given, and does not repeat it to people", async () => {
    const running = serve(["--control-token", "a-token-of-mine"]);
    const url = await baseUrl(running);
    expect((await fetch(`${url}/__sandbox/health`)).status).toBe(401);
    const authorization = { authorization: "Bearer a-token-of-mine" };
    expect((await fetch(`${url}/__sandbox/health`, { headers: authorization })).status).toBe(200);
    expect(running.stdout.text()).not.toContain("a-token-of-mine");
  });

  it("prints the token that it made for an address that others can reach", async () => {
    const shown = serve(["--host", "0.0.0.0"]);
    await baseUrl(shown);
    expect(shown.stdout.text()).toMatch(/\n {2}Token {6}[\w-]{32} /);
    const machine = serve(["--host", "0.0.0.0", "--json"]);
    await baseUrl(machine);
    expect(JSON.parse(machine.stdout.text()).control_token).toMatch(/^[\w-]{32}$/);
    const brief = serve(["--host", "0.0.0.0", "--quiet"]);
    await baseUrl(brief);
    expect(brief.stderr.text()).toMatch(/^Control token: [\w-]{32}\n$/);
  });

  it("gives a curl line that a shell understands for an IPv6 address", async () => {
    const running = serve(["--host", "::1"]);
    await running.stdout.shows(
      /\n {2}curl -i -H "x-api-key: \S+" -g "http:\/\/\[::1\]:\d+\/v1\/relying-party\/me"\n/,
    );
  });

  it("names the path of each answer with --explain, and not without", async () => {
    const explained = await fetch((await baseUrl(serve(["--explain"]))) + me);
    expect(explained.headers.get("x-sandbox-path")).toBe("401.missing");
    const plain = await fetch((await baseUrl(serve([]))) + me);
    expect(plain.headers.has("x-sandbox-path")).toBe(false);
  });

  it("starts the clock where --now says, and holds it with --frozen", async () => {
    const running = serve(["--now", "2027-01-01T00:00:00+01:00", "--frozen"]);
    await baseUrl(running);
    expect(running.stdout.text()).toContain("  Clock      2026-12-31T23:00:00.000Z, frozen\n");
  });

  it("says which assumptions the scenario changes", async () => {
    const file = `${tiny}assumptions: { rate_limit_code: slow_down, me_scope: null }\n`;
    const running = serve(["a.yaml"], { cwd: temporaryFolder({ "a.yaml": file }) });
    await baseUrl(running);
    expect(running.stdout.text()).toContain(
      '  Profile    minimal, rate_limit_code: "slow_down", me_scope: null\n',
    );
  });

  it("lets an open request finish when it is stopped, takes no new one, and exits with 0", async () => {
    const running = serve([]);
    const url = await baseUrl(running);
    const socket = connect(Number(new URL(url).port), "127.0.0.1");
    socket.write(`GET ${me} HTTP/1.1\r\nHost: 127.0.0.1\r\n`);
    // An answer on another connection shows that the half request before it has arrived.
    await fetch(url + me);
    const stopped = running.stop();
    await expect(fetch(url + me)).rejects.toThrow();
    socket.end("Connection: close\r\n\r\n");
    const [answer] = await once(socket, "data");
    expect(String(answer)).toMatch(/^HTTP\/1\.1 401 /);
    const { code, stderr } = await stopped;
    expect(code).toBe(0);
    expect(stderr).toContain("Stopping: open requests have 2 seconds to finish.");
  });

  it("says which port is in use, and how to choose another", async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void other.close());
    const { port } = other.address() as AddressInfo;
    const ran = await runCli(["--port", String(port)], { cwd: temporaryFolder() });
    expect(ran).toEqual({
      code: 2,
      stdout: "",
      stderr: expect.stringMatching(new RegExp(`^Failed to listen on port ${port} .*--port 0.*\n$`)),
    });
  });
});

describe("the request log", () => {
  it("has one aligned line for each request, on stderr", async () => {
    const running = serve(["--frozen"]);
    const url = await baseUrl(running);
    await fetch(url + me);
    await fetch(`${url}/v2`, { method: "POST" });
    const [line] = await running.stderr.shows(/.*401\.missing.*\n.*404\.unknown_path.*\n/);
    const [first = "", second = ""] = line.split("\n");
    expect(first).toMatch(
      /^2026-03-02T09:00:00Z {2}GET {3}\/v1\/relying-party\/me {2}401 unauthorized +401\.missing +\d+\.\d ms {2}-$/,
    );
    expect(second.indexOf("404.unknown_path")).toBe(first.indexOf("401.missing"));
  });

  it("names the key by its ref, or by its fingerprint, and never shows it (R46)", async () => {
    const running = serve(["--json"]);
    const url = await baseUrl(running);
    const { revoked } = JSON.parse(running.stdout.text()).keys;
    await fetch(url + me, { headers: { "x-api-key": revoked } });
    await fetch(`${url}/${revoked}?key=${revoked}`, {
      headers: { "x-api-key": "SVC_live_of-somebody-else" },
    });
    await running.stderr.shows(/ms {2}revoked\n.*ms {2}[0-9a-f]{12} {2}.*key-in-query/);
    expect(running.stderr.text()).not.toContain(revoked);
    expect(running.stderr.text()).not.toContain("of-somebody-else");
  });

  it("shows nothing that would move the cursor or recolour the terminal", async () => {
    const running = serve([]);
    const url = await baseUrl(running);
    await fetch(`${url}/%1b%5b31m%0aSVC_test_abc`);
    await running.stderr.shows(/404\.unknown_path/);
    expect(running.stderr.text()).toMatch(/^[^\p{Cc}]+\n$/u);
  });

  it("adds the request id with --verbose", async () => {
    const running = serve(["--verbose"]);
    await fetch((await baseUrl(running)) + me);
    await running.stderr.shows(/401\.missing.* req_[0-9a-f]{24}\n/);
  });

  it("is one JSON object per line with --log json", async () => {
    const running = serve(["--log", "json", "--frozen"]);
    await fetch((await baseUrl(running)) + me);
    const { stderr } = await running.stop();
    const [request, note] = stderr
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(request).toEqual({
      level: "info",
      event: "request",
      id: expect.stringMatching(/^req_/),
      at: "2026-03-02T09:00:00.000Z",
      method: "GET",
      path: me,
      key: null,
      fingerprint: null,
      status: 401,
      code: "unauthorized",
      fault: null,
      path_id: "401.missing",
      advice: [],
      duration_ms: expect.any(Number),
    });
    expect(note).toMatchObject({ level: "info", event: "note", message: expect.stringMatching(/^Stopping/) });
  });

  it("is silent with --log off", async () => {
    const running = serve(["--log", "off"]);
    await fetch((await baseUrl(running)) + me);
    expect((await running.stop()).stderr).toMatch(/^Stopping: .*\n$/);
  });
});

describe("--write-env", () => {
  it("writes the environment for clients, for its owner alone", async () => {
    const cwd = temporaryFolder({ "tiny.yaml": tiny });
    const running = serve(["tiny.yaml", "--write-env", ".env.sandbox"], { cwd });
    const url = await baseUrl(running);
    const file = join(cwd, ".env.sandbox");
    const [, secret] = /only +(SVC_test_\w+)/.exec(running.stdout.text()) ?? [];
    expect(readFileSync(file, "utf8")).toBe(
      `SVC_BASE_URL=${url}\nSVC_CONTROL_URL=${url}/__sandbox\nSVC_API_KEY=${secret}\nSVC_KEY_ONLY=${secret}\n`,
    );
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it("stops with 2 when the file cannot be written, and listens no longer", async () => {
    const ran = await runCli(["--port", "0", "--env-file", "no/such/file"], { cwd: temporaryFolder() });
    expect(ran).toEqual({
      code: 2,
      stdout: "",
      stderr:
        'Failed to write "no/such/file": its folder does not exist. Name another file with --write-env.\n',
    });
  });
});
