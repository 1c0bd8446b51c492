import { connect } from "node:net";
import { beforeEach, describe, expect, test, vi } from "vitest";
import type { EventLog } from "../src/sandbox/event-log.js";
import { type ServedControl, serveControl } from "./support/control-client.js";
import { type SeenEvent, type Subscriber, subscribe } from "./support/control-events.js";
import { mePath } from "./support/seen.js";

// How many listen to the logs of all hosts.
const heard = vi.hoisted(() => ({ listeners: 0 }));
vi.mock("../src/sandbox/event-log.js", async (importOriginal) => {
  const { createEventLog } = await importOriginal<typeof import("../src/sandbox/event-log.js")>();
  return {
    createEventLog(...given: Parameters<typeof createEventLog>): EventLog {
      const log = createEventLog(...given);
      return {
        ...log,
        subscribe(listener) {
          heard.listeners += 1;
          const leave = log.subscribe(listener);
          let there = true;
          return () => {
            leave();
            if (there) heard.listeners -= 1;
            there = false;
          };
        },
      };
    },
  };
});
// Whoever has listened in one test has left before the next one.
beforeEach(() => vi.waitUntil(() => heard.listeners === 0, { timeout: 5000, interval: 5 }));

const count = (wanted: number) => (events: readonly SeenEvent[]) => events.length >= wanted;
const names = ({ events }: Subscriber) => events.map(({ event }) => event);
const ids = ({ events }: Subscriber) => events.map(({ id }) => id);
const oneTo = (last: number) => Array.from({ length: last }, (_, index) => index + 1);

function callMe({ server }: ServedControl, secret: string, base = ""): Promise<Response> {
  return fetch(server.url + base + mePath, {
    headers: { "x-api-key": secret },
  });
}

describe("everything that happens", () => {
  test("R34 comes in the order in which it happened, without gaps, and with no key in it", async () => {
    const control = await serveControl();
    const { server, ask } = control;
    const subscriber = await subscribe(server.url);
    expect(subscriber.status).toBe(200);
    const { secret } = (
      await ask("/keys", {
        method: "POST",
        json: { organization: "harvest-bank", environment: "test", name: "CI" },
      })
    ).body.data;
    await callMe(control, secret);
    const rotated = (await ask("/keys/ci/rotate", { method: "POST" })).body.data.secret;
    await callMe(control, `${rotated}x`);
    await ask("/keys/ci-2/revoke", { method: "POST" });
    await ask("/organizations/harvest-bank", {
      method: "PATCH",
      json: { status: "inactive" },
    });
    await ask("/clock", { method: "PUT", json: { frozen: false } });
    await ask("/assumptions", {
      method: "PUT",
      json: { rate_limit_code: "slow_down" },
    });
    await ask("/requests", { method: "DELETE" });
    await ask("/scenario", { method: "PUT", json: { name: "rotation" } });
    await ask("/reset", { method: "POST" });
    await subscriber.until(count(11));
    expect(names(subscriber)).toEqual([
      "key.created",
      "request",
      "key.rotated",
      "request",
      "key.revoked",
      "organization.updated",
      "clock.moved",
      "assumptions.changed",
      "requests.cleared",
      "world.started",
      "world.started",
    ]);
    expect(ids(subscriber)).toEqual(oneTo(11));
    expect(subscriber.events[0]?.data.key).toMatchObject({
      ref: "ci",
      state: "active",
      usage: { today: 0 },
    });
    expect(subscriber.events[1]?.data).toMatchObject({
      key: "ci",
      status: 200,
      path_id: "200.test",
    });
    expect(subscriber.events[2]?.data).toMatchObject({
      key: { ref: "ci", state: "retiring", replaced_by: "ci-2" },
      replacement: { ref: "ci-2", replaces: "ci" },
    });
    expect(subscriber.events[3]?.data).toMatchObject({
      key: null,
      code: "unauthorized",
    });
    expect(subscriber.events[9]?.data).toEqual({
      scenario: "rotation",
      seed: 1,
    });
    for (const one of [secret, rotated]) expect(subscriber.text()).not.toContain(one.slice(12));
  });

  test("what is done through the library comes as well, and a request is what the journal says of it", async () => {
    const control = await serveControl();
    const subscriber = await subscribe(control.server.url);
    control.server.sandbox.keys.revoke("active");
    await callMe(control, control.server.sandbox.secret("active"));
    await subscriber.until(count(2));
    expect(names(subscriber)).toEqual(["key.revoked", "request"]);
    expect(subscriber.events[1]?.data).toEqual((await control.ask("/requests")).body.data[0]);
  });

  test("a thousand requests of fifty clients come once each, in the order of the journal", async () => {
    const control = await serveControl();
    const subscriber = await subscribe(control.server.url);
    const secret = control.server.sandbox.secret("active");
    await Promise.all(
      Array.from({ length: 50 }, async () => {
        for (let i = 0; i < 20; i++) await (await callMe(control, secret)).arrayBuffer();
      }),
    );
    await subscriber.until(count(1000));
    expect(ids(subscriber)).toEqual(oneTo(1000));
    const journal = (await control.ask("/requests")).body.data as {
      id: string;
    }[];
    expect(subscriber.events.map(({ data }) => data.id)).toEqual(journal.map(({ id }) => id));
  });

  test("an instance tells of itself alone", async () => {
    const control = await serveControl();
    const { id, keys } = (await control.ask("/instances", { method: "POST" })).body.data;
    const base = `/i/${id}`;
    const [outer, inner] = [
      await subscribe(control.server.url),
      await subscribe(control.server.url, { base }),
    ];
    await callMe(control, keys.active, base);
    await control.ask("/keys/active/revoke", { method: "POST" });
    await Promise.all([outer.until(count(1)), inner.until(count(1))]);
    expect([names(outer), names(inner)]).toEqual([["key.revoked"], ["request"]]);
  });
});

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

describe("subscribers", () => {
  test("a hundred of them hear the same, and leave nothing behind", async () => {
    const warnings: Error[] = [];
    const warn = (warning: Error) => warnings.push(warning);
    process.on("warning", warn);
    const control = await serveControl();
    const crowd = await Promise.all(Array.from({ length: 100 }, () => subscribe(control.server.url)));
    expect(heard.listeners).toBe(100);
    for (let i = 0; i < 10; i++) control.server.sandbox.clock.advance("1m");
    await Promise.all(crowd.map((one) => one.until(count(10))));
    for (const one of crowd) expect(one.events).toEqual(crowd[0]?.events);
    for (const one of crowd) one.leave();
    await vi.waitUntil(() => heard.listeners === 0, {
      timeout: 5000,
      interval: 5,
    });
    process.off("warning", warn);
    expect(warnings).toEqual([]);
  });

  test("one that never reads is cut off, and holds up neither the server nor the others", async () => {
    const control = await serveControl();
    const { port } = new URL(control.server.url);
    const reading = await subscribe(control.server.url);
    const deaf = connect(Number(port), "127.0.0.1");
    let closed = false;
    deaf.once("close", () => {
      closed = true;
    });
    deaf.on("error", () => {});
    deaf.pause();
    deaf.write("GET /__sandbox/events HTTP/1.1\r\nHost: localhost\r\n\r\n");
    await vi.waitUntil(() => heard.listeners === 2, {
      timeout: 5000,
      interval: 5,
    });

    const before = process.memoryUsage().rss;
    const path = `/v1/${"x".repeat(400)}`;
    let asked = 0;
    // Until the server has had enough of the deaf one; a hundred thousand events would be 60 MB to keep for it.
    while (heard.listeners === 2 && asked < 100_000) {
      await control.server.sandbox.fetch(`http://any.example${path}`);
      asked += 1;
      if (asked % 500 === 0) await reading.until(count(asked));
    }
    expect(heard.listeners).toBe(1);
    expect(asked).toBeLessThan(60_000);
    await reading.until(count(asked));
    expect(ids(reading)).toEqual(oneTo(asked));
    expect(process.memoryUsage().rss - before).toBeLessThan(300 * 1024 * 1024);
    // The connection is over for the deaf one as well, as soon as it listens.
    deaf.resume();
    await vi.waitUntil(() => closed, { timeout: 5000, interval: 5 });
    expect((await control.ask("/health")).status).toBe(200);
  });

  test("closing the server ends their streams at once, and what happens meanwhile is no defect", async () => {
    const control = await serveControl();
    const subscribers = await Promise.all(Array.from({ length: 5 }, () => subscribe(control.server.url)));
    const started = performance.now();
    const closing = control.server.close();
    // Between the end of the stream and that of its connection.
    for (let i = 0; i < 10; i++) control.server.sandbox.clock.advance("1m");
    expect(heard.listeners).toBe(0);
    expect(await Promise.all(subscribers.map(({ ended }) => ended))).toEqual(Array(5).fill("ended"));
    await closing;
    expect(performance.now() - started).toBeLessThan(1500);
  });

  test("closing does not wait longer than its grace for one that never reads", async () => {
    const control = await serveControl();
    const deaf = connect(Number(new URL(control.server.url).port), "127.0.0.1");
    deaf.on("error", () => {});
    deaf.pause();
    deaf.write("GET /__sandbox/events HTTP/1.1\r\nHost: localhost\r\n\r\n");
    await vi.waitUntil(() => heard.listeners === 1, {
      timeout: 5000,
      interval: 5,
    });
    for (let i = 0; i < 500; i++) await control.server.sandbox.fetch(`http://any.example/${"x".repeat(400)}`);
    await control.server.close(50);
    expect(heard.listeners).toBe(0);
    deaf.destroy();
  });
});

test("an instance that is removed, or goes because nobody uses it, ends the streams of its events and no other", async () => {
  const { server, ask } = await serveControl({ instanceTtl: 1000 });
  const bases: string[] = [];
  for (let i = 0; i < 2; i++) bases.push(`/i/${(await ask("/instances", { method: "POST" })).body.data.id}`);
  const outer = await subscribe(server.url);
  const [removed, idle] = await Promise.all(bases.map((base) => subscribe(server.url, { base })));
  await ask(bases[0]?.replace("/i/", "/instances/") as string, {
    method: "DELETE",
  });
  expect(await removed?.ended).toBe("ended");
  expect(await idle?.ended).toBe("ended");
  expect((await ask("/instances")).body.data).toEqual([]);
  server.sandbox.clock.advance("1m");
  await outer.until(count(1));
});

test("HEAD is answered at once and subscribes nobody; other methods get 405", async () => {
  const { server, ask } = await serveControl();
  const head = await ask("/events", { method: "HEAD" });
  expect([head.status, head.headers["content-type"], head.text]).toEqual([200, "text/event-stream", ""]);
  expect(heard.listeners).toBe(0);
  for (const method of ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"]) {
    const { status, headers } = await ask("/events", { method });
    expect([status, headers.allow]).toEqual([405, "GET, HEAD"]);
  }
  expect((await subscribe(server.url, { base: "/i/nothing" })).status).toBe(404);
});
