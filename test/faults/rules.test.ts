import { describe, expect, test } from "vitest";
import { handle } from "../../src/api/handle.js";
import type { Fault } from "../../src/index.js";
import { scenarioSecret } from "../../src/sandbox/secrets.js";
import type { World } from "../../src/sandbox/world.js";
import { mePath, openTestWorld } from "../support/doors.js";
import { met, scenarioWith, send, unavailable, used, worldWith } from "../support/faulty.js";

describe("when a fault hits", () => {
  test("without a condition it hits every request to the API, unknown paths and methods too", () => {
    for (const faults of [[{ then: unavailable }], [{ when: {}, then: unavailable }]]) {
      const world = worldWith(...faults);
      expect(send(world).status).toBe(503);
      expect(send(world, { path: "/nowhere" }).status).toBe(503);
      expect(send(world, { method: "POST" }).status).toBe(503);
    }
  });

  test("a key and an organization narrow it, whatever state the key is in", () => {
    const byKey = worldWith({ when: { key: "revoked" }, then: unavailable });
    expect(send(byKey, { key: "revoked" }).pathId).toBe("fault.status");
    expect(send(byKey).pathId).toBe("200.test");
    const byOrganization = worldWith({ when: { organization: "bank" }, then: unavailable });
    expect(send(byOrganization, { key: "other" }).pathId).toBe("fault.status");
    expect(send(byOrganization, { key: "third" }).pathId).toBe("200.test");
    handle(byOrganization, { method: "GET", path: mePath, apiKey: undefined });
    expect(byOrganization.journal.list({ limit: 1 })).toMatchObject([{ pathId: "401.missing", fault: null }]);
  });

  test("a path id means the path on which the request would end, and finding that out counts nothing", () => {
    const world = worldWith({ when: { path_id: "401.revoked" }, then: unavailable });
    expect(send(world, { key: "revoked" }).pathId).toBe("fault.status");
    expect(send(world)).toMatchObject({ pathId: "200.test" });
    expect(used(world)).toBe(1);

    const limited = openTestWorld({
      ...scenarioWith([{ when: { path_id: "429.per_minute" }, then: { reset: true } }]),
      organizations: {
        bank: { type: "bank", keys: { main: { environment: "test", limits: { per_minute: 2 } } } },
      },
    });
    const paths = Array.from({ length: 4 }, () => send(limited).pathId);
    expect(paths).toEqual(["200.test", "200.test", "fault.reset", "fault.reset"]);
    limited.clock.advance(60_000);
    expect(send(limited).pathId).toBe("200.test");

    const elsewhere = worldWith({ when: { path_id: "404.unknown_path" }, then: { hang: true } });
    expect(send(elsewhere, { path: "/nowhere" }).pathId).toBe("fault.hang");
    expect(send(elsewhere, { method: "PUT" }).pathId).toBe("405.method");
  });

  test("every and requests count the requests that match, and no others", () => {
    const world = worldWith({ when: { key: "main", every: 3 }, then: unavailable });
    expect(met(world, 2)).toEqual([false, false]);
    expect(met(world, 5, { key: "other" })).not.toContain(true);
    expect(met(world, 4)).toEqual([true, false, false, true]);
    const listed = worldWith({ when: { requests: [3, 4] }, then: unavailable });
    expect(met(listed, 6)).toEqual([false, false, true, true, false, false]);
  });

  test("after and until go by the sandbox's clock, from its start", () => {
    const world = worldWith({ when: { after: "1m", until: "2m" }, then: unavailable });
    const at = (ms: number) => {
      world.clock.set(Date.parse("2026-03-02T09:00:00Z") + ms);
      return send(world).fault !== null;
    };
    expect([at(0), at(59_999), at(60_000), at(119_999), at(120_000)]).toEqual([
      false,
      false,
      true,
      true,
      false,
    ]);
    const times = worldWith({
      when: { after: "2026-03-02T09:00:00Z", until: "2026-03-02T10:00+01:00" },
      then: unavailable,
    });
    expect(send(times).fault).toBeNull();
  });

  test("requests outside of after and until are not counted by every", () => {
    const world = worldWith({ when: { after: "1m", every: 2 }, then: unavailable });
    expect(met(world, 3)).toEqual([false, false, false]);
    world.clock.advance(60_000);
    expect(met(world, 4)).toEqual([false, true, false, true]);
  });

  test("a probability is met about so often; 0 is never and 1 is always", () => {
    for (const [probability, least, most] of [
      [0, 0, 0],
      [0.1, 160, 240],
      [0.5, 920, 1080],
      [1, 2000, 2000],
    ] as const) {
      const hit = met(worldWith({ when: { probability }, then: unavailable }), 2000).filter(Boolean).length;
      expect(hit).toBeGreaterThanOrEqual(least);
      expect(hit).toBeLessThanOrEqual(most);
    }
  });

  test("all conditions must hold, and the first fault that hits is the one", () => {
    const world = worldWith(
      { when: { key: "main", every: 2, after: "1m" }, then: { reset: true } },
      { when: { key: "main" }, then: unavailable },
      { then: { hang: true } },
    );
    expect(send(world).pathId).toBe("fault.status");
    expect(send(world, { key: "other" }).pathId).toBe("fault.hang");
    world.clock.advance(60_000);
    expect([send(world).pathId, send(world).pathId]).toEqual(["fault.status", "fault.reset"]);
  });

  test("a fault counts the requests that another one hits, so that one more in front changes only those", () => {
    const behind: Fault = { when: { every: 3 }, then: { reset: true } };
    const alone = worldWith(behind);
    const second = worldWith({ when: { requests: [1, 3] }, then: unavailable }, behind);
    const paths = (world: World) => Array.from({ length: 7 }, () => send(world).pathId);
    expect(paths(alone).map((path) => path === "fault.reset")).toEqual(
      [3, 6].reduce<boolean[]>((hit, nth) => hit.with(nth - 1, true), new Array(7).fill(false)),
    );
    expect(paths(second).map((path) => path.slice(0, 9))).toEqual([
      "fault.sta",
      "200.test",
      "fault.sta",
      "200.test",
      "200.test",
      "fault.res",
      "200.test",
    ]);
  });
});

describe("what a fault does", () => {
  const drastic: readonly (readonly [Fault["then"], string, number, string | null])[] = [
    [{ latency: "1s" }, "fault.latency", 200, null],
    [{ slow: 100 }, "fault.slow", 200, null],
    [{ latency: "1s", slow: 100 }, "fault.slow", 200, null],
    [{ status: 500 }, "fault.status", 500, "internal_error"],
    [{ status: 501 }, "fault.status", 501, "not_implemented"],
    [{ status: 502 }, "fault.status", 502, "bad_gateway"],
    [{ status: 503, slow: 10 }, "fault.status", 503, "service_unavailable"],
    [{ status: 504, latency: "1s" }, "fault.status", 504, "gateway_timeout"],
    [{ status: 502, body: "html" }, "fault.status", 502, null],
    [{ malformed: true, slow: 10, latency: "1s" }, "fault.malformed", 200, null],
    [{ truncate: true }, "fault.truncate", 200, null],
    [{ truncate: true, status: 503, slow: 10 }, "fault.truncate", 503, "service_unavailable"],
    [{ hang: true }, "fault.hang", 0, null],
    [{ reset: true, latency: "1s" }, "fault.reset", 0, null],
    [{ reset: true, hang: false, truncate: false }, "fault.reset", 0, null],
  ];

  test.each(
    drastic,
  )("R24 %j is journaled as %s with status %i and code %s, and counts when it only delays", (then, fault, status, code) => {
    const world = worldWith({ then });
    const delays = fault === "fault.latency" || fault === "fault.slow";
    expect(send(world)).toMatchObject({
      fault,
      pathId: delays ? "200.test" : fault,
      status,
      code,
      key: "main",
    });
    expect(world.journal.list({ pathId: fault })).toHaveLength(1);
    // R24: a request counts only when its own answer comes whole.
    expect([used(world), world.registry.key("main").usage.minuteCount]).toEqual(delays ? [1, 1] : [0, 0]);
  });

  test("what is only delayed ends as it would have ended, on its own path", () => {
    const world = worldWith({ then: { latency: { min: "5ms", max: "9ms" } } });
    expect(send(world, { key: "revoked" })).toMatchObject({
      pathId: "401.revoked",
      fault: "fault.latency",
      code: "unauthorized",
    });
    expect(world.journal.list({ pathId: "401.revoked" })).toHaveLength(1);
    expect(world.journal.list({ pathId: "fault.latency" })).toHaveLength(1);
  });

  test("a latency is part of the duration, and a range is used from end to end", () => {
    const world = worldWith({ then: { latency: { min: "100ms", max: "110ms" } } });
    const delays = Array.from({ length: 500 }, () => {
      const { delivery } = handle(world, { method: "GET", path: mePath, apiKey: undefined });
      return delivery?.delayMs ?? 0;
    });
    expect(new Set(delays)).toEqual(new Set(Array.from({ length: 11 }, (_, index) => 100 + index)));
    expect(send(world).durationMs).toBeGreaterThanOrEqual(100);
  });

  test("R27 a status has the API's error body; html has a page that is no JSON", () => {
    const ask = (world: World) => handle(world, { method: "GET", path: mePath, apiKey: undefined }).answer;
    const plain = ask(worldWith({ then: unavailable }));
    expect(JSON.parse(plain.body)).toEqual({
      error: { code: "service_unavailable", message: expect.any(String) },
    });
    const page = ask(worldWith({ then: { status: 502, body: "html" } }));
    expect(page.headers).toContain("text/html");
    expect(page.body).toMatch(/^<html>[\s\S]*502 Bad Gateway[\s\S]*<\/html>/);
    for (const { headers, body } of [plain, page]) {
      expect(headers[headers.indexOf("Content-Length") + 1]).toBe(String(Buffer.byteLength(body)));
    }
  });

  test("R14 nothing of a broken answer depends on the key, and no JSON parser takes it", () => {
    const world = worldWith({ then: { malformed: true } });
    const bodies = ["main", "revoked", "third"].map((key) => {
      const { answer } = handle(world, { method: "GET", path: mePath, apiKey: scenarioSecret(world, key) });
      expect(answer.status).toBe(200);
      expect(() => JSON.parse(answer.body)).toThrow(SyntaxError);
      return answer.body;
    });
    expect(new Set(bodies).size).toBe(1);
  });

  test("an answer to HEAD has the same head and no body", () => {
    for (const [then] of drastic) {
      const [world, twin] = [worldWith({ then }), worldWith({ then })];
      const apiKey = scenarioSecret(world, "main");
      const get = handle(world, { method: "GET", path: mePath, apiKey });
      const head = handle(twin, { method: "HEAD", path: mePath, apiKey });
      expect(head).toEqual({ ...get, answer: { ...get.answer, body: "" } });
    }
  });
});
