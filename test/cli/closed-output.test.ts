import { expect, test } from "vitest";
import { commands } from "../../src/cli/commands.js";
import { good } from "../stories/stories.js";
import { runCli } from "../support/run-cli.js";
import { startBin } from "../support/running-command.js";
import { served } from "../support/servers.js";
import { temporaryFolder } from "../support/temporary-folder.js";

/** Command lines that write until Ctrl-C, or for long; such a command must ask its output whether it has `room`. */
const endless: Readonly<Record<string, string>> = {
  fixtures: "fixtures farmers --count 1000000",
};

/** Lines of the commands that end before, each with its exit code. A sandbox runs, for commands that follow one. */
const ending: Readonly<Record<string, readonly [line: string, code: number]>> = {
  exec: ["exec -- true", 4],
  certify: ["certify --only plain -- true", 4],
  list: ["list", 0],
  show: ["show active", 0],
  init: ["init", 0],
  validate: ["validate good.yaml", 0],
  keys: ["keys", 0],
  verify: ["verify good.yaml", 0],
  play: ["play good.yaml", 0],
  explain: ["explain none", 0],
  compare: ["compare URL", 0],
  report: ["report", 0],
  stop: ["stop", 0],
  openapi: ["openapi", 0],
  schema: ["schema", 0],
};

/** Goes on, as a program may stop reading after the line of --json. */
const serving = { start: "start good.yaml --port 0 --json --log off" };

test("each command has a line that writes for long, ends by itself, or serves", () => {
  const tables = [endless, ending, serving];
  expect(tables.flatMap((table) => Object.keys(table)).sort()).toEqual(Object.keys(commands).sort());
});

test.each(Object.values(ending))("%s ends by itself, with %i", async (line, code) => {
  const { url, controlUrl = "" } = await served();
  const words = line.split(" ").map((word) => (word === "URL" ? url : word));
  const env = { PATH: process.env.PATH ?? "", SVC_CONTROL_URL: controlUrl };
  expect(await runCli(words, { cwd: temporaryFolder({ "good.yaml": good }), env })).toMatchObject({ code });
});

test("a server continues when nobody reads its output any more", async () => {
  const { child, until } = startBin(serving.start.split(" "), {
    cwd: temporaryFolder({ "good.yaml": good }),
  });
  const { control_url: controlUrl } = JSON.parse(await until(/\n/));
  child.stdout?.destroy();
  for (let n = 0; n < 3; n += 1) expect((await fetch(`${controlUrl}/ready`)).status).toBe(200);
});

test.skipIf(process.platform === "win32").each(Object.values(endless))(
  "%s ends once nobody reads it, as with | head -1",
  async (line) => {
    const cwd = temporaryFolder({ "good.yaml": good });
    const { child, until, ended } = startBin(line.split(" "), { cwd });
    await until(/\n/);
    child.stdout?.destroy();
    expect(await ended).toMatchObject({ code: 0, signal: null });
  },
);
