import { describe, expect, test } from "vitest";
import type { ShownRequest } from "../../src/dashboard/control/responses.js";
import { TimeAxis } from "../../src/dashboard/elements/axis.js";

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
const now = Date.parse("2026-03-02T09:00:00Z");

const request = (at: number, outcome: string) =>
  ({ at: new Date(at).toISOString(), outcome }) as ShownRequest;

describe("the axis of the lifelines", () => {
  test("names each instant once, in order, from one side to the other, with the same room for each name", () => {
    const instants = [now + 365 * day, now, now + minute, now, now - day, now + hour];
    const axis = new TimeAxis(instants, now);
    const { stations } = axis;
    expect(stations).toEqual([now - day, now, now + minute, now + hour, now + 365 * day]);
    expect(stations.map((at) => axis.positionOf(at))).toEqual([0, 0.25, 0.5, 0.75, 1]);
  });

  test("the names stand still while the clock moves from one to the next, and it moves without a jump", () => {
    const named = [now - 30 * day, now, now + 30 * minute, now + 15 * hour];
    const placesAt = (at: number) => named.map((instant) => new TimeAxis(named, at).positionOf(instant));
    const still = placesAt(now);
    let last = new TimeAxis(named, now).positionOf(now);
    for (let at = now + 1000; at <= now + 35 * minute; at += 1000) {
      const position = new TimeAxis(named, at).positionOf(at);
      expect(placesAt(at)).toEqual(still);
      expect(position).toBeGreaterThan(last);
      expect(position - last).toBeLessThan(0.01);
      last = position;
    }
  });

  test("what is outside is at the next side", () => {
    const axis = new TimeAxis([now, now + hour], now);
    expect([axis.positionOf(now - day), axis.positionOf(now + day)]).toEqual([0, 1]);
  });

  test("of too many instants, it names six: the first, the last, and those that come next", () => {
    const many = Array.from({ length: 40 }, (_, index) => now + (index + 1) * 9 * day);
    const { stations } = new TimeAxis([now - 900 * day, now - day, now + minute, now + hour, ...many], now);
    const next = [now + minute, now + hour, now + 9 * day, now + 18 * day];
    expect(stations).toEqual([now - 900 * day, ...next, now + 360 * day]);
  });

  test("there is one dot for requests that are alike and close together; others are next to each other, the newest last", () => {
    const axis = new TimeAxis([now - day, now, now + day], now);
    const sent = [
      request(now - day, "200.test"),
      request(now - 2, "200.test"),
      request(now - 1, "200.retiring"),
      request(now, "401.rotated"),
    ];
    expect(axis.dotsOf(sent)).toMatchObject([
      { position: 0, count: 1, newer: 0 },
      { outcome: "200.test", count: 2, newer: 1 },
      { outcome: "401.rotated", count: 1, newer: 0 },
    ]);
  });
});
