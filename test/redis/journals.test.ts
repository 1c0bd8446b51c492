import { expect, test } from "vitest";
import { handle } from "../../src/api/handle.js";
import { maskRequest } from "../../src/api/mask.js";
import { createInstances, describeServer } from "../../src/log/memory-log.js";
import { parseState, stateLine } from "../../src/log/state-format.js";
import { nodePlatform, openWorld } from "../../src/node/platform.js";
import { applyEntry, type Entry, openCopy } from "../../src/redis/sandbox-copy.js";
import { startAt } from "../../src/redis/stored-sandbox.js";
import { settled } from "../../src/sandbox/operations/operations.js";
import type { SandboxState } from "../../src/sandbox/sandbox.js";
import { describeSandbox } from "../../src/sandbox/start.js";
import { bundledScenarios } from "../../src/scenario/bundled.js";
import { runCall } from "../../src/server/control/routes/routes.js";
import { asked } from "../support/send.js";

const { active } = bundledScenarios;
const source = { scenario: active, name: "active" };
const longPath = `/v1/${"words/".repeat(80)}`;
const bytesOfAll = (runtimes: readonly SandboxState[]) =>
  runtimes.reduce((sum, { history }) => sum + history.bytes(), 0);

test("journals of instances are limited together: each loses its oldest requests, and all stay counted", () => {
  let now = 0;
  const open = () => openWorld(active, { name: "active" });
  const server = open();
  const mostJournals = 100_000;
  const platform = { ...nodePlatform, stopwatch: () => now };
  const instances = createInstances({ ...{ most: 10, server, platform, mostJournals } });
  const made = Array.from({ length: 4 }, () => instances.create(source, {}));
  const runtimes = made.map(({ runtime }) => runtime);
  for (let n = 0; n < 100; n += 1) {
    for (const { id, runtime } of made) {
      now += 1;
      instances.use(id);
      handle(settled(runtime), asked({ path: longPath }));
      expect(bytesOfAll(runtimes)).toBeLessThanOrEqual(mostJournals);
    }
  }
  expect(bytesOfAll(runtimes)).toBeGreaterThan(mostJournals / 3);
  const { instances: described } = describeServer({ runtime: server, instances });
  expect(described.map(({ runtime }) => runtime.recorded)).toEqual([100, 100, 100, 100]);
});

test("a state has each scenario once, and no path or advice that never was: an instance adds a third of a kB for each key", () => {
  const keyStates = bundledScenarios["key-states"];
  const open = () => openWorld(keyStates, { name: "key-states" });
  const textOf = (count: number) => {
    const server = open();
    const instances = createInstances({ most: 100, server, platform: nodePlatform });
    for (let n = 0; n < count; n += 1) instances.create({ scenario: keyStates, name: "key-states" }, {});
    const startedWith = { name: "key-states", sha256: "0" };
    return stateLine({ startedWith, ...describeServer({ runtime: server, instances }) }).text;
  };
  const [alone, ten] = [textOf(0), textOf(10)];
  expect(ten.length - alone.length).toBeLessThan(10 * 360 * open().registry.keys.size);
  const [one, other] = parseState(ten, "state.json").instances;
  expect(one?.runtime.scenario).toEqual(keyStates);
  expect(one?.runtime.scenario).toBe(other?.runtime.scenario);
});

test("a snapshot has at most 100 requests and 64 kB of a journal, and each copy continues from it in the same way", () => {
  const first = describeSandbox(
    startAt(0, { scenario: bundledScenarios["key-states"], name: "key-states" }, {}),
  );
  const one = openCopy(first, { given: {} }, runCall);
  let at = 0;
  const apply = (entry: Entry, copies = [one]) => {
    at += 1;
    return copies.map((copy) => applyEntry(copy, entry, `${at}-0`, 0));
  };
  const send = (path: string, copies = [one]) =>
    apply({ kind: "request", request: maskRequest(asked({ path }), nodePlatform.sha256) }, copies);
  const compact = () => JSON.parse(apply({ kind: "compact", least: 1, journal: 100 })[0] as string);
  for (let n = 0; n < 150; n += 1) send(`/v1/${n}`);
  expect(compact().exchanges).toHaveLength(100);
  for (let n = 0; n < 50; n += 1) send(`/v1/${"words/".repeat(600)}`);
  const state = compact();
  expect(JSON.stringify(state.exchanges).length).toBeLessThan(100_000);
  const late = openCopy(state, { given: {} }, runCall);
  send("/v1/last", [one, late]);
  const [requests, expected] = [late, one].map((copy) => copy.runtime.history.requests());
  expect(requests).toEqual(expected);
  expect(requests?.length).toBeGreaterThan(3);
});
