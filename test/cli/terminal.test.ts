import { expect, test } from "vitest";
import { others } from "../support/coverage.js";
import { type RunOptions, runCli } from "../support/run-cli.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { client, clientFolder } from "./exec-client.js";

const widthOf = (text: string) => Math.max(...text.split("\n").map((line) => line.length));

// A terminal shortens longer narration.
const told = `version: 1
extends: bad-day
story:
  - say: A bank calls the API, and the first response is late.
  - request: { key: slow }
    expect: { status: 503, outcome: 429.per_minute }
  - advance: 61m
`;
const long = {
  "my.yaml": "version: 1\norganizations: { bank: { type: bnak, keys: [] } }\n",
  "told.yaml": told,
};
const lines: readonly (readonly string[])[] = [
  ["explain", "retiring", "key-states"],
  ["explain", "SVC_test_4eC39HqLyjWDarjtT1zdp7dc", "key-states"],
  ["play", "rotation", "--speed", "max"],
  ["verify", "told.yaml"],
  ["list"],
  ["validate", "my.yaml"],
  ["rotatoin"],
  ["start", "--now", "soon"],
  ["exec", "--no-such-flag", "--", "true"],
  ["report", "http://127.0.0.1:1"],
];

test.each(lines.map((argv) => [argv]))(
  "%j has the width of a terminal, and whole lines in a pipe",
  async (argv) => {
    const cwd = temporaryFolder(long);
    const said = async (options: RunOptions) => {
      const { stdout, stderr } = await runCli(argv, { cwd, env: { NO_COLOR: "1" }, ...options });
      return stdout + stderr;
    };
    expect(widthOf(await said({ terminal: true, columns: 80 }))).toBeLessThanOrEqual(80);
    expect(widthOf(await said({ terminal: true, columns: 300 }))).toBeLessThanOrEqual(100);
    // The signs of a terminal are words in a pipe.
    const own = /[✓✗·⏱]|passed|rejected|not reached|FAILED|\(\d+ ms\)|\.\d{3}Z/g;
    const words = (text: string) => text.replace(own, "").split(/\s+/).filter(Boolean);
    expect(words(await said({ terminal: true, columns: 80 }))).toEqual(words(await said({})));
  },
);

test("a command in a message stays whole, and the last column of a table continues below itself", async () => {
  const narrow = { terminal: true, columns: 60, env: { npm_command: "exec", NO_COLOR: "1" } };
  const { stderr } = await runCli(["exec"], narrow);
  expect(stderr).toMatch(/^npx --no-install svc-sandbox exec -- npm test$/m);
  const { stdout } = await runCli(["explain", "retiring", "key-states"], { ...narrow, columns: 70 });
  expect(stdout).toMatch(/^What to do {2}It works .*\n {12}before then\.$/m);
});

test("a first report fits on a screen, and shows the command for curl once", async () => {
  const argv = ["exec", "--", ...client("active", "revoked", "none")];
  const options = { cwd: clientFolder(), terminal: true, columns: 80, env: { NO_COLOR: "1" } };
  const { stderr } = await runCli(argv, options);
  expect(stderr.split("\n").length).toBeLessThanOrEqual(40 + (others.length && 3 + 6 * others.length));
  // A command stays whole.
  expect(widthOf(stderr.replace(/^.*curl .*$/gm, ""))).toBeLessThanOrEqual(80);
  expect(stderr.match(/curl/g)).toHaveLength(1 + others.length);
  expect(stderr).toContain("SVC_KEY_ORGANIZATION_INACTIVE");
});
