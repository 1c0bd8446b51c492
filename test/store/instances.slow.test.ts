import { expect, test } from "vitest";
import { handle } from "../../src/api/handle.js";
import { nodePlatform, startInNode } from "../../src/node/platform.js";
import { describeSandbox } from "../../src/sandbox/start.js";
import { bundledScenarios } from "../../src/scenario/bundled.js";
import { instanceState } from "../../src/store/instances.js";
import { createInstances } from "../../src/store/memory-store.js";
import { asked } from "../support/send.js";

test("an instance with an expiry stays until then, used or not; any other until it was idle for its time", () => {
  let now = 0;
  const open = () => startInNode(bundledScenarios.active, { name: "active" });
  const platform = { ...nodePlatform, time: () => 1e12 + now, stopwatch: () => now };
  const instances = createInstances({ ...{ max: 10, server: open(), platform } });
  const idle = instances.create({ scenario: bundledScenarios.active, name: "active" }, {});
  const expiring = instances.create(
    { scenario: bundledScenarios.active, name: "active" },
    {},
    { expiresAt: 1e12 + 5000 },
  );
  const idsAt = (time: number) => {
    now = time;
    instances.sweep(1000);
    return instances.list().map(({ id }) => id);
  };
  expect(idsAt(999)).toEqual([idle.id, expiring.id]);
  expect(idsAt(1000)).toEqual([expiring.id]);
  instances.use(expiring.id);
  expect(idsAt(4999)).toEqual([expiring.id]);
  expect(idsAt(5000)).toEqual([]);
});

const source = { scenario: bundledScenarios.active, name: "active" };

/** Instances of a server without a clock of its own: `clock.now` is the stopwatch. */
function opened(options: Partial<Parameters<typeof createInstances>[0]> = {}) {
  const clock = { now: 0 };
  const platform = { ...nodePlatform, time: () => 1e12 + clock.now, stopwatch: () => clock.now };
  const server = startInNode(bundledScenarios.active, { name: "active" });
  return { clock, server, instances: createInstances({ ...{ max: 2, server, platform }, ...options }) };
}

test("the ends of the last 1,000 instances are known, with how and when, and no end of an earlier one", () => {
  const { clock, instances } = opened();
  const gone: string[] = [];
  instances.onExpired(({ id }) => gone.push(id));
  for (let n = 0; n <= 1000; n += 1) {
    clock.now = n;
    const { id, gone } = instances.create(source, {}, {}, `i${n}`);
    instances.remove(id);
    expect(gone.aborted).toBe(true);
  }
  expect([instances.use("i0"), instances.use("i1")]).toEqual([undefined, { ended: "removed", at: 1e12 + 1 }]);
  expect(() => instances.remove("i1000")).toThrow(expect.objectContaining({ code: "not_found" }));
  instances.create(source, {}, {}, "idle");
  clock.now += 7;
  instances.sweep(7);
  expect([instances.use("idle"), gone]).toEqual([{ ended: "expired", at: 1e12 + 1007 }, ["idle"]]);
});

test("a restored instance keeps its idle time, its tenancy and its place among the limited journals", () => {
  const { clock, instances } = opened();
  const made = instances.create(source, {}, { label: "partner", requestsPerMinute: 7 });
  for (let n = 0; n < 40; n += 1) handle(made.sandbox, asked({ path: `/v1/${"words/".repeat(80)}` }));
  clock.now = 500;
  const saved = instanceState(made, describeSandbox(made.sandbox));
  const bytes = made.sandbox.history.bytes();
  const restoredIn = (maxJournals: number) => {
    const other = opened({ maxJournals });
    other.instances.restore(saved, saved.sandbox.at - saved.usedAt);
    return { ...other, found: other.instances.find(made.id) as typeof made };
  };
  const { found, server, instances: others } = restoredIn(bytes);
  expect(found).toMatchObject({
    idle: 500,
    tenancy: { label: "partner", requestsPerMinute: 7 },
    createdAt: 1e12,
  });
  expect([found.sandbox.history.requests().length, found.sandbox.idGroup]).toEqual([
    40,
    server.idSeries.last,
  ]);
  others.use(made.id);
  expect(found.idle).toBe(0);
  const { history } = restoredIn(bytes - 1).found.sandbox;
  expect(history.bytes()).toBeLessThanOrEqual(bytes / 2);
  expect(history.bytes()).toBeGreaterThan(bytes / 4);
});
