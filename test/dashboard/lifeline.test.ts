import { describe, expect, test } from "vitest";
import type { ListedKey, ShownRequest, UpcomingEvent } from "../../src/dashboard/control/responses.js";
import { createAxis } from "../../src/dashboard/elements/axis.js";
import { groupIntoDots } from "../../src/dashboard/elements/dots.js";
import { lifeSentence } from "../../src/dashboard/elements/key-life.js";
import { lifePhases } from "../../src/dashboard/elements/life-phases.js";
import { chooseKeys, selectLifelineData } from "../../src/dashboard/elements/lifeline-data.js";

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
const now = Date.parse("2026-03-02T09:00:00Z");

const iso = (at: number) => new Date(at).toISOString();

/** A key that works, with these differences. */
function keyWith(more: object): ListedKey {
  const next = { status: 200, outcome: "200.test", sentence: "200", until: null };
  const times = { created_at: null, revoked_at: null, expires_at: null, overlap_ends_at: null };
  return {
    ref: "one",
    organization: "bank",
    state: "active",
    ...times,
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

const request = (at: number, outcome: string, key = "one") => ({ at: iso(at), outcome, key }) as ShownRequest;

const event = (at: number, more: Partial<UpcomingEvent>) =>
  ({ at: iso(at), key: null, organization: null, kind: "day_reset", text: "", ...more }) as UpcomingEvent;

/** What is known of one key. */
function dataOf(key: ListedKey, readings: Partial<Parameters<typeof selectLifelineData>[1]> = {}) {
  return selectLifelineData([key], { requests: [], upcoming: [], faults: [], ...readings }, now);
}

describe("the axis of the lifelines", () => {
  test("names each instant once, in order, from one side to the other, with room for each name", () => {
    const { stations, positionOf } = createAxis(
      [now + 365 * day, now, now + minute, now, now - day, now + hour],
      now,
    );
    expect(stations).toEqual([now - day, now, now + minute, now + hour, now + 365 * day]);
    const places = stations.map(positionOf);
    expect([places[0], places.at(-1)]).toEqual([0, 1]);
    for (const [index, place] of places.slice(1).entries()) {
      expect(place - (places[index] as number)).toBeGreaterThan(0.15);
    }
  });

  test("is in order, and the names stand still while the clock moves from one to the next, without a jump", () => {
    const named = [now - 30 * day, now, now + 30 * minute, now + 15 * hour];
    const still = named.map(createAxis(named, now).positionOf);
    let last = createAxis(named, now).positionOf(now);
    for (let at = now + 1000; at <= now + 35 * minute; at += 1000) {
      const { positionOf } = createAxis(named, at);
      for (const [index, instant] of named.entries()) {
        expect(positionOf(instant)).toBeCloseTo(still[index] as number, 9);
      }
      expect(positionOf(at)).toBeGreaterThan(last);
      expect(positionOf(at) - last).toBeLessThan(0.01);
      last = positionOf(at);
    }
  });

  test("what is outside is at the next side", () => {
    const { positionOf } = createAxis([now, now + hour], now);
    expect([positionOf(now - day), positionOf(now + day)]).toEqual([0, 1]);
  });

  test("of too many instants, it names six: the last one, and what is near now", () => {
    const many = Array.from({ length: 40 }, (_, index) => now + (index + 1) * 9 * day);
    const { stations } = createAxis([now - 900 * day, now + minute, now + 30 * minute, ...many], now);
    expect(stations.length).toBeGreaterThan(3);
    expect(stations.length).toBeLessThanOrEqual(6);
    expect(stations).toContain(now + minute);
    expect(stations).toContain(now + 30 * minute);
    expect(stations.at(-1)).toBe(many.at(-1));
  });

  test("begins with what is known first, or with this hour, and has an hour or more", () => {
    const half = now + 30 * minute;
    const nothing = { requests: [], upcoming: [], faults: [] };
    const stations = (keys: readonly ListedKey[], readings: object = {}) =>
      selectLifelineData(keys, { ...nothing, ...readings }, half).axis.stations;
    expect(stations([keyWith({})])).toEqual([now, now + hour]);
    const keys = [keyWith({ expires_at: iso(now + day) }), keyWith({ revoked_at: iso(now - day) })];
    expect(stations(keys)).toEqual([now - day, now + day]);
    expect(stations([keyWith({ created_at: iso(now - 3 * day) })])).toEqual([now - 3 * day, now + hour]);
    const requests = [request(now - 2 * day, "200.test")];
    const upcoming = [event(now + 2 * day, {})];
    expect(stations(keys, { requests, upcoming })).toEqual([-2, -1, 1, 2].map((days) => now + days * day));
  });
});

describe("the life of a key", () => {
  const upcoming = [event(now - hour, {}), event(now + day, {})];
  const requests = [request(now - hour, "200.test")];
  const phases = (key: ListedKey, readings: object = {}) =>
    lifePhases(key, dataOf(key, { requests, upcoming, ...readings })).map(({ from, to, kind, words }) => [
      kind,
      (from - now) / minute,
      (to - now) / minute,
      words,
    ]);
  const past = ["past", -60, 0, ""];
  const overlap = { state: "retiring", overlap_ends_at: iso(now + 30 * minute) };

  test.each([
    ["works", {}, [past, ["works", 0, 1440, "works"]]],
    ["expires", { expires_at: iso(now + hour) }, [past, ["works", 0, 60, "works"], ["ended", 60, 1440, ""]]],
    ["is retiring", overlap, [past, ["retiring", 0, 30, "works (retiring)"], ["ended", 30, 1440, ""]]],
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
    ["is always limited", limited(null), [past, ["limited", 0, 1440, "429 always"]]],
    [
      "is limited until its end",
      { ...limited(now + day), ...overlap },
      [past, ["limited", 0, 30, "429"], ["ended", 30, 1440, ""]],
    ],
    [
      "is rejected",
      { next_request: { status: 403, code: "access_denied", until: null } },
      [past, ["rejected", 0, 1440, "403 access_denied"]],
    ],
  ])("that %s", (_, more, expected) => {
    expect(phases(keyWith(more))).toEqual(expected);
  });

  test("begins when the key was created", () => {
    const created = { created_at: iso(now - 20 * minute) };
    expect(phases(keyWith(created))).toEqual([
      ["past", -20, 0, ""],
      ["works", 0, 1440, "works"],
    ]);
    const ended = { ...created, state: "revoked", revoked_at: iso(now - minute) };
    expect(phases(keyWith(ended))[0]).toEqual(["past", -20, -1, ""]);
  });

  test.each([
    ["a step of the timeline for it", { kind: "timeline_step", key: "one", organization: "bank" }],
    ["a step for its organization", { kind: "timeline_step", organization: "bank" }],
    ["the start of a fault for it", { kind: "fault_begins", key: "one" }],
    ["the start of a fault for each key", { kind: "fault_begins" }],
    ["the end of a fault", { kind: "fault_ends", organization: "bank" }],
  ] as const)("is open after %s", (_, more) => {
    const steps = [event(now + 10 * minute, more), ...upcoming.slice(1)];
    expect(phases(keyWith(overlap), { upcoming: steps })).toEqual([
      past,
      ["retiring", 0, 10, "works (retiring)"],
      ["unknown", 10, 30, ""],
      ["ended", 30, 1440, ""],
    ]);
  });

  test.each([
    ["a step for another key", { kind: "timeline_step", key: "two", organization: "bank" }],
    ["a step for no key", { kind: "timeline_step" }],
    ["a fault of another organization", { kind: "fault_begins", organization: "other" }],
  ] as const)("is the same after %s", (_, more) => {
    const steps = [event(now + 10 * minute, more), ...upcoming.slice(1)];
    expect(phases(keyWith({}), { upcoming: steps })).toEqual([past, ["works", 0, 1440, "works"]]);
  });

  test.each([
    ["30% get a fault", [{ when: { probability: 0.3 } }]],
    ["25% get a fault", [{ when: { key: "one", probability: 0.5, every: 2 } }]],
    ["75% get a fault", [{ when: { every: 2 } }, { when: { organization: "bank", every: 2 } }]],
    ["all get a fault", [{}]],
    ["all get a fault", [{ when: { requests: [3] } }, {}]],
    ["some get a fault", [{ when: { requests: [3, 9] }, requests_matched: 8 }]],
    ["10% get a fault", [{ when: { probability: 0.1, outcome: "200.test", until: iso(now + 1) } }]],
  ])("is open where chance or a number decides: %s", (words, faults) => {
    expect(phases(keyWith({}), { faults })).toEqual([
      past,
      ["unknown", 0, 1440, `200 (${words})`.replaceAll(/ (?!\()/g, "\u00A0")],
    ]);
  });

  test("names a fault that hits only a later request once, with its share", () => {
    const next_request = { status: 200, outcome: "200.test", sentence: "200, or a fault", until: null };
    const faults = [{ when: { every: 2 }, then: {} }];
    const [, open] = phases(keyWith({ next_request }), { faults });
    expect(open).toEqual(["unknown", 0, 1440, "200 (50%\u00A0get\u00A0a\u00A0fault)"]);
  });

  test("is not open for a fault that hits others, or at another time", () => {
    const conditions = [
      { key: "two" },
      { organization: "other" },
      { outcome: "403.access_denied" },
      { after: iso(now + 1) },
      { until: iso(now) },
      { requests: [1, 2] },
    ];
    const faults = conditions.map((when) => ({ when, then: {}, requests_matched: 2 }));
    expect(phases(keyWith({}), { faults })).toEqual([past, ["works", 0, 1440, "works"]]);
  });

  test("reads as a sentence", () => {
    const sentences = [
      keyWith({}),
      keyWith({ ...overlap }),
      keyWith({
        state: "revoked",
        revoked_at: iso(now - day),
        next_request: { sentence: "401 was revoked" },
      }),
      keyWith({ ...limited(now + minute), expires_at: "2027-12-31T23:59:59.000Z" }),
    ].map((key) => lifeSentence(key, requests));
    expect(sentences).toMatchInlineSnapshot(`
      [
        "active, gets 200, 1 request",
        "retiring, gets 200, ends 2 March 2026, 09:30, 1 request",
        "revoked, gets 401 was revoked, ended 1 March 2026, 09:00, 1 request",
        "active, gets 429 until 09:01:00, ends 31 December 2027, 23:59, 1 request",
      ]
    `);
  });

  test("has one dot for requests that are alike and close together; others are next to each other, the newest last", () => {
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

test("an event is shown until it is over; the end of a minute, if a key waits for it; that of another key, not at all", () => {
  const upcoming = [
    event(now, {}),
    event(now + minute, { kind: "minute_reset" }),
    event(now + hour, { kind: "key_expires", key: "one" }),
    event(now + hour, { kind: "key_expires", key: "other" }),
    event(now + day, {}),
  ];
  const kinds = (key: ListedKey) => dataOf(key, { upcoming }).events.map(({ kind }) => kind);
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
