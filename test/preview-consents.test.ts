import { expect, test } from "vitest";
import { advanceClock } from "../src/sandbox/operations/change-world.js";
import { headerOf } from "./support/doors.js";
import { consentsPath, describePreview, type Json, purpose } from "./support/preview-client.js";

const hour = 3_600_000;
const day = 24 * hour;
const json = { "content-type": "application/json" };

describePreview("consent requests", (open) => {
  test("are made pending, to be answered within a week, for 90 days", async () => {
    const { ask, farmer, get, door } = await open();
    const made = await ask("bank", 0, { permissions: ["identity", "loans"] });
    expect(made.status).toBe(201);
    expect(made.json.data).toEqual({
      id: expect.stringMatching(/^consent_\w{20}$/),
      synthetic: true,
      farmer_id: farmer(0),
      status: "pending",
      purpose,
      permissions: ["identity", "loans"],
      created_at: "2026-03-02T09:00:00.000Z",
      respond_by: "2026-03-09T09:00:00.000Z",
      expires_at: "2026-05-31T09:00:00.000Z",
      history: [{ status: "pending", at: "2026-03-02T09:00:00.000Z", by: "relying_party" }],
    });
    const shown = await get("bank-second", made.json.data.id);
    expect([shown.status, shown.json]).toEqual([200, made.json]);
    expect(door.world.journal.list().map(({ path, status, pathId }) => [path, status, pathId])).toEqual([
      [consentsPath, 201, "200.test"],
      [`${consentsPath}/${made.json.data.id}`, 200, "200.test"],
    ]);
    await door.close();
  });

  test("are answered as the farmer is, or expire", async () => {
    const { ask, get, door } = await open();
    const lives: [number, [number, string][]][] = [
      [
        0,
        [
          [2 * hour - 1, "pending"],
          [1, "granted"],
          [90 * day - 2 * hour - 1, "granted"],
          [1, "expired"],
        ],
      ],
      [
        1,
        [
          [2 * hour - 1, "pending"],
          [1, "rejected"],
          [90 * day, "rejected"],
        ],
      ],
      [
        2,
        [
          [7 * day - 1, "pending"],
          [1, "expired"],
        ],
      ],
      [
        3,
        [
          [2 * hour, "granted"],
          [30 * day - 1, "granted"],
          [1, "revoked"],
        ],
      ],
    ];
    for (const [farmer, life] of lives) {
      const { id } = (await ask("bank", farmer)).json.data;
      const met = [];
      for (const [by] of life) {
        advanceClock(door.world, by);
        met.push([by, (await get("bank", id)).json.data.status]);
      }
      expect([farmer, met]).toEqual([farmer, life]);
    }
    await door.close();
  });

  test("may end when the relying party wants, up to 365 days ahead", async () => {
    const { ask, get, door } = await open();
    for (const expires_at of ["2026-03-02T09:00:00.001Z", "2027-03-02T10:00:00+01:00"]) {
      const { json, status } = await ask("bank", 0, { expires_at });
      expect([status, json.data.expires_at]).toEqual([201, new Date(expires_at).toISOString()]);
      expect(Date.parse(json.data.respond_by)).toBeLessThanOrEqual(Date.parse(expires_at));
    }
    const soon = (await ask("bank", 0, { expires_at: "2026-03-02T10:00:00Z" })).json.data;
    expect(soon.respond_by).toBe("2026-03-02T10:00:00.000Z");
    advanceClock(door.world, hour);
    expect((await get("bank", soon.id)).json.data.history).toMatchObject([
      { status: "pending" },
      { status: "expired", at: soon.expires_at, by: "system" },
    ]);
    await door.close();
  });

  test("are cancelled while they are pending or granted, and not again", async () => {
    const { ask, cancel, get, door } = await open();
    const [pending, granted] = [(await ask("bank", 2)).json.data, (await ask("bank", 0)).json.data];
    expect((await cancel("bank", pending.id)).json.data.status).toBe("cancelled");
    advanceClock(door.world, 2 * hour);
    const cancelled = await cancel("bank-second", granted.id);
    expect([cancelled.status, cancelled.json.data.history.map(({ by }: Json) => by)]).toEqual([
      200,
      ["relying_party", "farmer", "relying_party"],
    ]);
    const again = await cancel("bank", granted.id);
    expect([again.status, again.json.error.code, again.json.error.details]).toEqual([
      409,
      "conflict",
      { status: "cancelled" },
    ]);
    expect((await get("bank", granted.id)).json).toEqual(cancelled.json);
    const rejected = (await ask("bank", 1)).json.data;
    advanceClock(door.world, 2 * hour);
    expect((await cancel("bank", rejected.id)).status).toBe(409);
    await door.close();
  });

  test("are made once under an Idempotency-Key, whatever the order and the spacing of the body", async () => {
    const { ask, send, door, farmer } = await open();
    const made = await ask("bank", 0, {}, { "idempotency-key": "application-7" });
    expect(headerOf(made, "idempotent-replayed")).toBeUndefined();
    const again = await send("bank-second", {
      method: "POST",
      path: consentsPath,
      headers: { ...json, "idempotency-key": '"application-7"' },
      body: JSON.stringify({ permissions: ["land"], purpose, farmer_id: farmer(0) }, null, 2),
    });
    expect([again.status, again.json, headerOf(again, "idempotent-replayed")]).toEqual([
      201,
      made.json,
      "true",
    ]);
    const other = await ask("bank", 1, {}, { "idempotency-key": "application-7" });
    expect([other.status, other.json.error.code]).toEqual([422, "idempotency_key_reused"]);
    // Of another organization it is another key.
    const others = await ask("insurer", 1, {}, { "idempotency-key": "application-7" });
    expect(others.status).toBe(201);
    expect(door.world.consents.all).toHaveLength(2);
    await door.close();
  });

  test("are shown as they are by then when they are sent again, also when they would be too late by then", async () => {
    const { ask, door } = await open();
    const body = { expires_at: "2026-03-02T12:00:00Z" };
    const made = await ask("bank", 0, body, { "idempotency-key": "k" });
    advanceClock(door.world, 4 * hour);
    const late = await ask("bank", 0, body, { "idempotency-key": "k" });
    expect([late.status, late.json.data.id, late.json.data.status]).toEqual([
      201,
      made.json.data.id,
      "expired",
    ]);
    expect((await ask("bank", 0, body)).status).toBe(422);
    await door.close();
  });

  test("take nothing but an Idempotency-Key that is one", async () => {
    const { ask, door } = await open();
    const longest = "k".repeat(255);
    for (const key of ["k", '"k"', '" "', '"a\\"b\\\\"', longest, `"${longest}"`, "a-b_c.d:e/f=+"]) {
      expect([key, (await ask("bank", 0, {}, { "idempotency-key": key })).status]).toEqual([key, 201]);
    }
    const live = "SVC_live_9f8e7d6c5b4a";
    for (const key of ['""', '"', '"a', "a b", "a,b", `${longest}k`, `"${longest}k"`, live, `"x${live}"`]) {
      const refused = await ask("bank", 0, {}, { "idempotency-key": key });
      expect([key, refused.status, Object.keys(refused.json.error.details.fields)]).toEqual([
        key,
        422,
        ["Idempotency-Key"],
      ]);
    }
    expect(JSON.stringify(door.world.consents.all)).not.toContain("SVC_live");
    await door.close();
  });
});
