import { join } from "node:path";
import { expect, test } from "vitest";
import type { CertifyResult } from "../../src/certify/result.js";
import { root } from "../support/pages.js";
import { runCli } from "../support/run-cli.js";
import { temporaryFolder } from "../support/temporary-folder.js";

// Small clients and suites whose commands end as if they had passed, or failed, for another reason.

interface Certificate
  extends Pick<CertifyResult, "verdict" | "runs" | "promises" | "gates" | "unmet">,
    Pick<CertifyResult, "verdict"> {
  readonly retries: Exclude<CertifyResult["retries"], undefined>;
  readonly not_tried: readonly {
    readonly kind: string;
    readonly what: string;
    readonly what_to_do: string;
  }[];
}

/** Certifies a client of the folder, in an empty folder. */
async function certify(client: string, ...flags: string[]) {
  const argv = [
    "certify",
    "--json",
    ...flags,
    "--",
    process.execPath,
    join(root, "test/clients/evidence", client),
  ];
  const { code, stdout, stderr } = await runCli(argv, { cwd: temporaryFolder() });
  const certificate = JSON.parse(stdout) as Certificate;
  const ofRuns = certificate.runs.map(({ name, outcome }) => `${name} ${outcome}`);
  return { code, stderr, ofRuns, ...certificate };
}

test("a command that sends requests only in its first run shows nothing, with the runner's option against it", async () => {
  const { code, verdict, ofRuns, not_tried } = await certify(
    "cached.mjs",
    "--seeds",
    "1",
    "--faults",
    "--promises",
    "none",
  );
  expect([code, verdict]).toEqual([1, "unusable"]);
  expect(ofRuns.slice(1).every((run) => run.endsWith("not_tried"))).toBe(true);
  expect(not_tried.find(({ kind }) => kind === "run")).toMatchObject({
    why: expect.stringContaining("sent no request"),
    what_to_do: expect.stringContaining("--rerun-tasks"),
  });
});

test.each([
  ["a suite that sets the profile", "sets-profile.mjs", "varied 3", "`Content-Type`"],
  ["a suite that clears the faults", "clears-faults.mjs", "fault.reset", "its connection reset"],
])("%s changes no condition of a run", async (_, client, name, part) => {
  const { code, verdict, runs } = await certify(client, "--only", name);
  expect([code, verdict]).toEqual([1, "failed"]);
  expect(runs.find((run) => run.name === name)?.cause?.sentence).toContain(part);
});

test("assumptions that a suite sets are not tried", async () => {
  const { verdict, not_tried } = await certify("sets-assumptions.mjs", "--seeds", "3", "--promises", "none");
  expect(verdict).toBe("passed");
  const open = not_tried.filter(({ kind }) => kind === "assumptions").map(({ what }) => what);
  expect(open).toEqual(["`rate_limit_code` and `www_authenticate`"]);
});

test("a date in the Retry-After of a 429 is tried", async () => {
  const { code, retries } = await certify("date-as-number.mjs", "--only", "retries");
  const failed = retries.filter(({ outcome }) => outcome === "failed").map(({ after }) => after);
  expect([code, failed]).toEqual([5, ["429 with a date"]]);
});

test("a fault leaves the clock alone: a client that waits for the next minute passes", async () => {
  const late = ["--now", "2026-03-02T09:00:45Z"];
  const { code, ofRuns } = await certify("next-minute.mjs", ...late, "--only", "fault.reset");
  expect([code, ofRuns]).toEqual([0, ["minimal passed", "fault.reset passed"]]);
});

test("a correct suite that sends a random number of requests is not accused", async () => {
  const { verdict, retries, unmet } = await certify("random-count.mjs", "--seeds", "3", "--promises", "none");
  expect(verdict).toBe("passed");
  expect([unmet, retries.filter(({ outcome }) => outcome === "failed")]).toEqual([[], []]);
});

test("a suite that fails only next to another run passes, and its runs go on one at a time", async () => {
  const flags = ["--jobs", "2", "--seeds", "6"];
  const { code, ofRuns, stderr, promises } = await certify("shared-folder.mjs", ...flags);
  expect([code, ofRuns.filter((run) => !run.endsWith(" passed"))]).toEqual([0, []]);
  expect(stderr).toMatch(/failed next to another run, and passed alone: .* --jobs 1\.\n/);
  expect(promises.runs.map(({ outcome }) => outcome)).toEqual(Array(promises.runs.length).fill("noticed"));
});
