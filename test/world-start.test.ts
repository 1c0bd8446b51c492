import { expect, test } from "vitest";
import { nodePlatform } from "../src/node/platform.js";
import { createWorld } from "../src/sandbox/world.js";

// The real time goes on while a world is made, and a pinned start must not go on with it.
test("a world whose clock starts at a pinned time starts there to the millisecond", () => {
  let time = 0;
  const platform = { ...nodePlatform, time: () => time++ };
  const world = createWorld(
    {
      version: 1,
      clock: { now: "2026-03-02T09:00:00Z" },
      organizations: {
        bank: { type: "bank", keys: { main: { environment: "test", expires: "1h" } } },
      },
      timeline: [{ at: "1s", revoke: { key: "main" } }],
    },
    { platform },
  );
  const start = Date.parse("2026-03-02T09:00:00Z");
  expect(world.timeline.dueAt).toBe(start + 1000);
  expect(world.registry.key("main").key.expiresAt).toBe(start + 3_600_000);
  expect(world.registry.key("main").usage.minuteEndsAt).toBe(start + 60_000);
  expect(world.farmers.start).toBe(start);
});
