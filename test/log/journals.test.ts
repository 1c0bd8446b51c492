import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { handle } from "../../src/api/handle.js";
import { runCall } from "../../src/control/run-call.js";
import { openFileLog } from "../../src/log/file/file-log.js";
import { createStateWriter, parseState } from "../../src/log/file/format.js";
import { createInstances, describeServer, newInstanceId } from "../../src/log/instances.js";
import { copyInstance } from "../../src/log/replica/copies.js";
import type { EntryContent } from "../../src/log/replica/entries.js";
import { firstStateOf } from "../../src/log/replica/registry.js";
import type { FirstState, LogSnapshot } from "../../src/log/replica/shared-log.js";
import { nodePlatform, openWorld } from "../../src/node/platform.js";
import { bundledScenarios } from "../../src/scenario/bundled.js";
import { createRuntime, type Runtime } from "../../src/world/runtime.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const { active } = bundledScenarios;
const source = { scenario: active, name: "active" };
const longPath = `/v1/${"words/".repeat(80)}`;
const bytesOfAll = (runtimes: readonly Runtime[]) =>
  runtimes.reduce((sum, { history }) => sum + history.bytes(), 0);

test("journals of instances are limited together: the largest lose their oldest requests, and all stay counted", () => {
  const open = () => openWorld(active, { name: "active" });
  const server = createRuntime(open);
  const mostJournals = 100_000;
  const instances = createInstances({
    ...{ most: 10, server, platform: nodePlatform, newId: newInstanceId, mostJournals },
  });
  const [small, ...large] = Array.from({ length: 4 }, () => instances.create(source, {}).runtime) as [
    Runtime,
    ...Runtime[],
  ];
  const ask = ({ world }: Runtime) =>
    handle(world(), { method: "GET", path: longPath, apiKey: undefined }).number;
  for (let n = 0; n < 3; n += 1) ask(small);
  const last = new Map<Runtime, number>();
  for (let n = 0; n < 100; n += 1) {
    for (const one of large) last.set(one, ask(one));
    expect(bytesOfAll([small, ...large])).toBeLessThanOrEqual(mostJournals);
  }
  expect(small.history.requests()).toHaveLength(3);
  for (const one of large) {
    const { history } = one;
    expect(history.total()).toBe(100);
    expect(history.requests().length).toBeGreaterThan(15);
    expect(history.requests().at(-1)?.number).toBe(last.get(one));
  }
  const { instances: described } = describeServer({ runtime: server, instances });
  expect(described.map(({ runtime }) => runtime.recorded)).toEqual([3, 100, 100, 100]);
});

test("the least used instances lose their journals, half of all bytes", () => {
  let now = 0;
  const open = () => openWorld(active, { name: "active" });
  const platform = { ...nodePlatform, stopwatch: () => now };
  const instances = createInstances({
    ...{ most: 10, server: createRuntime(open), platform, newId: newInstanceId },
  });
  const made = Array.from({ length: 4 }, () => instances.create(source, {}));
  for (const { runtime } of made) {
    for (let n = 0; n < 5; n += 1) {
      handle(runtime.world(), { method: "GET", path: longPath, apiKey: undefined });
    }
  }
  for (const index of [2, 0, 3, 1]) {
    now += 1;
    instances.use(made[index]?.id as string);
  }
  instances.discardJournals();
  expect(made.map(({ runtime }) => runtime.history.requests().length)).toEqual([0, 5, 0, 5]);
  expect(made.map(({ runtime }) => runtime.history.total())).toEqual([5, 5, 5, 5]);
});

test("a state file loses the requests that an instance has lost because of others", async () => {
  const file = join(temporaryFolder(), "state.json");
  const log = await openFileLog(
    { file, given: file },
    {
      own: () => ({ scenario: active, name: "active" }),
      start: () => openWorld(active, { name: "active" }),
      given: {},
      onProblem: (error) => expect.unreachable(String(error)),
    },
  );
  onTestFinished(() => log.close());
  log.begin();
  const { runtime } = log.instances.create(source, {});
  const savedAfter = (asked: Runtime) => {
    handle(asked.world(), { method: "GET", path: longPath, apiKey: undefined });
    const call = { route: "POST /reset", actor: "administrator", params: {}, query: {}, body: {} } as const;
    const caller = { runtime: log.runtime, instance: undefined, baseUrl: () => "" };
    log.call({ ...call, isYaml: false }, () => undefined, caller);
    return JSON.parse(readFileSync(file, "utf8")).instances[0].runtime.exchanges.length;
  };
  expect(savedAfter(runtime)).toBe(1);
  log.instances.keepJournals(0);
  expect(savedAfter(log.runtime)).toBe(0);
});

test("a state has each scenario once, and no path or advice that never was: an instance adds 5 kB", () => {
  const keyStates = bundledScenarios["key-states"];
  const open = () => openWorld(keyStates, { name: "key-states" });
  const textOf = (count: number) => {
    const server = createRuntime(open);
    const instances = createInstances({ most: 100, server, platform: nodePlatform, newId: newInstanceId });
    for (let n = 0; n < count; n += 1) instances.create({ scenario: keyStates, name: "key-states" }, {});
    const startedWith = { name: "key-states", sha256: "0" };
    return createStateWriter()({ startedWith, ...describeServer({ runtime: server, instances }) }, "a.1");
  };
  const [alone, ten] = [textOf(0), textOf(10)];
  expect(ten.length - alone.length).toBeLessThan(10 * 5_400);
  const [one, other] = parseState(ten, "state.json").instances;
  expect(one?.runtime.scenario).toEqual(keyStates);
  expect(one?.runtime.scenario).toBe(other?.runtime.scenario);
});

test("a snapshot has at most 4 MB of an instance's journal, and each copy continues from it in the same way", () => {
  let count = 0;
  const listed = { id: "a", tenancy: {}, createdAt: 0, usedAt: 0, name: "active", seed: 1 };
  const announced = bundledScenarios["announced-endpoints"];
  const registered = { ...listed, given: {}, idGroup: 1, source: { scenario: announced, name: "announced" } };
  const [one, late] = [copyInstance(registered, runCall), copyInstance(registered, runCall)];
  const { text } = firstStateOf(registered) as FirstState;
  one.startFrom({ position: "0", text });
  const apply = (content: EntryContent, copies = [one]) => {
    count += 1;
    const entry = { ...content, by: "a", n: count };
    return copies.map((copy) => copy.apply(entry, { position: String(count), at: count, text: "" }));
  };
  const body = { text: "words ".repeat(1500) };
  const input = { query: "", contentType: "application/json", idempotencyKey: undefined, body };
  const path = "/v1/relying-party/consent-requests";
  const content = {
    kind: "request",
    request: { method: "POST", path, apiKey: undefined, content: input, hashes: [] },
  } as const;
  for (let n = 0; n < 900; n += 1) apply(content);
  expect(one.runtime().history.bytes()).toBeGreaterThan(5e6);
  const [outcome] = apply({ kind: "compact", least: 0 });
  const snapshot = (outcome as { readonly value: LogSnapshot }).value;
  expect(snapshot.text.length).toBeLessThan(4.5e6);
  late.startFrom(snapshot);
  apply(content, [one, late]);
  const [requests, expected] = [late, one].map((copy) => copy.runtime().history.requests());
  expect(requests).toEqual(expected);
  expect(requests?.length).toBeGreaterThan(100);
});
