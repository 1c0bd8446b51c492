import { describe, expect, test } from "vitest";
import type { Event, ListedKey, Request } from "../../src/dashboard/control/responses.js";
import {
  axisThroughInstants,
  chooseKeys,
  createAxis,
  groupIntoDots,
  keyStart,
  lifePhases,
  nextStep,
  relevantEvents,
} from "../../src/dashboard/elements/life.js";

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
const now = Date.parse("2026-03-02T09:00:00Z");

const iso = (at: number) => new Date(at).toISOString();

/** A key that works, with these differences. */
function keyWith(more: object): ListedKey {
  const next = { status: 200, outcome: "200.test", sentence: "200", until: null };
  const ends = { revoked_at: null, expires_at: null, overlap_ends_at: null, replaces: null };
  return {
    ref: "one",
    organization: "bank",
    state: "active",
    ...ends,
    next_request: next,
    ...more,
  } as ListedKey;
}

const limited = (until: number | null) => ({
  next_request: {
    status: 429,
    outcome: "429.per_minute",
    sentence: "429 until 09:01:00",
    until: until && iso(until),
  },
});

const request = (at: number, outcome: string, key = "one") => ({ at: iso(at), outcome, key }) as Request;

const event = (at: number, more: Partial<Event>) =>
  ({ at: iso(at), key: null, organization: null, kind: "day_reset", text: "", ...more }) as Event;

describe("the axis of the lives", () => {
  test("names each instant once, in order, from one side to the other, with room for each name", () => {
    const { stations, placeOf } = axisThroughInstants(
      [now + 365 * day, now, now + minute, now, now - day, now + hour],
      now,
    );
    expect(stations).toEqual([now - day, now, now + minute, now + hour, now + 365 * day]);
    const places = stations.map(placeOf);
    expect([places[0], places.at(-1)]).toEqual([0, 1]);
    for (const [index, place] of places.slice(1).entries())
      expect(place - (places[index] as number)).toBeGreaterThan(0.15);
  });

  test("is in order, and the names stand still while the clock moves from one to the next, without a jump", () => {
    const named = [now - 30 * day, now, now + 30 * minute, now + 15 * hour];
    const still = named.map(axisThroughInstants(named, now).placeOf);
    let last = axisThroughInstants(named, now).placeOf(now);
    for (let at = now + 1000; at <= now + 35 * minute; at += 1000) {
      const { placeOf } = axisThroughInstants(named, at);
      for (const [index, instant] of named.entries())
        expect(placeOf(instant)).toBeCloseTo(still[index] as number, 9);
      expect(placeOf(at)).toBeGreaterThan(last);
      expect(placeOf(at) - last).toBeLessThan(0.01);
      last = placeOf(at);
    }
  });

  test("what is outside is at the next side", () => {
    const { placeOf } = axisThroughInstants([now, now + hour], now);
    expect([placeOf(now - day), placeOf(now + day)]).toEqual([0, 1]);
  });

  test("of too many instants, it names six: the last one, and what is near now", () => {
    const many = Array.from({ length: 40 }, (_, index) => now + (index + 1) * 9 * day);
    const { stations } = axisThroughInstants(
      [now - 900 * day, now + minute, now + 30 * minute, ...many],
      now,
    );
    expect(stations.length).toBeGreaterThan(3);
    expect(stations.length).toBeLessThanOrEqual(6);
    expect(stations).toContain(now + minute);
    expect(stations).toContain(now + 30 * minute);
    expect(stations.at(-1)).toBe(many.at(-1));
  });

  test("begins with what is known first, or with this hour, and has an hour or more", () => {
    const half = now + 30 * minute;
    expect(createAxis([keyWith({})], [], [], half).stations).toEqual([now, now + hour]);
    const keys = [keyWith({ expires_at: iso(now + day) }), keyWith({ revoked_at: iso(now - day) })];
    expect(createAxis(keys, [], [], half).stations).toEqual([now - day, now + day]);
    const sent = [request(now - 2 * day, "200.test")];
    const events = [event(now + 2 * day, {})];
    expect(createAxis(keys, events, sent, half).stations).toEqual(
      [-2, -1, 1, 2].map((days) => now + days * day),
    );
  });
});

describe("the life of a key", () => {
  const bounds = { now, start: now - hour, step: undefined, last: now + day };
  const phases = (key: ListedKey, more: object = {}) =>
    lifePhases(key, { ...bounds, ...more }).map(({ from, to, course, words }) => [
      course,
      (from - now) / minute,
      (to - now) / minute,
      words,
    ]);
  const past = ["past", -60, 0, ""];
  const overlap = { state: "retiring", overlap_ends_at: iso(now + 30 * minute) };

  test.each([
    ["works", {}, [past, ["works", 0, 1440, ""]]],
    ["expires", { expires_at: iso(now + hour) }, [past, ["works", 0, 60, ""], ["ended", 60, 1440, ""]]],
    ["is retiring", overlap, [past, ["retiring", 0, 30, "retiring"], ["ended", 30, 1440, ""]]],
    [
      "is revoked",
      { state: "revoked", revoked_at: iso(now - minute) },
      [
        ["past", -60, -1, ""],
        ["ended", -1, 0, ""],
        ["ended", 0, 1440, "revoked"],
      ],
    ],
    ["is limited", limited(now + minute), [past, ["limited", 0, 1, "429"], ["works", 1, 1440, ""]]],
    ["is always limited", limited(null), [past, ["limited", 0, 1440, "429"]]],
    [
      "is limited until its end",
      { ...limited(now + day), ...overlap },
      [past, ["limited", 0, 30, "429"], ["ended", 30, 1440, ""]],
    ],
    [
      "is barred",
      { next_request: { status: 403, sentence: "403 access_denied: organization is inactive", until: null } },
      [past, ["barred", 0, 1440, "403 access_denied"]],
    ],
    [
      "may get a fault",
      { next_request: { status: 200, sentence: "200, or a fault", until: null } },
      [past, ["works", 0, 1440, "200, or a fault"]],
    ],
  ])("that %s", (_, more, expected) => {
    expect(phases(keyWith(more))).toEqual(expected);
  });

  test("is open after a step of the timeline for it, or for its organization", () => {
    const step = now + 10 * minute;
    expect(phases(keyWith(overlap), { step })).toEqual([
      past,
      ["retiring", 0, 10, "retiring"],
      ["open", 10, 30, ""],
      ["ended", 30, 1440, ""],
    ]);
    const kind = "timeline_step";
    const steps = [
      event(now, { kind, key: "two", organization: "bank" }),
      event(step, { kind, organization: "bank" }),
    ];
    expect(nextStep(keyWith({}), steps)).toBe(step);
    expect(nextStep(keyWith({ organization: "other" }), steps)).toBeUndefined();
  });

  test("of a replacement begins with its first request, or with the end of the other key", () => {
    const first = keyWith({ ref: "first", state: "rotated", overlap_ends_at: iso(now - hour) });
    const second = keyWith({ ref: "second", replaces: "first" });
    const sent = [request(now - day, "200.test", "first"), request(now - 2 * hour, "200.test", "second")];
    expect(keyStart(first, [first, second], sent, now)).toBeUndefined();
    expect(keyStart(second, [first, second], [], now)).toBe(now - hour);
    expect(keyStart(second, [first, second], sent, now)).toBe(now - 2 * hour);
    expect(keyStart(second, [second], [], now)).toBe(now);
  });

  test("has one dot for requests that are alike and close together; others are next to each other, the newest last", () => {
    const axis = axisThroughInstants([now - day, now, now + day], now);
    const sent = [
      request(now - day, "200.test"),
      request(now - 2, "200.test"),
      request(now - 1, "200.retiring"),
      request(now, "401.rotated"),
    ];
    expect(groupIntoDots(sent, axis)).toMatchObject([
      { place: 0, count: 1, newer: 0 },
      { outcome: "200.test", count: 2, newer: 1 },
      { outcome: "401.rotated", count: 1, newer: 0 },
    ]);
  });
});

test("an event is shown until it is over; the end of a minute, if a key waits for it; that of another key, not at all", () => {
  const upcoming = [
    event(now, {}),
    event(now + minute, { kind: "minute_reset" }),
    event(now + hour, { kind: "key_expires", key: "one" }),
    event(now + hour, { kind: "key_expires", key: "other" }),
    event(now + day, {}),
  ];
  const kinds = (key: ListedKey) => relevantEvents([key], upcoming, now).map(({ kind }) => kind);
  expect(kinds(keyWith({}))).toEqual(["key_expires", "day_reset"]);
  expect(kinds(keyWith(limited(now + minute)))).toEqual(["minute_reset", "key_expires", "day_reset"]);
});

test("of too many keys, those that were used last are shown, then those that end, in their order", () => {
  const keys = ["a", "b", "c", "d", "e"].map((ref) =>
    keyWith({ ref, expires_at: ref === "d" ? iso(now) : null }),
  );
  const sent = ["e", "b", "e", "b"].map((key) => request(now, "200.test", key));
  const refs = (max: number) => chooseKeys(keys, sent, max).map(({ ref }) => ref);
  expect([refs(1), refs(2), refs(3), refs(4)]).toEqual([
    ["b"],
    ["b", "e"],
    ["b", "d", "e"],
    ["a", "b", "d", "e"],
  ]);
});
