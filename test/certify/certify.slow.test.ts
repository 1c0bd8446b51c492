import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type Certificate, certify } from "../support/certify.js";
import { root } from "../support/pages.js";
import { runCli } from "../support/run-cli.js";
import { startBin } from "../support/running-command.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const planted = (mistake: string) => [
  process.execPath,
  join(root, "test/support/planted-client.js"),
  "--mistake",
  mistake,
];

/** The code of a client that sends these keys, each of which ends on another outcome. */
const sending = (...refs: readonly string[]) => `Promise.all(${JSON.stringify(refs)}.map((ref) =>
  fetch(process.env.SVC_BASE_URL + "/v1/relying-party/me", { headers: { "x-api-key": process.env["SVC_KEY_" + ref] } })))`;

test("a good client passes in at most 28 runs with three codes of 403, and one for each covered outcome", async () => {
  const { code, verdict, runs, problems } = await certify(planted("none"));
  expect([code, verdict, problems]).toEqual([0, "passed", []]);
  expect(runs).toBeLessThanOrEqual(28);
});

test.each([
  ["content_type", /^Breaks when a (200|401)\b.* has .* in its `Content-Type`/],
  ["message", /^Breaks when a 401 has .*message/],
])("a client that relies on %s gets this cause and no other", async (row, sentence) => {
  const { code, problems } = await certify(planted(row), "--only", "varied");
  expect([code, problems.map((problem) => problem.row)]).toEqual([1, [row]]);
  expect(problems[0]?.sentence).toMatch(sentence);
});

test("a client that gives up when a connection is reset breaks in that run only", async () => {
  const { code, problems } = await certify(planted("fault.reset"), "--only", "fault", "--faults");
  expect([code, problems.map(({ name }) => name)]).toEqual([1, ["fault.reset"]]);
});

describe("a command that cannot be judged", () => {
  test.each([
    ["broken", 5, /^the command fails in the plain run with exit code /],
    ["idle", 4, /^the command sent no request$/],
  ])("%s", async (mistake, expected, sentence) => {
    const { code, why, runs } = await certify(planted(mistake));
    expect(code).toBe(expected);
    expect(why).toMatch(sentence);
    expect(runs).toBeLessThanOrEqual(3);
  });

  test("is not there", async () => {
    const { code, stdout, stderr } = await runCli(["certify", "--", "no-such-command"]);
    expect([code, stdout]).toEqual([127, ""]);
    expect(stderr).toContain('Failed to run "no-such-command": there is no such command');
  });
});

test("faults are judged although the first success of a test is a POST", async () => {
  const script = `const send = async (ref, path = "me", method = "GET") => {
    for (let tries = 0; ; tries++) {
      try {
        const headers = { "x-api-key": process.env["SVC_KEY_" + ref] };
        const response = await fetch(process.env.SVC_BASE_URL + "/v1/relying-party/" + path, { method, headers });
        await response.json();
        if (response.status < 500) return response.status;
      } catch (error) {
        if (tries === 2) throw error;
      }
    }
  };
  const expected = [["LENDING", 200], ["UNDERWRITING_LIVE", 403], ["UNKNOWN", 401], ["MALFORMED", 401]];
  if (await send("LENDING", "consent-requests", "POST") !== 201) process.exit(1);
  if (await send("STATISTICS", "consent-requests", "POST") !== 403) process.exit(1);
  for (const [ref, status] of expected) if (await send(ref) !== status) process.exit(1);`;
  const flags = ["--only", "fault.malformed", "--only", "fault.truncate"];
  const command = [process.execPath, "--input-type=module", "-e", script];
  const { checks, problems } = await certify(command, ...flags, "announced-endpoints");
  expect([
    problems,
    checks.filter(({ name }) => name.startsWith("fault.")).map(({ result }) => result),
  ]).toEqual([[], ["held", "held"]]);
});

test("progress shows what was noticed, and its number", async () => {
  const { stderr } = await runCli(["certify", "--only", "answer", "--", ...planted("none")]);
  const [, plain, about, ...lines] = stderr.trimEnd().split("\n");
  expect(plain).toMatch(/^plain {2}\d+ requests$/);
  expect(about).toMatch(/^About \d+ more runs, \d+ s .* certify sends the wrong response\.$/);
  expect(lines.length).toBeGreaterThan(0);
  for (const line of lines) {
    expect(line).toMatch(/^(?:noticed {14}answer\.\d+\.\w+(?:, again)?|passed {15}plain, again) +\d+$/);
  }
});

test("the command that shows a problem again has the flags of the call", async () => {
  const flags = ["--now", "2026-03-02T09:00:45.000Z"];
  const { problems } = await certify(
    planted("content_type"),
    "--only",
    "varied",
    "--timeout",
    "50s",
    ...flags,
  );
  expect(problems[0]?.again.slice(0, 4)).toEqual(["exec", "--profile", "varied", "--seed"]);
  expect(problems[0]?.again.slice(5)).toEqual(flags);
});

test("for a run that ends late, the command that shows it again is certify with the same limit of time", async () => {
  const script = `${sending("ACTIVE", "LIVE", "REVOKED", "EXPIRED", "RATE_LIMITED")}.then((responses) => {
    const isUsual = responses.every(({ headers }) => headers.get("content-type") === "application/json");
    if (!isUsual) setInterval(() => {}, 1000);
  });`;
  const flags = ["--only", "varied.2", "--timeout", "4s"];
  const { problems } = await certify([process.execPath, "-e", script], ...flags);
  expect(problems[0]?.row).toBe("content_type");
  expect(problems[0]?.again).toEqual(["certify", "--only", "varied.2", "--timeout", "4000ms"]);
});

test("resends that nothing is judged of do not pass", async () => {
  const script = sending("ROTATED", "WRONG_SCOPE", "REVOKED", "EXPIRED", "RATE_LIMITED");
  const { code, verdict, why } = await certify([process.execPath, "-e", script], "--only", "resend");
  expect([code, verdict]).toEqual([5, "not_judged"]);
  expect(why).toMatch(/^6 of 6 resends show nothing: no key that always works came equally often/);
});

test("a plain run without a request is one line, and not a pass", async () => {
  const { stderr } = await runCli(["certify", "--", process.execPath, "-e", ""]);
  expect(stderr.trimEnd().split("\n").slice(1)).toEqual(["plain  0 requests"]);
});

test("--frozen, which certify does not have, is a usage error", async () => {
  const { code, stderr } = await runCli(["certify", "--frozen", "--", ...planted("none")]);
  expect([code, stderr]).toEqual([2, expect.stringContaining("--frozen")]);
});

test("a wrong answer that nobody notices has passed in the progress, to the first request and to each", async () => {
  const script = sending("ACTIVE", "LIVE", "REVOKED", "EXPIRED", "RATE_LIMITED");
  const { stderr } = await runCli([
    ...["certify", "--only", "answer.401.revoked", "--"],
    ...[process.execPath, "-e", script],
  ]);
  expect(stderr).toMatch(/^passed +answer\.401\.revoked +2$/m);
  expect(stderr).toMatch(/^passed +answer\.401\.revoked, each request +3$/m);
});

test("a reason that later runs gave does not print the output of the plain run, which passed", async () => {
  const script = `${sending("ROTATED", "WRONG_SCOPE", "REVOKED", "EXPIRED", "RATE_LIMITED")}.then(() => console.log("all is well"))`;
  const { code, stdout } = await runCli([
    ...["certify", "--only", "resend", "--"],
    ...[process.execPath, "-e", script],
  ]);
  expect([code, stdout.split("\n")[0]]).toEqual([5, expect.stringMatching(/^Not judged \(only resend\): /)]);
  expect(stdout).not.toMatch(/Its last output|all is well/);
});

test("a command that a signal ends is told with the signal, also below a shell", async () => {
  const { stdout } = await runCli(["certify", "--", "sh", "-c", "sh -c 'kill -SEGV $$'; exit $?"]);
  expect(stdout).toContain("the command fails in the plain run with exit code 139, after SIGSEGV.");
});

test("a command without output has no label for it", async () => {
  const { stdout } = await runCli(["certify", "--", process.execPath, "-e", "process.exit(1)"]);
  expect(stdout).not.toContain("Its last output");
});

test("R46 a key of the command line is shown nowhere", async () => {
  const key = "SVC_test_sbx0123456789abcdefghijklmnopq";
  const { stdout, stderr } = await runCli(["certify", "--", "false", key]);
  expect(stderr).toMatch(/^Running false SVC_test_\S*…/);
  expect(stdout + stderr).not.toContain(key);
});

test("a certificate that cannot be written is an error before the first run, and after the last one an exit code of 2 if the client passed", async () => {
  const cwd = temporaryFolder();
  mkdirSync(join(cwd, "folder.json"));
  const certified = (file: string, ...command: readonly string[]) =>
    runCli(["certify", "--only", "varied.1", "--report", file, "--", ...command], { cwd });
  const before = await certified("folder.json", ...planted("none"));
  expect([before.code, before.stderr]).toEqual([
    2,
    'Failed to write the certificate to "folder.json": it is a directory. Name another file with --report.\n',
  ]);
  const makesFolder = `require("node:fs").mkdirSync("late.json", { recursive: true });
    ${sending("ACTIVE", "LIVE", "REVOKED", "EXPIRED", "RATE_LIMITED")}`;
  const after = await certified("late.json", process.execPath, "-e", makesFolder);
  expect([after.code, after.stdout]).toEqual([
    2,
    expect.stringMatching(/^Passed \(only varied\.1\): 2 checks\. /),
  ]);
  expect(after.stderr).toContain('Failed to write the certificate to "late.json": EISDIR');
});

test("the extension of --report sets the format of the certificate", async () => {
  const cwd = temporaryFolder();
  const certified = (file: string) =>
    runCli(["certify", "--only", "varied.1", "--report", file, "--", ...planted("none")], { cwd });
  expect((await certified("c.xml")).code).toBe(0);
  expect(readFileSync(join(cwd, "c.xml"), "utf8")).toMatch(/<testsuites [^>]*failures="0"/);
  for (const file of ["c.md", "c.txt", "-", "c"]) {
    const { code, stdout, stderr } = await certified(file);
    expect([file, code, stdout]).toEqual([file, 2, ""]);
    expect(stderr).not.toContain("plain");
  }
});

test("Ctrl-C ends every child, and the certificate states that it was stopped and the other runs were not made", async () => {
  const cwd = temporaryFolder();
  // The first run passes; the others wait.
  const script = `
    const fs = require("node:fs");
    ${sending("ACTIVE", "LIVE", "REVOKED", "EXPIRED", "RATE_LIMITED")}.then(() => {
      if (!fs.existsSync("first")) return fs.writeFileSync("first", "");
      fs.appendFileSync("pids", process.pid + "\\n");
      process.on("SIGINT", () => {});
      setInterval(() => {}, 1000);
    });`;
  writeFileSync(join(cwd, "client.cjs"), script);
  const argv = ["certify", "--jobs", "3", "--report", "c.json", "--", process.execPath, "client.cjs"];
  const { child, ended } = startBin(argv, { cwd });
  const pids = () => {
    try {
      return readFileSync(join(cwd, "pids"), "utf8").trim().split(/\s+/).map(Number);
    } catch {
      return [];
    }
  };
  await expect.poll(() => pids().length).toBe(3);
  child.kill("SIGINT");
  const { code, stdout } = await ended;
  expect([code, stdout]).toEqual([
    130,
    expect.stringMatching(/^Stopped: 0 problems in the runs that were made, \d+ of \d+ checks not judged\. /),
  ]);
  await expect.poll(() => pids().filter(isAlive)).toEqual([]);
  const { verdict, checks } = JSON.parse(readFileSync(join(cwd, "c.json"), "utf8")) as Certificate;
  expect([verdict, checks.every(({ result, name }) => result === "not_judged" || name === "advice")]).toEqual(
    ["stopped", true],
  );
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
