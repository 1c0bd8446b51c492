import { expect, test } from "vitest";
import { createInstances } from "../../src/log/memory-log.js";
import { nodePlatform, openWorld } from "../../src/node/platform.js";
import { bundledScenarios } from "../../src/scenario/bundled.js";

test("an instance with an expiry stays until then, used or not; any other until it was idle for its time", () => {
  let now = 0;
  const open = () => openWorld(bundledScenarios.active, { name: "active" });
  const platform = { ...nodePlatform, time: () => 1e12 + now, stopwatch: () => now };
  const instances = createInstances({
    ...{ most: 10, server: open(), platform },
  });
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
