import { spawnSync } from "node:child_process";
import { symlinkSync } from "node:fs";
import { delimiter, join } from "node:path";
import { describe, expect, it, test } from "vitest";
import { runCli } from "../support/run-cli.js";
import { bin, startBin } from "../support/running-command.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const scenario = `
version: 1
organizations: { bank: { type: bank, keys: { main: { environment: test }, made-last: { environment: test } } } }
`;
const folder = () => temporaryFolder({ "svc-sandbox.yaml": scenario });

describe("completion", () => {
  async function fitting(words: readonly string[], cwd = folder()) {
    const { stdout } = await runCli(["completion", "complete", "--", ...words], { cwd });
    const lines = stdout.trimEnd().split("\n");
    return { values: lines.slice(0, -1).map((line) => line.split("\t")[0]), files: lines.at(-1) === ":0" };
  }

  it.each([
    ["a command", ["expl"], ["explain"], true],
    ["a scenario after a flag and its value", ["start", "--port", "1", "rot"], ["rotation"], true],
    ["a file in place of a scenario", ["start", "mi"], [], true],
    ["a key of this folder's scenario", ["explain", "ma"], ["main", "made-last", "malformed"], false],
    ["the scenario after a key", ["explain", "main", "rot"], ["rotation"], true],
    ["a flag", ["--until"], ["--until-stdin-ends"], false],
    ["a flag's choice after =", ["report", "--format=j"], ["json", "junit"], false],
    [
      "a flag's choice after =, as bash splits it",
      ["report", "--format", "=", "j"],
      ["json", "junit"],
      false,
    ],
    ["a flag's file", ["start", "--state", ""], [], true],
    ["one of a few words, once", ["schema", "scenario", ""], [], false],
    ["each of several scenarios", ["verify", "active", "mine.yaml", "rot"], ["rotation"], true],
    ["a file of the command behind --", ["exec", "--", "start", "--po"], [], true],
  ])("completes %s", async (_what, words, values, files) => {
    expect(await fitting(words)).toEqual({ values, files });
  });

  it("completes no key of a scenario that cannot be read", async () => {
    const cwd = temporaryFolder({ "svc-sandbox.yaml": "version: 7\n" });
    expect(await fitting(["explain", "m"], cwd)).toEqual({ values: ["malformed"], files: false });
  });

  it("prints a script for zsh that calls it", async () => {
    const { code, stdout, stderr } = await startBin(["completion", "zsh"]).ended;
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toMatch(/svc-sandbox completion complete '?--'? /);
  });
});

const inBash = `eval "$(svc-sandbox completion bash)"
COMP_WORDS=(svc-sandbox explain ma) COMP_CWORD=2
_svc_sandbox && echo "\${COMPREPLY[@]}"`;
const inFish = `svc-sandbox completion fish | source; complete -C "svc-sandbox explain ma"`;
const shells = [
  ["bash", inBash],
  ["fish", inFish],
] as const;

test.each(
  shells.filter(([shell]) => spawnSync(shell, ["-c", "true"]).status === 0),
)("the script of %s completes a key", (shell, script) => {
  const cwd = folder();
  symlinkSync(bin, join(cwd, "svc-sandbox"));
  const env = { HOME: cwd, PATH: [cwd, process.env.PATH].join(delimiter) };
  const { stdout, stderr } = spawnSync(shell, ["-c", script], { cwd, env, encoding: "utf8" });
  expect([stdout.trim().split(/\s+/).sort(), stderr]).toEqual([["made-last", "main", "malformed"], ""]);
});
