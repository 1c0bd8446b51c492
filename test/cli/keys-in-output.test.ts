import { describe, expect, test } from "vitest";
import { KeyFinder } from "../../src/cli/client-output.js";
import { createSandbox, type Sandbox, type Scenario } from "../../src/index.js";
import { stateOf } from "../../src/library/sandbox-api.js";
import { unknownSecret } from "../../src/scenario/keys.js";
import { runCli } from "../support/run-cli.js";
import { commandLine, hasTerminal, onTerminal, runCommand } from "../support/running-command.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { runExec } from "./exec-client.js";

const pinned = "SVC_test_short";
const organizations: Scenario["organizations"] = {
  bank: {
    type: "bank",
    keys: { main: { environment: "test" }, pinned: { environment: "test", secret: pinned } },
  },
};
const sandbox: Sandbox = createSandbox({ scenario: { version: 1, organizations } });
const key = sandbox.secret("main");
const real = "SVC_live_9f8e7d6c5b4a39281706f5e4d3c2b1a0";

/** Finds keys in chunks of the standard output. */
function placesIn(...chunks: (string | Buffer)[]): string[] {
  const finder = new KeyFinder(stateOf(sandbox));
  for (const chunk of chunks) finder.add("stdout", Buffer.from(chunk));
  return finder.places();
}

describe("R46 a full key in the output", () => {
  test.each([
    ["of the sandbox", key],
    ["of the sandbox, in color", `\u001b[32m${key}\u001b[0m`],
    ["of the sandbox, percent-encoded", `?key=${encodeURIComponent(key).replaceAll("_", "%5F")}`],
    ["that is pinned", pinned],
    ["of another sandbox", createSandbox({ seed: 7 }).secret("active")],
    ["that looks real", real],
    ["of the sandbox, with a word after it", `${key}-cached`],
    ["of the sandbox, in Base64", Buffer.from(key).toString("base64")],
    ["of the sandbox, in Base64 of Basic access", `"Basic ${Buffer.from(`user:${key}`).toString("base64")}"`],
    ["of the sandbox, in Base64 for URLs", Buffer.from(`é?>:${key}`).toString("base64url")],
    ["of the sandbox, in Base64 after two characters", Buffer.from(`a:${key}`).toString("base64")],
  ])("%s is found, by its line", (_what, text) => {
    expect(placesIn(`one\ntwo ${text} end\nthree\n`)).toEqual(["stdout, line 2"]);
  });

  test("is found wherever chunks split it", () => {
    const text = Buffer.from(`é\r\n${key}\nend`);
    for (let at = 0; at <= text.length; at += 1) {
      expect(placesIn(text.subarray(0, at), text.subarray(at))).toEqual(["stdout, line 2"]);
    }
    expect(placesIn(...key)).toEqual(["stdout, line 1"]);
  });

  test("is found in a line that does not end, and each line once", () => {
    const much = "x ".repeat(35_000);
    expect(
      placesIn(`${much}${key.slice(0, 20)}`, `${key.slice(20)} ${much}`, `${much}\n${key} ${key}`),
    ).toEqual(["stdout, line 1", "stdout, line 2"]);
  });

  test.each([
    ["the unknown key", unknownSecret(sandbox.seed)],
    ["a redacted key", "SVC_test_…"],
    ["a placeholder", "SVC_live_your-key"],
    [
      "the start of a key in Base64, alone and after a quote",
      `"${btoa("a:SVC_test_").slice(2)}" ${btoa("SVC_test_")}`,
    ],
    ["a name of a variable", "SVC_KEY_RATE_LIMITED_MINUTE=x"],
    ["the malformed key", "not-an-api-key"],
  ])("is not %s", (_what, text) => {
    expect(placesIn(`${text}\n`)).toEqual([]);
  });
});

const print = (code: string) => ["--", process.execPath, "-e", code];
const call = 'fetch(process.env.SVC_BASE_URL + "/v1/relying-party/me");';
const leak = `${call} console.log("a\\n" + process.env.SVC_API_KEY); console.error(process.env.SVC_KEY_REVOKED)`;

test("R46 exec reports keys in the output as an error, with stream and line, and passes the output through", async () => {
  const { code, stdout, stderr } = await runExec(["--fail-on", "error", ...print(leak)]);
  const secret = createSandbox().secret("active");
  expect([code, stdout]).toEqual([5, `a\n${secret}\n`]);
  const [own, ...report] = stderr.split("\n");
  expect(own).toBe(createSandbox().secret("revoked"));
  expect(report.join("\n")).toMatch(/^ {2}error {2}key-in-output {2}2 lines {2}section 5, point 11; R46\n/m);
  expect(report.join(" ").replace(/\s+/g, " ")).toMatch(
    /First: stderr, line 1 and stdout, line 2\.|First: stdout, line 2 and stderr, line 1\./,
  );
  expect(report.join("\n")).not.toContain("sbx");
});

test("R46 exec also reports a key in the output of a client that never called, with the exit code of that", async () => {
  const { code, stderr } = await runExec(["--fail-on", "error", ...print(leak.slice(call.length))]);
  expect([code, stderr]).toEqual([4, expect.stringMatching(/^ {2}error {2}key-in-output {2}2 lines/m)]);
  expect(stderr).toMatch(
    /\nThe client never called .* Advice: 1 error\.\nNo request .*\n--fail-on error does not allow/,
  );
});

test("R46 the unknown and the malformed key in the output cause no advice, in any format", async () => {
  const code = `${call} console.log(process.env.SVC_KEY_UNKNOWN, process.env.SVC_KEY_MALFORMED)`;
  const { stderr } = await runExec(["--format", "junit", ...print(code)]);
  expect(stderr).toContain("<testsuites");
  expect(stderr).not.toContain("key-in-output");
});

test("R46 certify reports keys in the output of its runs, which fails, and no key", async () => {
  const cwd = temporaryFolder();
  const refs = '["ACTIVE", "LIVE", "REVOKED", "EXPIRED", "WRONG_SCOPE"]';
  const url = 'process.env.SVC_BASE_URL + "/v1/relying-party/me"';
  const good = `for (const ref of ${refs}) fetch(${url}, { headers: { "x-api-key": process.env["SVC_KEY_" + ref] } });`;
  const argv = [
    "certify",
    "--format",
    "json",
    "--only",
    "varied.1",
    ...print(good + leak.slice(call.length)),
  ];
  const ran = await runCli(argv, { cwd });
  const { report, verdict } = JSON.parse(ran.stdout);
  const errors = report.advice.filter(({ level }: { level: string }) => level === "error");
  expect([ran.code, verdict, errors]).toEqual([
    1,
    "failed",
    [expect.objectContaining({ id: "key-in-output", level: "error", count: 2, examples: [] })],
  ]);
  expect(errors[0].meaning).toMatch(/stdout, line 2/);
  expect(ran.stdout + ran.stderr).not.toContain("sbx");
});

describe("the output of a command under exec", () => {
  const shell = (line: string) =>
    runCommand(line.replace("EXEC", `${commandLine} exec --quiet --`), { cwd: temporaryFolder() }).ended;

  test("reaches a slow reader whole, after the command's end", async () => {
    expect((await shell("EXEC head -c 150000 /dev/zero | (sleep 1; wc -c)")).stdout.trim()).toBe("150000");
  });

  test("ends with its reader", async () => {
    expect((await shell("EXEC yes | head -1")).stdout).toBe("y\n");
  });

  test.skipIf(!hasTerminal)("to a terminal stays on the terminal", async () => {
    const line = `${commandLine} exec --quiet -- sh -c 'test -t 1 && test -t 2 && echo still'`;
    expect((await onTerminal(line, temporaryFolder()).ended).stdout).toContain("still");
    const split = `${commandLine} exec --quiet -- sh -c 'test -t 1 && ! test -t 2 && echo half' 2> error`;
    expect((await onTerminal(split, temporaryFolder()).ended).stdout).toContain("half");
  });
});
