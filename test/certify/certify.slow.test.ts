import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { CertifyResult, Run } from "../../src/certify/result.js";
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

/** Certifies a planted client; what it came to, as the certificate says it. */
async function certify(mistake: string, ...flags: string[]) {
  const cwd = temporaryFolder();
  const argv = ["certify", "--json", "--promises", "none", ...flags, "--", ...planted(mistake)];
  const ran = await runCli(argv, { cwd });
  const certificate = ran.stdout === "" ? undefined : (JSON.parse(ran.stdout) as Certificate);
  const runs = new Map(certificate?.runs.map((run) => [run.name, run]));
  return { ...ran, certificate, outcomes: [...runs.values()].map(({ outcome }) => outcome), runs };
}

interface Certificate extends Pick<CertifyResult, "verdict" | "seeds" | "faults"> {
  readonly runs: readonly (Run & { readonly last_request?: { readonly path_id: string } })[];
}

/** Sends keys that end on five paths, the one of a limit last. */
const fivePaths = `Promise.all(["ACTIVE", "LIVE", "REVOKED", "EXPIRED", "RATE_LIMITED"].map((ref) =>
  fetch(process.env.SVC_BASE_URL + "/v1/relying-party/me", { headers: { "x-api-key": process.env["SVC_KEY_" + ref] } })))`;

const causes = (runs: ReadonlyMap<string, Run>) => [...runs.values()].flatMap(({ cause }) => cause ?? []);

test("a good client passes every run, those with faults too", async () => {
  const { code, certificate, outcomes, stderr } = await certify("none", "--seeds", "3", "--faults");
  expect([code, certificate?.verdict]).toEqual([0, "passed"]);
  expect(outcomes).toEqual(Array(12).fill("passed"));
  expect(stderr).toMatch(
    /^Running .*: 12 runs, \d+ in parallel\npassed {5}minimal {8}.* 5 requests\n19 more runs\b.*\n/,
  );
});

test.each([
  ["content_type", "200", /^fails when a (200|401) has .* in its `Content-Type`/],
  ["message", "401", /^fails when a 401 has .*message/],
])("a client that relies on %s gets this cause and no other", async (row, status, sentence) => {
  const { code, certificate, runs, stdout } = await certify(row, "--seeds", "4");
  expect([code, certificate?.verdict]).toEqual([1, "failed"]);
  expect(runs.get("minimal")?.outcome).toBe("passed");
  expect(causes(runs).length).toBeGreaterThan(0);
  for (const { sentence: words, points } of causes(runs)) {
    const rows = [...new Set(points.map((point) => point.row))];
    expect([rows, words]).toEqual([[row], expect.stringMatching(sentence)]);
  }
  const failed = [...runs.values()].filter(({ outcome }) => outcome === "failed");
  expect(failed.every(({ cause }) => cause !== undefined)).toBe(true);
  expect(failed.some(({ last_request: last }) => last?.path_id.startsWith(status))).toBe(true);
  const [failure] = JSON.parse(stdout).failures;
  expect(failure.output.join("\n")).toMatch(/found .*, and not /);
  expect(failure.rerun).toMatch(/^svc-sandbox exec key-states --profile varied --seed \d+ -- /);
});

/** The causes of three faults. */
const sentences: Readonly<Record<string, string>> = {
  "fault.hang":
    "still waiting after 8 s, when the first request that would end on 200.test never gets a response",
  "fault.reset": "fails when the first request has its connection reset",
  "fault.latency": "fails when the first request gets its response a second late",
};

// One after the other: two of these clients mind how long a response takes.
test.each(Object.keys(sentences))(
  "a client that gives up by %s breaks in that run, and in no other",
  async (fault) => {
    const { runs } = await certify(fault, "--seeds", "0", "--faults", "--timeout", "8s");
    const broken = [...runs.values()].filter(({ outcome }) => outcome !== "passed");
    expect(broken.map(({ name }) => name)).toEqual([fault]);
    expect(broken[0]).toMatchObject({
      outcome: fault === "fault.hang" ? "timed_out" : "failed",
      cause: { sentence: sentences[fault], points: [], fault },
    });
  },
);

describe("a command that cannot be certified", () => {
  test.each([
    ["broken", 1, "failed", /The command fails in the first run [\s\S]* Fix that first\.\n$/],
    ["idle", 4, "passed", /has sent no request\. Does it read the base URL from SVC_BASE_URL, /],
    ["waits", 1, "timed_out", /did not end in time\. Set a longer --timeout\. /],
  ])("%s gets this cause", async (mistake, expected, outcome, why) => {
    // The others have the time that a busy machine needs.
    const time = mistake === "waits" ? ["--timeout", "2s"] : [];
    const { code, certificate, outcomes, stderr } = await certify(mistake, "--seeds", "1", ...time);
    expect([code, certificate?.verdict, outcomes]).toEqual([
      expected,
      "unusable",
      [outcome, "not_run", "not_run"],
    ]);
    expect(stderr).toMatch(why);
  });

  test("is not there", async () => {
    const { code, stdout, stderr } = await runCli(["certify", "--", "no-such-command"]);
    expect([code, stdout]).toEqual([127, ""]);
    expect(stderr).toContain('Failed to run "no-such-command": there is no such command');
    expect(stderr).not.toContain("failed ");
  });

  test("that is flaky is called flaky, and not guilty", async () => {
    const { code, certificate, outcomes, runs } = await certify("flaky", "--seeds", "4", "--jobs", "1");
    expect([code, certificate?.verdict]).toEqual([1, "flaky"]);
    expect(outcomes).toEqual(["passed", "flaky", "passed", "passed", "passed", "passed"]);
    expect(causes(runs)).toEqual([]);
  });
});

test("megabytes of output are cut to the last lines, without keys and colors", async () => {
  // Maven ends a line with a color, and starts the next with a bracket.
  const talks =
    "process.stdout.write('x'.repeat(80).concat('\\n').repeat(100000)); console.log('a line\\n[ERROR] test \\x1b[31mfailed\\x1b[0m\\n' + process.env.SVC_API_KEY, 'last'); process.exitCode = 1";
  const { code, stdout } = await runCli(["certify", "--", process.execPath, "-e", talks]);
  expect(code).toBe(1);
  expect(stdout.match(/ x{80}$/gm)).toHaveLength(17);
  expect(stdout).toMatch(/^ +a line\n +\[ERROR\] test failed\n +SVC_test_\S*… last$/m);
  expect((await certify("loud", "--seeds", "0")).code).toBe(0);
});

test("R46 a key of the command line is shown nowhere", async () => {
  const key = "SVC_test_sbx0123456789abcdefghijklmnopq";
  const { stdout, stderr } = await runCli(["certify", "--", "false", key]);
  expect(stderr).toMatch(/^Running false SVC_test_\S*…/);
  expect(stdout + stderr).not.toContain(key);
});

test("Ctrl-C ends every child, and what is known is written", async () => {
  const cwd = temporaryFolder();
  // The first run passes; the others start children of their own, and wait.
  const script = `
    const { spawn } = require("node:child_process"), fs = require("node:fs");
    ${fivePaths}.then(() => {
      if (!fs.existsSync("first")) return fs.writeFileSync("first", "");
      const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { stdio: "ignore" });
      fs.appendFileSync("pids", process.pid + " " + child.pid + "\\n");
      process.on("SIGINT", () => {});
      setInterval(() => {}, 1000);
    });`;
  writeFileSync(join(cwd, "client.cjs"), script);
  const argv = ["certify", "--jobs", "3", "--certificate", "c.json", "--", process.execPath, "client.cjs"];
  const { child, ended } = startBin(argv, { cwd });
  const pids = () => {
    try {
      return readFileSync(join(cwd, "pids"), "utf8").trim().split(/\s+/).map(Number);
    } catch {
      return [];
    }
  };
  await expect.poll(() => pids().length).toBe(6);
  child.kill("SIGINT");
  const { code, stdout } = await ended;
  expect([code, stdout]).toEqual([130, expect.stringContaining("minimal")]);
  await expect.poll(() => pids().filter(isAlive)).toEqual([]);
  const { runs, verdict } = JSON.parse(readFileSync(join(cwd, "c.json"), "utf8")) as Certificate;
  expect(runs.map(({ outcome }) => outcome)).toEqual(["passed", ...Array(21).fill("not_run")]);
  expect(verdict).toBe("unusable");
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
