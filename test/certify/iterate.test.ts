import { join } from "node:path";
import { expect, test } from "vitest";
import { conditionedRun } from "../../src/api/conditioned-run.js";
import { bodyParts, faultsOn } from "../../src/api/faults.js";
import { handle } from "../../src/api/handle.js";
import { nodePlatform } from "../../src/node/platform.js";
import { faultKinds } from "../../src/rules/fault-effects.js";
import type { Delivery } from "../../src/sandbox/journal/exchange.js";
import { scenarioSecret } from "../../src/sandbox/secrets.js";
import { startSandbox } from "../../src/sandbox/start.js";
import { bundledScenarios } from "../../src/scenario/bundled.js";
import { startFrozen } from "../support/doors.js";
import { root } from "../support/pages.js";
import { runCli } from "../support/run-cli.js";
import { asked } from "../support/send.js";

const planted = (mistake: string) => [
  process.execPath,
  join(root, "test/support/planted-client.js"),
  "--mistake",
  mistake,
];
const certify = (mistake: string, ...flags: string[]) =>
  runCli(["certify", ...flags, "--", ...planted(mistake)]);
const runsIn = (stderr: string) =>
  stderr.split("\n").flatMap((line) => /^(?:passed|failed|noticed) +(\S+(?: \d+)?) /.exec(line)?.[1] ?? []);

test("--only makes the named runs besides minimal", async () => {
  const names = ["varied 7", "fault.reset", "401.revoked:accepted"];
  const { code, stdout, stderr } = await certify("none", ...names.flatMap((name) => ["--only", name]));
  expect(runsIn(stderr).sort()).toEqual(["minimal", ...names].sort());
  expect([code, stdout]).toEqual([
    0,
    expect.stringContaining("Passed: 3 of 3 runs. Noticed 1 of 1 covered promise."),
  ]);
});

test("--budget ends all runs in time, shows which are left, and certifies nothing", async () => {
  const { code, stdout, stderr } = await certify("none", "--budget", "1ms", "--seeds", "3", "--faults");
  expect([code, runsIn(stderr)]).toEqual([1, ["minimal"]]);
  expect(stdout).toMatch(/^ {2}typical and \d+ more +not run/m);
  const [, left, all] = /^Not certified: (\d+) runs of (\d+) were not made\.$/m.exec(stdout) ?? [];
  expect(Number(all)).toBeGreaterThan(faultKinds.length);
  expect(Number(left)).toBe(Number(all) - 1);
});

test("a run with a fault can be seen again with exec --fault", async () => {
  const { stdout } = await certify("fault.reset", "--only", "fault.reset");
  const [, flags = ""] = /see it again +svc-sandbox exec key-states (.*?) -- /.exec(stdout) ?? [];
  expect(flags).toBe("--profile minimal --seed 1 --fault fault.reset");
  const again = (fault: string, mistake: string) =>
    // exec passes on what the client prints: without the end of a client that fails.
    runCli(["exec", "--fault", fault, "--quiet", "--", "sh", "-c", '"$0" "$@" 2>&-', ...planted(mistake)]);
  expect((await again("fault.reset", "fault.reset")).code).not.toBe(0);
  expect((await again("fault.reset@401.revoked", "fault.reset")).code).not.toBe(0);
  expect((await again("fault.reset@429.per_day", "fault.reset")).code).toBe(0);
  for (const [fault, hint] of [
    ["fault.rest", 'Did you mean "fault.reset"?'],
    ["fault.reset@401.revokd", 'Did you mean "401.revoked"?'],
    ["nothing", "Use one such as fault.hang or fault.hang@401.revoked."],
  ] as const)
    expect(await again(fault, "none")).toMatchObject({ code: 2, stderr: expect.stringContaining(hint) });
});

test("a slow response takes about a second on each path, however long its body is", () => {
  const refs = ["active", "live", "revoked", "organization-inactive", "rate-limited"];
  const paths = ["200.test", "200.live", "401.revoked", "403.access_denied", "429.per_day"] as const;
  const sandbox = startFrozen("key-states", {
    run: conditionedRun({ faults: faultsOn(paths, "fault.slow") }),
  });
  for (const ref of refs) {
    const apiKey = scenarioSecret(sandbox, ref);
    const { response, delivery } = handle(sandbox, asked({ apiKey }));
    const { parts, pauseMs } = bodyParts(response.body, delivery as Delivery);
    expect(parts.length).toBeGreaterThan(10);
    expect(parts.length * pauseMs).toBeLessThan(1_200);
  }
});

test("a fault changes the response that it hits and nothing else: a limit of the minute ends with the minute", () => {
  let time = Date.UTC(2026, 2, 2, 9, 0, 50);
  const run = conditionedRun({ faults: faultsOn(["200.test"], "fault.slow") });
  const platform = { ...nodePlatform, steadyTime: () => time, run };
  const sandbox = startSandbox(bundledScenarios["key-states"], { platform, now: time });
  const ask = () => {
    const apiKey = scenarioSecret(sandbox, "rate-limited-minute");
    return handle(sandbox, asked({ apiKey })).status;
  };
  expect(ask()).toBe(429);
  time += 9_999;
  expect(ask()).toBe(429);
  time += 1;
  expect(ask()).toBe(200);
});
