import { readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type CertifyResult, certificateOf, readCertificate } from "../../src/certify/result.js";
import { elementsOf } from "../report/xml-elements.js";
import { root } from "../support/pages.js";
import { runCli } from "../support/run-cli.js";
import { startBin } from "../support/running-command.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const client = join(root, "test/support/planted-client.js");
const planted = (mistake: string) => ["--", process.execPath, client, "--mistake", mistake];

/** Certifies a planted client in a folder of its own; the folder with the certificate, and what it says. */
async function certified(mistake: string, flags: readonly string[] = [], files = {}) {
  const cwd = temporaryFolder({ "out/.keep": "", ...files });
  const outputs = ["--certificate", "out/certificate.json", "--certificate", "page.html", "--badge", "b.svg"];
  const { code, stderr } = await runCli(["certify", ...flags, ...outputs, ...planted(mistake)], { cwd });
  const file = join(cwd, "out/certificate.json");
  const read = readCertificate(readFileSync(file, "utf8"));
  if ("problem" in read) throw new Error(read.problem);
  return { cwd, file, code, stderr, result: read.result };
}

test("a certificate verifies in another folder, time zone and language", async () => {
  const { file, cwd, code, result } = await certified("content_type", ["--seeds", "3", "--faults"]);
  expect([code, result.verdict]).toEqual([1, "failed"]);
  expect(readFileSync(join(cwd, "page.html"), "utf8")).toMatch(/^<!doctype html>/);
  const [badge] = elementsOf(readFileSync(join(cwd, "b.svg"), "utf8"));
  expect(badge?.attributes["aria-label"]).toMatch(/failed$/);
  const elsewhere = { TZ: "Pacific/Chatham", LANG: "ar_EG.UTF-8", LC_ALL: "ar_EG.UTF-8" };
  const argv = ["certify", "--verify", file, ...planted("content_type")];
  const {
    code: verified,
    stdout,
    stderr,
  } = await startBin(argv, { cwd: temporaryFolder(), env: elsewhere }).ended;
  expect([verified, stdout]).toEqual([
    0,
    expect.stringMatching(/\nVerified: all \d+ facts are the same\.\n$/),
  ]);
  expect(stderr).toMatch(
    /^Verifying .*certificate\.json" with the same runs: failed, 12 runs against key-states, [\s\S]*\sRunning [\s\S]*planted-client/,
  );
});

test("without a command, --verify runs nothing, and shows the command of the certificate without keys", async () => {
  const key = "SVC_test_sbx0123456789abcdefghijklmnopq";
  const command = ["sh", "-c", "touch ran; :", "--key", key];
  const cwd = temporaryFolder({ "c.json": JSON.stringify({ ...certificateOf(forgery).json, command }) });
  const { code, stdout, stderr } = await runCli(["certify", "--verify", "c.json"], { cwd });
  expect([code, stdout, readdirSync(cwd)]).toEqual([2, "", ["c.json"]]);
  expect(stderr).toMatch(/ certify --verify c\.json -- sh -c 'touch ran; :' --key SVC_test_\S*…\n/);
  expect(stderr).not.toContain(key);
});

test("a certificate of --bail verifies by the runs that were made", async () => {
  const { file, cwd, result } = await certified("content_type", ["--bail", "--jobs", "1", "--seeds", "6"]);
  expect(result.runs.at(-1)?.outcome).toBe("not_run");
  const { code, stdout } = await runCli(["certify", "--verify", file, ...planted("content_type")], { cwd });
  expect([code, stdout]).toEqual([0, expect.stringMatching(/leaves out \d runs\. .*\n\nVerified: all/s)]);
});

describe("a certificate does not verify", () => {
  test("by a command that is not there", async () => {
    const cwd = temporaryFolder({ "c.json": JSON.stringify(certificateOf(forgery).json) });
    const { code, stdout, stderr } = await runCli(["certify", "--verify", "c.json", "--", "no-such"], {
      cwd,
    });
    expect([code, stdout]).toEqual([127, ""]);
    expect(stderr).toMatch(
      /\nFailed to run "no-such": .*\nNot verified: not all runs of "c\.json" could be repeated/,
    );
  });

  test("when it reports something wrong about another client", async () => {
    const { file, cwd } = await certified("none", ["--seeds", "1"]);
    const argv = ["certify", "--verify", file, "--json", ...planted("broken")];
    const { code, stdout } = await runCli(argv, { cwd });
    const { verified, differences, notes } = JSON.parse(stdout);
    expect([code, verified]).toEqual([1, false]);
    expect(differences).toContainEqual({ fact: "verdict", certified: "passed", now: "unusable" });
    expect(notes).toEqual([
      expect.stringMatching(/^The certificate names the command .* none; this run used .* broken\.$/),
    ]);
  });

  test.each([
    ...["/etc/passwd", "../secret.txt", "../out/../secret.txt", "link.yaml", "folder/secret.txt", "-", ".."],
    ...["notes.txt", "not-valid.yaml", "not-there.yaml", "folder", "../not-there", "/dev/stdin"],
  ])("when its scenario is %s: no part of a file is shown", async (scenario) => {
    const line = "svc_secret: of a file";
    const outside = temporaryFolder({ "secret.txt": line, "own/notes.txt": line });
    const cwd = join(outside, "own");
    writeFileSync(join(cwd, "not-valid.yaml"), `version: 1\n${line}\n`);
    symlinkSync(join(outside, "secret.txt"), join(cwd, "link.yaml"));
    symlinkSync(outside, join(cwd, "folder"));
    writeFileSync(join(cwd, "c.json"), JSON.stringify({ ...certificateOf(forgery).json, scenario }));
    const argv = ["certify", "--verify", "c.json", "--", "touch", "ran"];
    const { code, stdout, stderr } = await runCli(argv, { cwd, input: line });
    expect([code, stdout, stderr]).toEqual([2, "", expect.stringContaining(JSON.stringify(scenario))]);
    expect(stderr).not.toMatch(/svc_secret|of a file|root:|ran\b/);
    expect(readdirSync(cwd)).not.toContain("ran");
  });

  test("when it is cut short: nothing is run", async () => {
    const text = JSON.stringify(certificateOf(forgery).json, null, 2);
    const cwd = temporaryFolder({ "c.json": text.slice(0, -20) });
    const { code, stdout, stderr } = await runCli(["certify", "--verify", "c.json", "--", "true"], { cwd });
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toBe('Failed to verify "c.json": It is not valid JSON, or not a complete file.\n');
  });
});

const forgery: CertifyResult = {
  scenario: "key-states",
  scenarioDigest: "0".repeat(64),
  specification: "0.1.0",
  sandbox: "0.1.0",
  seeds: [],
  faults: [],
  command: ["true"],
  startedAt: "2026-03-02T09:00:00.000Z",
  durationMs: 1,
  runs: [],
  verdict: "failed",
  promises: { kinds: "none", tried: 0, noticed: 0, runs: [] },
  notTried: [],
  gates: { failOn: "error", minCoverage: 0 },
  unmet: [],
  report: {
    ...{ scenario: "key-states", seed: 1, profile: "minimal", pinned: [], requests: 0, unread: 0 },
    coverage: { percent: 0, met: 0, promised: 1 },
    faults: { met: 0, total: 1 },
    ...{ endpoints: [], paths: [], advice: [], repeats: [] },
  },
};
