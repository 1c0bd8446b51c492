import { expect, test } from "vitest";
import { describeDoors } from "./support/doors.js";
import { expectError } from "./support/expect-error.js";
import { oneKey } from "./support/one-key.js";

describeDoors("the relying-party API", (open) => {
  test("R22 one request more than per_minute gets 429, until the minute is over", async () => {
    const door = await open(oneKey({ limits: { per_minute: 3, per_day: 100 } }));
    const statuses = [];
    for (let i = 0; i < 4; i++) statuses.push((await door.me({ ref: "key" })).status);
    expect(statuses).toEqual([200, 200, 200, 429]);
    door.world.clock.advance(59_999);
    expect((await door.me({ ref: "key" })).status).toBe(429);
    door.world.clock.advance(1);
    expect((await door.me({ ref: "key" })).status).toBe(200);
    await door.close();
  });

  test("R22 a sliding minute lets a request in once the oldest of the last 60 seconds is gone", async () => {
    const door = await open(
      oneKey({ limits: { per_minute: 2 } }, { assumptions: { minute_window: "sliding" } }),
    );
    const at = async (advance: number) => {
      door.world.clock.advance(advance);
      return (await door.me({ ref: "key" })).status;
    };
    expect([
      await at(0),
      await at(30_000),
      await at(29_999),
      await at(1),
      await at(0),
      await at(30_000),
    ]).toEqual([200, 200, 429, 200, 429, 200]);
    await door.close();
  });

  test("R23 one request more than per_day gets 429, until the day resets at the assumed time", async () => {
    const scenario = oneKey(
      { limits: { per_minute: 100, per_day: 2 } },
      { assumptions: { day_resets_at: "10:30" } },
    );
    const door = await open(scenario);
    const statuses = [];
    for (let i = 0; i < 3; i++) statuses.push((await door.me({ ref: "key" })).status);
    expect(statuses).toEqual([200, 200, 429]);
    expect(door.world.journal.list({ limit: 1 })[0]?.pathId).toBe("429.per_day");
    door.world.clock.set(Date.parse("2026-03-02T10:29:59.999Z"));
    expect((await door.me({ ref: "key" })).status).toBe(429);
    door.world.clock.advance(1);
    expect((await door.me({ ref: "key" })).status).toBe(200);
    await door.close();
  });

  test("R24 what is refused is not counted, unless the scenario says that it is", async () => {
    for (const [countRefused, today] of [
      [false, 2],
      [true, 7],
    ] as const) {
      const scenario = oneKey(
        { limits: { per_minute: 1 } },
        { assumptions: { count_refused: countRefused } },
      );
      const door = await open(scenario);
      for (let i = 0; i < 6; i++) await door.me({ ref: "key" });
      door.world.clock.advance(60_000);
      expect(JSON.parse((await door.me({ ref: "key" })).body).data.usage.today).toBe(today);
      await door.close();
    }
  });

  test("R25 a key at its limit does not touch another key of the same organization", async () => {
    const door = await open("rate-limited");
    const states = door.world.registry.keys;
    const [limited] = [...states.keys()];
    expect((await door.me({ ref: limited as string })).status).toBe(429);
    const holder = door.world.registry.key(limited as string).key.organization;
    const others = [...states.values()].filter(
      ({ key }) => key.organization === holder && key.ref !== limited,
    );
    const statuses = [];
    for (const { key } of others) statuses.push((await door.me({ ref: key.ref })).status);
    expect(statuses).toContain(200);
    await door.close();
  });

  test("R26 the replacement has the limits of the key that it replaced", async () => {
    const door = await open("rotation");
    const limits = [];
    for (const ref of ["retiring", "replacement"])
      limits.push(JSON.parse((await door.me({ ref })).body).data.limits);
    expect(limits[0]).toEqual(limits[1]);
    await door.close();
  });

  test.each([
    ["rate-limited", "rate_limited"],
    ["rate-limited-minute", "rate_limited"],
  ])("R27 R28 the key %s gets 429 with the assumed code %s", async (ref, code) => {
    const door = await open("key-states");
    expectError(await door.me({ ref }), 429, code);
    await door.close();
  });

  test("R28 the code of a 429 is the one that the scenario assumes", async () => {
    const scenario = oneKey(
      { limits: { per_day: 0 } },
      { assumptions: { rate_limit_code: "quota_exceeded" } },
    );
    const door = await open(scenario);
    expectError(await door.me({ ref: "key" }), 429, "quota_exceeded");
    await door.close();
  });
});
