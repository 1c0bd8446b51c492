import { describe, expect, test } from "vitest";
import type { ShownRequest } from "../../src/dashboard/control/responses.js";
import { createAxis, groupIntoDots } from "../../src/dashboard/elements/axis.js";

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
const now = Date.parse("2026-03-02T09:00:00Z");

const request = (at: number, outcome: string) =>
  ({ at: new Date(at).toISOString(), outcome }) as ShownRequest;

describe("the axis of the lifelines", () => {
  test("names each instant once, in order, from one side to the other, with the same room for each name", () => {
    const instants = [now + 365 * day, now, now + minute, now, now - day, now + hour];
    const { stations, positionOf } = createAxis(instants, now);
    expect(stations).toEqual([now - day, now, now + minute, now + hour, now + 365 * day]);
    expect(stations.map(positionOf)).toEqual([0, 0.25, 0.5, 0.75, 1]);
  });

  test("the names stand still while the clock moves from one to the next, and it moves without a jump", () => {
    const named = [now - 30 * day, now, now + 30 * minute, now + 15 * hour];
    const still = named.map(createAxis(named, now).positionOf);
    let last = createAxis(named, now).positionOf(now);
    for (let at = now + 1000; at <= now + 35 * minute; at += 1000) {
      const { positionOf } = createAxis(named, at);
      expect(named.map(positionOf)).toEqual(still);
      expect(positionOf(at)).toBeGreaterThan(last);
      expect(positionOf(at) - last).toBeLessThan(0.01);
      last = positionOf(at);
    }
  });

  test("what is outside is at the next side", () => {
    const { positionOf } = createAxis([now, now + hour], now);
    expect([positionOf(now - day), positionOf(now + day)]).toEqual([0, 1]);
  });

  test("of too many instants, it names six: the first, the last, and those that come next", () => {
    const many = Array.from({ length: 40 }, (_, index) => now + (index + 1) * 9 * day);
    const { stations } = createAxis([now - 900 * day, now - day, now + minute, now + hour, ...many], now);
    const next = [now + minute, now + hour, now + 9 * day, now + 18 * day];
    expect(stations).toEqual([now - 900 * day, ...next, now + 360 * day]);
  });

  test("there is one dot for requests that are alike and close together; others are next to each other, the newest last", () => {
    const axis = createAxis([now - day, now, now + day], now);
    const sent = [
      request(now - day, "200.test"),
      request(now - 2, "200.test"),
      request(now - 1, "200.retiring"),
      request(now, "401.rotated"),
    ];
    expect(groupIntoDots(sent, axis)).toMatchObject([
      { position: 0, count: 1, newer: 0 },
      { outcome: "200.test", count: 2, newer: 1 },
      { outcome: "401.rotated", count: 1, newer: 0 },
    ]);
  });
});
