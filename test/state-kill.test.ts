import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, onTestFinished, test } from "vitest";
import { control } from "./support/call-control.js";
import {
  type Acknowledged,
  lostWrites,
  nothingAcknowledged,
  writersScenario,
  writeUntilGone,
} from "./support/state-writers.js";
import { temporaryFolder } from "./support/temporary-folder.js";

const bin = join(import.meta.dirname, "../bin/svc-sandbox.js");
const kills = 50;
const writes = 1000;

interface Running {
  readonly child: ChildProcess;
  readonly controlUrl: string;
}

/** Starts the built command on a state; fails when it does not come up. */
async function start(cwd: string): Promise<Running> {
  const argv = [bin, "start", "world.json", "--state", "state.json", "--port", "0", "--json", "--log", "off"];
  const child = spawn(process.execPath, argv, { cwd, stdio: ["ignore", "pipe", "pipe"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  const stderr: string[] = [];
  child.stderr.setEncoding("utf8").on("data", (text) => stderr.push(text));
  const ended = once(child, "exit").then(() => {
    throw new Error(`svc-sandbox did not go on: ${stderr.join("")}`);
  });
  const [line] = await Promise.race([once(createInterface({ input: child.stdout }), "line"), ended]);
  ended.catch(() => {});
  return { child, controlUrl: JSON.parse(line).control_url };
}

/** Kills the server in the middle of the writes, once so many of them are acknowledged. */
async function killAmongWrites({ child, controlUrl }: Running, after: number): Promise<Acknowledged> {
  const known = nothingAcknowledged();
  const gone = once(child, "exit");
  const writing = writeUntilGone(controlUrl, known, writes);
  const watching = setInterval(() => known.count >= after && child.kill("SIGKILL"), 1);
  await gone;
  clearInterval(watching);
  await writing;
  return known;
}

test(`after kill -9 in the middle of ${writes} writes no acknowledged one is lost, ${kills} times over`, async () => {
  const cwd = temporaryFolder({ "world.json": JSON.stringify(writersScenario) });
  let running = await start(cwd);
  let acknowledged = 0;
  for (let i = 0; i < kills; i++) {
    // From a kill among the first writes to one among the last.
    const known = await killAmongWrites(
      running,
      Math.round((((i * 7) % kills) + 0.5) * (writes / kills) * 0.5),
    );
    running = await start(cwd);
    const { body } = await control(running.controlUrl, "GET /state");
    expect(lostWrites(body.data, known)).toEqual([]);
    acknowledged += known.count;
    // An acknowledged write as well: the next round begins with a small world.
    expect((await control(running.controlUrl, "POST /reset", {})).status).toBe(200);
  }
  running.child.kill("SIGTERM");
  await once(running.child, "exit");
  expect(
    readdirSync(cwd)
      .filter((name) => name !== "state.json.tmp")
      .sort(),
  ).toEqual(["state.json", "world.json"]);
  process.stdout.write(`${kills} kills, ${acknowledged} acknowledged writes, none lost.\n`);
});
