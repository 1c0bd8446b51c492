import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { createServer } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { createSandbox } from "../../src/index.js";
import { runCli } from "../support/run-cli.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { client, clientFolder, runExec } from "./exec-process.js";

const printEnv = [process.execPath, "-e", "console.log(JSON.stringify(process.env))"];
const oneKey = (name: string) =>
  `version: 1\nname: ${name}\norganizations: { bank: { type: bank, keys: { only: { environment: test } } } }\n`;

function has(program: string, ...argv: string[]): boolean {
  try {
    execFileSync(program, argv, { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

describe("the command", () => {
  it("meets the sandbox, and its client's report is on stderr", async () => {
    const { code, stdout, stderr } = await runExec(["--", ...client("active", "revoked", "none")]);
    expect([code, stdout.toString()]).toEqual([0, ""]);
    expect(stderr).toMatch(/^\n3 requests to key-states \(seed 1, profile minimal\)\n\nPaths\n/);
    expect(stderr).toMatch(/^ {2}401\.revoked +1 {2}met {2}/m);
    expect(stderr).toMatch(/\nCoverage 17 %: 3 of 17 promised paths met\. No advice\.\n$/);
  });

  it("keeps its code, also when the gate is not held", async () => {
    const { code, stderr } = await runExec(["--min-coverage", "50", "--", ...client("exit:3")]);
    expect(code).toBe(3);
    expect(stderr).toContain("The coverage is 0 %, and 50 % is asked for");
  });

  it("has stdin and stdout for itself, byte for byte", async () => {
    const input = randomBytes(1_000_000);
    const { code, stdout, stderr } = await runExec(["--quiet", "--", "cat"], { input });
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout.equals(input)).toBe(true);
  });

  it("gets its words as they are, flags and all", async () => {
    const words = ["--json", "-p", "--", "a b", "*", "$HOME", ""];
    const echo = [process.execPath, "-e", "console.log(JSON.stringify(process.argv.slice(1)))", "--"];
    const { stdout } = await runExec(["--", ...echo, ...words]);
    expect(JSON.parse(stdout.toString())).toEqual(words);
  });

  it("that does not exist ends with 127, says so, and has no report", async () => {
    const { code, stdout, stderr } = await runExec(["--", "no-such-command", "x"]);
    expect([code, stdout.toString(), stderr]).toEqual([
      127,
      "",
      expect.stringMatching(
        /^Failed to run "no-such-command": there is no such command in PATH\. No shell .*\n$/,
      ),
    ]);
  });

  it.each([
    [["./nothing"], 127, /^Failed to run ".\/nothing": there is no such file, /],
    [["./script"], 127, /no such program as its first line names\.\n/],
    [["./client.mjs"], 126, /^Failed to run ".\/client.mjs": it is not a program that you may execute\.\n/],
    [["."], 126, /^Failed to run "."/],
  ])("%j ends with %d", async (words, expected, says) => {
    const cwd = clientFolder({ script: "#!/no/such/shell\n" });
    execFileSync("chmod", ["+x", "script"], { cwd });
    const { code, stderr } = await runExec(["--", ...words], { cwd });
    expect([code, stderr]).toEqual([expected, expect.stringMatching(says)]);
  });

  it("that never calls the API is told so", async () => {
    const { code, stderr } = await runExec(["--", "true"], { env: { http_proxy: "http://proxy.example" } });
    expect(code).toBe(0);
    expect(stderr).toMatch(
      /\nThe client never called the API\. Coverage 0 %: .*\nDoes it read the base URL from SVC_BASE_URL.*http_proxy is set: .*NO_PROXY/,
    );
  });
});

describe("the environment of the command", () => {
  const environment = async (argv: readonly string[], env: Readonly<Record<string, string>>) => {
    const { stdout } = await runExec(["--quiet", ...argv, "--", ...printEnv], { env });
    return JSON.parse(stdout.toString()) as Record<string, string>;
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
    const others = { SVC_API_KEY: "SVC_live_real", SVC_KEY_OLD: "SVC_test_old", SVC_CONTROL_URL: "http://x" };
    const env = await environment(["--no-control"], { ...others, SVC_OTHER: "kept" });
    expect(env.SVC_API_KEY).toBe(createSandbox().secret("active"));
    expect([env.SVC_KEY_OLD, env.SVC_CONTROL_URL, env.SVC_OTHER]).toEqual([undefined, undefined, "kept"]);
  });

  it("has the token that the control plane asks for", async () => {
    const env = await environment(["--host", "0.0.0.0"], {});
    expect(env.SVC_SANDBOX_CONTROL_TOKEN).toMatch(/^[\w-]{32}$/);
  });

  it("lets Node and others trust the certificate of --tls, and still trust what they did", async () => {
    const cwd = clientFolder({ "own.pem": "# mine\n" });
    const code = `const { readFileSync } = require("node:fs");
const { NODE_EXTRA_CA_CERTS, SVC_CA_FILE, SVC_BASE_URL, SVC_API_KEY } = process.env;
const extra = readFileSync(NODE_EXTRA_CA_CERTS, "utf8");
fetch(SVC_BASE_URL + "/v1/relying-party/me", { headers: { "x-api-key": SVC_API_KEY } }).then(({ status }) =>
  console.log(JSON.stringify([status, extra.includes("# mine"), extra.includes(readFileSync(SVC_CA_FILE, "utf8").trim()), SVC_CA_FILE])));`;
    const argv = ["--tls", "--quiet", "--", process.execPath, "-e", code];
    const { stdout, stderr } = await runExec(argv, { cwd, env: { NODE_EXTRA_CA_CERTS: `${cwd}/own.pem` } });
    expect(stderr).not.toContain("failed");
    const [status, hasMine, hasOurs, file] = JSON.parse(stdout.toString());
    expect([status, hasMine, hasOurs]).toEqual([200, true, true]);
    expect(has("test", "-e", file)).toBe(false);
  });
});

describe("the sandbox of an exec", () => {
  it("is the scenario of this folder, else key-states, or the one that is named", async () => {
    const cwd = clientFolder({ "svc-sandbox.yaml": oneKey("Ours"), "other.yaml": oneKey("Theirs") });
    const served = async (...argv: string[]) => {
      const { stderr } = await runExec([...argv, "--", "true"], { cwd });
      return /^\n0 requests to (\S+) /.exec(stderr)?.[1];
    };
    expect(await Promise.all([served(), served("other.yaml"), served("revoked")])).toEqual([
      "svc-sandbox.yaml",
      "other.yaml",
      "revoked",
    ]);
  });

  it("counts what is sent to instances, before a reset, and before the requests are cleared", async () => {
    const cwd = clientFolder({
      "instance.mjs": `const { data } = await (await fetch(process.env.SVC_CONTROL_URL + "/instances", {
  method: "POST", headers: { "content-type": "application/json" }, body: "{}" })).json();
await fetch(data.base_url + "/v1/relying-party/me");
`,
    });
    const line = "node client.mjs active POST:/reset expired DELETE:/requests && node instance.mjs";
    const { code, stderr } = await runExec(["--", "sh", "-c", line], { cwd });
    expect([code, stderr]).toEqual([0, expect.stringContaining("3 requests to key-states")]);
    for (const met of ["200.test", "401.expired", "401.missing"]) {
      expect(stderr).toMatch(new RegExp(`^  ${met.replace(".", "\\.")} +1 {2}met  `, "m"));
    }
  });

  it("counts a request whose answer nobody waited for", async () => {
    const code = `const { hostname, port } = new URL(process.env.SVC_BASE_URL);
const socket = require("node:net").connect(port, hostname, () =>
  socket.write("GET /v1/relying-party/me HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n", () => process.exit()));`;
    for (let round = 0; round < 5; round++) {
      const { stderr } = await runExec(["--", process.execPath, "-e", code]);
      expect(stderr).toContain("1 request to key-states");
    }
  });

  it("says where it is and logs requests when it is asked to", async () => {
    const { stderr } = await runExec(["--verbose", "--log", "pretty", "--", ...client("active")]);
    expect(stderr).toMatch(
      /^Serving key-states \(seed 1, profile minimal\) on http:\/\/127\.0\.0\.1:\d+\.\n.*GET +\/v1\/relying-party\/me +200.*\n/,
    );
  });

  it("that cannot be served ends with 2, and the command is not run", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    onTestFinished(() => void server.close());
    await new Promise((resolve) => server.once("listening", resolve));
    const { port } = server.address() as { port: number };
    const { code, stdout, stderr } = await runExec(["--port", String(port), "--", "echo", "run"]);
    expect([code, stdout.toString(), stderr]).toEqual([2, "", expect.stringMatching(/^Failed to listen on/)]);
  });

  it("ends although handlers of one's own leave something running", async () => {
    const cwd = clientFolder({ "handlers.mjs": "setInterval(() => {}, 1000);\nexport default 7;\n" });
    const { code, stderr } = await runExec(["--handlers", "handlers.mjs", "--", "true"], { cwd });
    expect([code, stderr]).toEqual([2, expect.stringContaining("handlers.mjs")]);
  });
});

describe("a line that cannot be understood", () => {
  it.each([
    [[], "exec needs -- and a command behind it: svc-sandbox exec -- npm test"],
    [["revoked", "--"], "exec needs -- and a command behind it"],
    [["npm", "run", "x", "--coverage"], "exec needs -- and a command behind it"],
    [["npm", "test", "--", "-w"], 'exec takes [scenario], and "test" is one too many.'],
    [["--json", "--", "npm"], "unknown option '--json'"],
    [["npm", "--", "test"], 'Failed to find the scenario "npm"'],
    [["--report", "x.html", "--", "npm"], 'Failed to read --report: "x.html" does not say how to write'],
  ])("%j ends with 2 and says what to do", async (argv, says) => {
    const { code, stdout, stderr } = await runCli(["exec", ...argv], { cwd: temporaryFolder() });
    expect(stderr).toContain(says);
    expect([code, stdout]).toEqual([2, ""]);
  });

  it("is not one that asks for help, nor one whose command does", async () => {
    const { code, stdout } = await runCli(["exec", "--help"]);
    expect([code, stdout]).toEqual([0, expect.stringContaining("exec [scenario] [flags] -- <command...>")]);
    const run = await runExec(["--quiet", "--", process.execPath, "--help"]);
    expect(run.stdout.toString()).toContain("Usage: node");
  });
});
