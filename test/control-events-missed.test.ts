import { afterAll, beforeEach, describe, expect, test, vi } from "vitest";
import { serveControl } from "./control/client.js";
import { count, ids, names, type SeenEvent, subscribe } from "./control/subscribe.js";
import { allHaveLeft } from "./support/heard-listeners.js";

vi.mock("../src/sandbox/event-log.js", async (importOriginal) => {
  const { countListeners } = await import("./support/heard-listeners.js");
  return countListeners(await importOriginal());
});
// Whoever has listened in one test has left before the next one.
beforeEach(allHaveLeft);
afterAll(allHaveLeft);

describe("coming back", () => {
  test("whoever says what was seen last gets what came after it, across another scenario as well", async () => {
    const control = await serveControl();
    const first = await subscribe(control.server.url);
    control.server.sandbox.clock.advance("1m");
    await first.until(count(1));
    first.leave();
    control.server.sandbox.clock.advance("1m");
    await control.ask("/scenario", {
      method: "PUT",
      json: { name: "rotation" },
    });
    control.server.sandbox.clock.advance("1m");
    const second = await subscribe(control.server.url, { from: 1 });
    control.server.sandbox.clock.advance("1m");
    await second.until(count(4));
    expect(ids(second)).toEqual([2, 3, 4, 5]);
    expect(names(second)).toEqual(["clock.moved", "world.started", "clock.moved", "clock.moved"]);
  });

  test("whoever has seen everything gets what is new, and whoever does not say gets no more", async () => {
    const control = await serveControl();
    const first = await subscribe(control.server.url);
    for (let i = 0; i < 3; i++) control.server.sandbox.clock.advance("1m");
    await first.until(count(3));
    for (const from of [3, undefined, "", "three", "-1", "1e2", "9".repeat(20)]) {
      const subscriber = await subscribe(control.server.url, from === undefined ? {} : { from });
      control.server.sandbox.clock.advance("1m");
      await subscriber.until(count(1));
      expect(subscriber.events).toHaveLength(1);
      expect(names(subscriber)).toEqual(["clock.moved"]);
      if (from === 3) expect(ids(subscriber)).toEqual([4]);
      subscriber.leave();
    }
  });

  test("whoever comes back too late, or from the future, is told that events are lost, and goes on from there", async () => {
    const control = await serveControl();
    const first = await subscribe(control.server.url);
    for (let i = 0; i < 3000; i++) control.server.sandbox.clock.advance("1ms");
    await first.until(count(3000));
    for (const from of [1, 9999]) {
      const late = await subscribe(control.server.url, { from });
      await late.until(count(1));
      expect(late.events).toEqual([
        {
          id: first.events.at(-1)?.id,
          event: "events.lost",
          data: { last_event_id: from },
        },
      ]);
      control.server.sandbox.clock.advance("1m");
      await late.until(count(2));
      const latest = late.events[1] as SeenEvent;
      await first.until((events) => events.some(({ id }) => id === latest.id));
      expect(latest).toEqual(first.events.at(-1));
    }
    const recent = await subscribe(control.server.url, { from: 2500 });
    await recent.until(count(502));
    expect(ids(recent)).toEqual(Array.from({ length: 502 }, (_, index) => 2501 + index));
  });
});
