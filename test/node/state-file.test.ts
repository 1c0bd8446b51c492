import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { handle } from "../../src/api/handle.js";
import { readApiRequest } from "../../src/api/read-request.js";
import { nodePlatform, timers } from "../../src/node/platform.js";
import { bundledScenarios } from "../../src/scenario/bundled.js";
import { openStateFile } from "../../src/server/state-file.js";
import { temporaryFolder } from "../support/temporary-folder.js";

/** A state file whose saves take 100 ms of a time that only `pass` moves. */
async function openSlow() {
  let now = 0;
  let tick = () => {};
  const scenario = bundledScenarios.active;
  const file = join(temporaryFolder(), "state.json");
  const startedScenario = vi.fn(() => {
    now += 100;
    return { scenario, name: "active" };
  });
  const spies = [
    vi.spyOn(nodePlatform, "stopwatch").mockImplementation(() => now),
    vi.spyOn(timers, "setInterval").mockImplementation(((act: () => void) => {
      tick = act;
      return { unref() {} };
    }) as unknown as typeof setInterval), // only these members are used
  ];
  const settings = { source: { scenario, name: "active" }, platform: nodePlatform };
  const options = { name: file, startedScenario, onProblem() {} };
  const stateFile = await openStateFile(settings, options);
  const { sandbox } = stateFile;
  stateFile.startSaving();
  onTestFinished(() => {
    stateFile.close();
    for (const spy of spies) spy.mockRestore();
  });
  return {
    stateFile,
    saved: () => JSON.parse(readFileSync(file, "utf8")).sandbox.requestIds.count as number,
    request: () => handle(sandbox, readApiRequest({ method: "GET", path: "/none", query: "", headers: [] })),
    failOnce() {
      startedScenario.mockImplementationOnce(() => {
        now += 100;
        throw new Error("disk error");
      });
    },
    pass(ms: number) {
      now += ms;
      tick();
    },
  };
}

test("requests wait for the pace of saves, and a control call does not", async () => {
  const { stateFile, saved, request, pass } = await openSlow();
  request();
  pass(999);
  expect(saved()).toBe(0);
  pass(1);
  expect(saved()).toBe(1);
  request();
  stateFile.save();
  expect(saved()).toBe(2);
});

test("requests also wait after a save that failed", async () => {
  const { stateFile, saved, request, failOnce, pass } = await openSlow();
  request();
  failOnce();
  expect(() => stateFile.save()).toThrow("disk error");
  pass(999);
  expect(saved()).toBe(0);
  pass(1);
  expect(saved()).toBe(1);
});

test("a state file that is closed again does nothing: another process may have it by then", async () => {
  const { stateFile, saved, request } = await openSlow();
  stateFile.close();
  request();
  stateFile.close();
  stateFile.save();
  expect(saved()).toBe(0);
});
