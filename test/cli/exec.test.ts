import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, test, vi } from "vitest";
import { atEnd } from "../../src/cli/run-command.js";
import { createSandbox } from "../../src/index.js";
import { version } from "../../src/node/package-files.js";
import { makeSelfSigned } from "../../src/server/sockets/tls.js";
import { coverageText } from "../support/coverage.js";
import { runCli } from "../support/run-cli.js";
import { commandLine, runCommand } from "../support/running-command.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { client, clientFolder, execHere, reportIn, runExec } from "./exec-client.js";

const inNode = (code: string) => [process.execPath, "-e", code];

describe("the command", () => {
  it("meets the sandbox, and its client's report is on stderr", async () => {
    const { code, stdout, stderr } = await execHere(["--", ...client("active", "revoked", "none")]);
    expect([code, stdout]).toEqual([0, ""]);
    expect(stderr).toMatch(/^\n3 requests to key-states \(seed 1, profile minimal\)\n\nOutcomes\n/);
    expect(stderr).toMatch(/^ {2}401\.revoked +1 {2}a/m);
    expect(stderr.endsWith(`\n${coverageText(3)}. No advice.\n`)).toBe(true);
  });

  it("has stdin and stdout for itself, byte for byte", async () => {
    const cwd = clientFolder();
    const line = `head -c 1000000 /dev/urandom | tee in | ${commandLine} exec --quiet --min-coverage 0 -- cat > out`;
    expect(await runCommand(line, { cwd }).ended).toMatchObject({ code: 0, stderr: "" });
    expect(readFileSync(join(cwd, "out")).equals(readFileSync(join(cwd, "in")))).toBe(true);
  });

  it("gets its arguments unchanged, flags included", async () => {
    const words = ["--json", "-p", "--", "a b", "*", "$HOME", "", "--help"];
    const echo = [...inNode("console.log(JSON.stringify(process.argv.slice(1)))"), "--"];
    expect(JSON.parse((await runExec(["--", ...echo, ...words])).stdout)).toEqual(words);
  });

  it("leaves no folder of a run and no step for the end behind, whether it succeeds or fails", async () => {
    const folder = temporaryFolder();
    vi.stubEnv("TMPDIR", folder);
    onTestFinished(() => void vi.unstubAllEnvs());
    for (const command of ["true", "false", "no-such-command"]) {
      await runCli(["exec", "--tls", "--min-coverage", "0", "--", command], { cwd: folder });
    }
    expect([readdirSync(folder), atEnd.size]).toEqual([[], 0]);
  });

  it("that never calls the API fails with a message, unless --min-coverage 0 allows it", async () => {
    const { code, stderr } = await execHere(["--", "true"]);
    expect(code).toBe(4);
    expect((await execHere(["--min-coverage", "0", "--fail-on", "note", "--", "true"])).code).toBe(0);
    expect((await execHere(["--", "false"])).code).toBe(1);
    expect(stderr).toMatch(/\nThe client never called the API\. /);
  });
});

describe("a command whose requests reach no endpoint", () => {
  it("fails with the outcomes that it tried, unless --min-coverage 0 allows it", async () => {
    const line = 'for path in /wrong/me /v1/me; do curl -s -o out "$SVC_BASE_URL$path"; done';
    const { code, stderr } = await execHere(["--", "sh", "-c", line]);
    expect([code, stderr]).toEqual([
      4,
      expect.stringContaining(
        "No request reached an endpoint. Your client tried GET /wrong/me, GET /v1/me. ",
      ),
    ]);
    expect((await execHere(["--min-coverage", "0", "--", "sh", "-c", line])).code).toBe(0);
    // Allowed, so that only the threshold is left.
    const strict = await execHere(["--min-coverage", "0", "--fail-on", "warning", "--", "sh", "-c", line]);
    expect(strict.code).toBe(5);
  });
});

describe("the environment of the command", () => {
  const environment = async (argv: readonly string[], env: Readonly<Record<string, string>>) => {
    const cwd = temporaryFolder();
    const command = inNode("require('fs').writeFileSync('env', JSON.stringify(process.env))");
    await execHere(["--quiet", ...argv, "--", ...command], { cwd, env });
    return JSON.parse(readFileSync(join(cwd, "env"), "utf8")) as Record<string, string>;
  };

  it("is this process's own, with every key and both addresses", async () => {
    const env = await environment(["rotation", "--seed", "5"], { PORT: "4747", OTHER: "kept" });
    const sandbox = createSandbox({ scenario: "rotation", seed: 5 });
    expect(env).toMatchObject({ PORT: "4747", OTHER: "kept", SVC_API_KEY: sandbox.secret("retiring") });
    expect(env.SVC_BASE_URL).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(env.SVC_BASE_URL).not.toMatch(/:4747$/);
    expect(env.SVC_CONTROL_URL).toBe(`${env.SVC_BASE_URL}/__sandbox`);
    expect(env.SVC_KEY_RETIRING).toBe(env.SVC_API_KEY);
    expect(env.SVC_SANDBOX_CONTROL_TOKEN).toBeUndefined();
  });

  it("has nothing of another sandbox, nor of the real API", async () => {
    const addresses = { SVC_CONTROL_URL: "http://x", SVC_CA_FILE: "other.pem" };
    const others = { SVC_API_KEY: "SVC_live_real", SVC_KEY_OLD: "SVC_test_old", ...addresses };
    const env = await environment(["--no-control"], { ...others, SVC_OTHER: "kept" });
    expect(env.SVC_CA_FILE).toBeUndefined();
    expect(env.SVC_API_KEY).toBe(createSandbox().secret("active"));
    expect([env.SVC_KEY_OLD, env.SVC_CONTROL_URL, env.SVC_OTHER]).toEqual([undefined, undefined, "kept"]);
  });

  it("sends requests past the proxy of a network", async () => {
    const cwd = clientFolder();
    const env = {
      HTTP_PROXY: "http://127.0.0.1:1",
      http_proxy: "http://127.0.0.1:1",
      NO_PROXY: "mine.example",
    };
    const line = `curl -sf -o out "$SVC_BASE_URL/v1/relying-party/me" -H "x-api-key: $SVC_API_KEY"; echo $? "$NO_PROXY" "$no_proxy" > result`;
    const { stderr } = await execHere(["--verbose", "--", "sh", "-c", line], { cwd, env });
    const hosts = "mine.example,localhost,127.0.0.1,::1";
    expect(readFileSync(join(cwd, "result"), "utf8")).toBe(`0 ${hosts} ${hosts}\n`);
    expect(stderr).toContain(`NO_PROXY of the command is ${hosts}.`);
    expect((await environment([], { NO_PROXY: "mine.example" })).NO_PROXY).toBe("mine.example");
    // Each of the two names may have hosts of its own.
    const both = { HTTP_PROXY: "http://127.0.0.1:1", NO_PROXY: "a.example", no_proxy: "b.example" };
    expect((await environment([], both)).no_proxy).toBe("a.example,b.example,localhost,127.0.0.1,::1");
  });

  it("has the token that the control plane requires", async () => {
    const env = await environment(["--host", "0.0.0.0"], {});
    expect(env.SVC_SANDBOX_CONTROL_TOKEN).toMatch(/^[\w-]{32}$/);
  });

  it("makes clients trust the certificate of --tls, the usual authorities and the user's own, in one file", async () => {
    const { cert: mine } = await makeSelfSigned("mine.example");
    const cwd = clientFolder({ "own.pem": mine });
    const code = `const { readFileSync, writeFileSync } = require("node:fs");
const { SVC_CA_FILE, NODE_EXTRA_CA_CERTS, SSL_CERT_FILE, REQUESTS_CA_BUNDLE, CURL_CA_BUNDLE, SVC_BASE_URL, SVC_API_KEY } = process.env;
const files = new Set([SVC_CA_FILE, NODE_EXTRA_CA_CERTS, SSL_CERT_FILE, REQUESTS_CA_BUNDLE, CURL_CA_BUNDLE]);
const text = readFileSync(SVC_CA_FILE, "utf8");
fetch(SVC_BASE_URL + "/v1/relying-party/me", { headers: { "x-api-key": SVC_API_KEY } }).then(({ status }) =>
  writeFileSync("out", JSON.stringify([status, files.size, text.includes(readFileSync("own.pem", "utf8").trim()), text.split("BEGIN").length > 100, SVC_CA_FILE])));`;
    const env = { NODE_EXTRA_CA_CERTS: `${cwd}/own.pem` };
    await execHere(["--tls", "--quiet", "--", ...inNode(code)], { cwd, env });
    const [status, files, hasMine, hasUsual, file] = JSON.parse(readFileSync(join(cwd, "out"), "utf8"));
    expect([status, files, hasMine, hasUsual, existsSync(file)]).toEqual([200, 1, true, true, false]);
    // `npm run examples` runs clients in Python, Go and Java in the same way.
    const line = `curl -sfo out "$SVC_BASE_URL/v1/relying-party/me" -H "x-api-key: $SVC_API_KEY"`;
    expect((await execHere(["--tls", "--quiet", "--", "sh", "-c", line])).code).toBe(0);
  });
});

describe("the sandbox of an exec", () => {
  it("counts what is sent before a reset, and before the requests are cleared", async () => {
    const words = ["active", "POST:/reset", "expired", "DELETE:/requests", "none"];
    const { code, stderr } = await execHere(["--", ...client(...words)]);
    expect([code, stderr]).toEqual([0, expect.stringContaining("3 requests to key-states")]);
    for (const met of ["200\\.test", "401\\.expired", "401\\.missing"]) {
      expect(stderr).toMatch(new RegExp(`^  ${met} +1 {2}\\S`, "m"));
    }
  });

  it("gives a fault of every outcome to those that can have it", async () => {
    const endpoints = "endpoints: { end: { path: /end, status: 204 } }";
    const bank = "organizations: { bank: { type: bank, keys: { active: { environment: test } } } }";
    const cwd = clientFolder({ "end.yaml": `version: 1\n${bank}\n${endpoints}\n` });
    const words = ["--fault", "fault.truncate", "--format", "json", "end.yaml", "--"];
    const { stderr } = await runExec([...words, ...client("active", "/end", "active")], { cwd });
    const counts = reportIn(stderr).outcomes.flatMap((one: { outcome: string; count: number }) =>
      one.count > 0 ? [[one.outcome, one.count]] : [],
    );
    expect(counts).toEqual([
      ["200.test", 1],
      ["fault.truncate", 2],
    ]);
  });

  it("counts a request whose response nobody waited for", async () => {
    const code = `const { hostname, port } = new URL(process.env.SVC_BASE_URL);
const socket = require("node:net").connect(port, hostname, () =>
  socket.write("GET /v1/relying-party/me HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n", () => process.exit()));`;
    for (let round = 0; round < 2; round++) {
      expect((await execHere(["--", ...inNode(code)])).stderr).toContain("1 request to key-states");
    }
  });

  it("shows its address and logs requests with --verbose", async () => {
    const { stderr } = await execHere(["--verbose", "--log", "pretty", "--", ...client("active")]);
    expect(stderr).toMatch(
      /^Serving key-states \(seed 1, profile minimal\) on http:\S+\.\n.*GET +\/v1\/relying-party\/me +200.*\n/,
    );
  });
});

test.each([["exec"], ["certify", "--only", "plain"]])(
  "a scenario that the command loads has its own clock under %s",
  async (...words) => {
    const secret = "SVC_test_sbx0123456789abcdef0123456789ab";
    const scenarioWith = (more: object, key: object) => {
      const keys = { main: { environment: "test", ...key } };
      return JSON.stringify({ version: 1, ...more, organizations: { lender: { type: "bank", keys } } });
    };
    const clock = { now: "2026-03-02T09:00:00Z", frozen: true };
    const loaded = scenarioWith({ clock }, { expires: "2026-06-01T00:00:00Z", secret });
    const code = `
const { SVC_BASE_URL, SVC_CONTROL_URL } = process.env;
const headers = { "content-type": "application/yaml" };
await fetch(SVC_CONTROL_URL + "/scenario", { method: "PUT", headers, body: ${JSON.stringify(loaded)} });
const clock = await (await fetch(SVC_CONTROL_URL + "/clock")).json();
const me = await fetch(SVC_BASE_URL + "/v1/relying-party/me", { headers: { "x-api-key": "${secret}" } });
(await import("node:fs")).writeFileSync("seen", clock.data.now + " " + me.status);`;
    // Without a clock, so that the run sets its start.
    const cwd = temporaryFolder({ "own.yaml": scenarioWith({}, {}) });
    const command = [process.execPath, "--input-type=module", "-e", code];
    await runCli([...words, "own.yaml", "--", ...command], { cwd });
    expect(readFileSync(join(cwd, "seen"), "utf8")).toBe("2026-03-02T09:00:00.000Z 200");
  },
);

test.skipIf(process.platform === "win32").each([
  ["a pipe", 'mkfifo "$F"'],
  ["a folder", 'mkdir "$F"'],
  ["a link to itself", 'ln -s "$F" "$F"'],
  ["a link to a device without an end", 'ln -s /dev/zero "$F"'],
  ["a file of a terabyte", 'truncate -s 1T "$F"'],
])("%s in the folder of the run is a note, and nothing waits for it", async (_what, script) => {
  const command = ["sh", "-c", `F="$SVC_SANDBOX_RUN/requests-1-2.jsonl"; ${script}`];
  const { code, stderr } = await execHere(["--min-coverage", "0", "--", ...command]);
  expect([code, stderr]).toEqual([0, expect.stringMatching(/requests of the command could not be read/)]);
});

test("a line that is not whole is left out with a note; the report and the command's code come", async () => {
  const lines = [`{"version":"${version}"}`, '{"exchange":{"num', "", '{"excha'];
  const script = `printf '%s' '${lines.join("\n")}' > "$SVC_SANDBOX_RUN/requests-1-2.jsonl"; exit 7`;
  const { code, stderr } = await execHere(["--", "sh", "-c", script]);
  expect([code, stderr]).toEqual([7, expect.stringMatching(/^\n0 requests to key-states/)]);
  expect(stderr).toMatch(/\nRequests of the command could not be counted: .*full disk\.\n$/);
});
