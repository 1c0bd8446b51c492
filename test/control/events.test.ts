import { createHook } from "node:async_hooks";
import { connect, type Socket } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { type ServedControl, serveControl } from "./client.js";
import { count, ids, names, oneTo, type SeenEvent, subscribe } from "./subscribe.js";

const callMe = ({ server }: ServedControl, secret: string, base = "") =>
  fetch(`${server.url}${base}/v1/relying-party/me`, { headers: { "x-api-key": secret } });
const tick = ({ server }: ServedControl, times = 1) => {
  for (let i = 0; i < times; i++) server.sandbox.clock.advance("1m");
};

describe("events", () => {
  test("R34 come in order, without gaps and without keys, from any cause", async () => {
    const control = await serveControl();
    const { server, ask } = control;
    const subscriber = await subscribe(server.url);
    expect(subscriber.status).toBe(200);
    const write = async (call: string, json: object = {}) => {
      const [method, path] = call.split(" ") as [string, string];
      return (await ask(path, { method, json })).body?.data;
    };
    const key = { organization: "harvest-bank", environment: "test", name: "CI" };
    const { secret } = await write("POST /keys", key);
    await callMe(control, secret);
    const rotated = (await write("POST /keys/ci/rotate")).secret;
    await callMe(control, `${rotated}x`);
    server.sandbox.keys.revoke("ci-2");
    await write("PATCH /organizations/harvest-bank", { status: "inactive" });
    await write("PUT /clock", { frozen: false });
    await write("PUT /assumptions", { rate_limit_code: "slow_down" });
    const lines = (await ask("/requests")).body.data;
    await write("DELETE /requests");
    await write("PUT /scenario", { name: "rotation" });
    await write("POST /reset");
    await subscriber.until(count(11));
    expect(names(subscriber)).toEqual([
      ...["key.created", "request", "key.rotated", "request", "key.revoked", "organization.updated"],
      ...["clock.moved", "assumptions.changed", "requests.cleared", "sandbox.started", "sandbox.started"],
    ]);
    expect(ids(subscriber)).toEqual(oneTo(11));
    const data = subscriber.events.map((event) => event.data);
    expect(data[0].key).toMatchObject({ ref: "ci", state: "active", usage: { today: 0 } });
    expect([data[1], data[3]]).toEqual(lines);
    expect(data[2]).toMatchObject({
      key: { ref: "ci", state: "retiring", replaced_by: "ci-2" },
      replacement: { ref: "ci-2", replaces: "ci" },
    });
    expect(data[9]).toEqual({ scenario: "rotation", seed: 1 });
    for (const one of [secret, rotated]) expect(subscriber.text()).not.toContain(one.slice(12));
  });

  test("have at most 100 readers of an instance, and a place again once one leaves", async () => {
    const { server, ask } = await serveControl();
    const readers = await Promise.all(Array.from({ length: 100 }, () => subscribe(server.url)));
    expect(readers.filter(({ status }) => status !== 200)).toEqual([]);
    const rejected = await ask("/events");
    expect([rejected.status, rejected.body.error]).toEqual([
      503,
      expect.objectContaining({ code: "too_many_event_streams", message: expect.stringMatching(/100/) }),
    ]);
    readers[0]?.leave();
    await expect.poll(async () => (await subscribe(server.url)).status).toBe(200);
  });

  test("leave out probes of any server, as do the journal, its count and a capture", async () => {
    const control = await serveControl({ profile: "varied" });
    const { server, ask } = control;
    const key = server.sandbox.secret("active");
    const pathsOf = async (query = "") =>
      (await ask(`/requests${query}`)).body.data.map(({ path }: { path: string }) => path);
    const subscriber = await subscribe(server.url);
    await fetch(`${server.url}/favicon.ico`);
    expect(await pathsOf()).toEqual([]);
    expect(() => server.sandbox.capture()).toThrow("no request of a client");
    await callMe(control, key);
    await fetch(`${server.url}/metrics`, { method: "HEAD" });
    await fetch(`${server.url}/metrics`, { headers: { "x-api-key": key } });
    const seen = ["/v1/relying-party/me", "/metrics"];
    expect([await pathsOf(), await pathsOf("?probes=false")]).toEqual([seen, seen]);
    expect(await pathsOf("?probes=true")).toEqual(["/favicon.ico", seen[0], "/metrics", "/metrics"]);
    expect([server.sandbox.requests.total(), server.sandbox.report().requests]).toEqual([2, 2]);
    await subscriber.until(count(2));
    expect(subscriber.events.map(({ data }) => data.path)).toEqual(seen);
  });

  test("of an instance come only to its subscribers, and end with it", async () => {
    const control = await serveControl({ instanceTtl: 1000 });
    const { server, ask } = control;
    const create = async () => (await ask("/instances", { method: "POST" })).body.data;
    const [one, idle] = [await create(), await create()];
    const base = `/i/${one.id}`;
    const outer = await subscribe(server.url);
    const [inner, other] = [
      await subscribe(server.url, { base }),
      await subscribe(server.url, { base: `/i/${idle.id}` }),
    ];
    await callMe(control, one.keys.active, base);
    server.sandbox.keys.revoke("active");
    await Promise.all([outer.until(count(1)), inner.until(count(1))]);
    expect([names(outer), names(inner)]).toEqual([["key.revoked"], ["request"]]);
    await ask(`/instances/${one.id}`, { method: "DELETE" });
    expect(await Promise.all([inner.ended, other.ended])).toEqual(["ended", "ended"]);
    tick(control);
    await outer.until(count(2));
  });
});

describe("resuming", () => {
  test("after an id gives what came since, across another scenario as well", async () => {
    const control = await serveControl();
    const first = await subscribe(control.server.url);
    tick(control);
    await first.until(count(1));
    first.leave();
    tick(control);
    await control.ask("/scenario", { method: "PUT", json: { name: "rotation" } });
    tick(control);
    const second = await subscribe(control.server.url, { from: 1 });
    tick(control);
    await second.until(count(4));
    expect(ids(second)).toEqual([2, 3, 4, 5]);
    expect(names(second)).toEqual(["clock.moved", "sandbox.started", "clock.moved", "clock.moved"]);
  });

  test("after the latest id, or none, gives only new events", async () => {
    const control = await serveControl();
    tick(control, 3);
    for (const from of ["", "three", "-1", "1e2", "9".repeat(20)]) {
      const subscriber = await subscribe(control.server.url, { from });
      tick(control);
      await subscriber.until(count(1));
      expect(names(subscriber)).toEqual(["clock.moved"]);
    }
  });

  test("too late, or from the future, reports lost events, and continues from there", async () => {
    const control = await serveControl();
    const first = await subscribe(control.server.url);
    tick(control, 3000);
    await first.until(count(3000));
    for (const from of [1, 9999]) {
      const late = await subscribe(control.server.url, { from });
      await late.until(count(1));
      const id = first.events.at(-1)?.id;
      expect(late.events).toEqual([{ id, event: "events.lost", data: { last_event_id: from } }]);
      tick(control);
      await late.until(count(2));
      const latest = late.events[1] as SeenEvent;
      await first.until((events) => events.some((event) => event.id === latest.id));
      expect(latest).toEqual(first.events.at(-1));
    }
    const recent = await subscribe(control.server.url, { from: 2500 });
    await recent.until(count(502));
    expect(ids(recent)).toEqual(Array.from({ length: 502 }, (_, index) => 2501 + index));
  });
});

test("a flood of requests gets no events of its own, but all other events come", async () => {
  const control = await serveControl();
  const subscriber = await subscribe(control.server.url);
  const ask = (times: number) => {
    for (let i = 0; i < times; i++) void control.server.sandbox.fetch("http://any.example/v1/nothing");
    tick(control);
  };
  const last = (id: number) => (events: readonly SeenEvent[]) => events.at(-1)?.id === id;
  ask(100);
  await subscriber.until(last(101));
  expect(ids(subscriber)).toEqual(oneTo(101));
  // More than the history keeps, and another event after them, within one turn.
  ask(2500);
  await subscriber.until(last(2602));
  const [first, ...others] = subscriber.events.slice(101);
  expect(first).toMatchObject({ event: "events.lost", data: { last_event_id: 101 } });
  expect(others.filter(({ event }) => event !== "events.lost")).toEqual([
    expect.objectContaining({ id: 2602, event: "clock.moved" }),
  ]);
  // A reader that resumes gets everything that the history keeps.
  const resumed = await subscribe(control.server.url, { from: 2501 });
  await resumed.until(last(2602));
  expect(ids(resumed)).toEqual(oneTo(101).map((number) => 2501 + number));
});

/** A subscriber that never reads. */
function deafTo({ server }: ServedControl): Socket {
  const deaf = connect(Number(new URL(server.url).port), "127.0.0.1");
  onTestFinished(() => void deaf.destroy());
  deaf.on("error", () => {}).pause();
  deaf.write("GET /__sandbox/events HTTP/1.1\r\nHost: localhost\r\n\r\n");
  return deaf;
}

describe("subscribers", () => {
  test("a subscriber that never reads is disconnected, and delays neither the server nor the others", async () => {
    const control = await serveControl();
    const reading = await subscribe(control.server.url);
    const deaf = deafTo(control);
    const path = `http://any.example/v1/${"x".repeat(400)}`;
    // 10 MB of events: far more than the server keeps for a subscriber, and than the sockets take.
    for (let round = 1; round <= 150; round++) {
      for (let i = 0; i < 100; i++) await control.server.sandbox.fetch(path);
      // With 500 events, the batch is sent immediately.
      tick(control, 400);
      await reading.until(count(500 * round));
    }
    expect(ids(reading)).toEqual(oneTo(75_000));
    const closed = new Promise((resolve) => deaf.once("close", resolve));
    let received = 0;
    deaf.on("data", (chunk) => {
      received += chunk.length;
    });
    deaf.resume();
    await closed;
    expect(received).toBeLessThan(reading.text().length);
    expect((await control.ask("/health")).status).toBe(200);
  });

  test("end at once when the server closes, which waits for none that never reads", async () => {
    const control = await serveControl();
    const subscribers = await Promise.all(Array.from({ length: 5 }, () => subscribe(control.server.url)));
    const deaf = deafTo(control);
    for (let i = 0; i < 500; i++) await control.server.sandbox.fetch(`http://any.example/${"x".repeat(400)}`);
    const closing = control.server.close(50);
    // Between the end of a stream and that of its connection: no defect.
    tick(control, 10);
    expect(await Promise.all(subscribers.map(({ ended }) => ended))).toEqual(Array(5).fill("ended"));
    await closing;
    deaf.resume();
    await expect.poll(() => deaf.closed).toBe(true);
  });

  test("have a comment every five seconds, so that a client detects a server that hangs", async () => {
    const { server } = await serveControl();
    // Node has no other way to a timer of another module.
    const timers: { readonly _idleTimeout: number; readonly _onTimeout: () => void }[] = [];
    const hook = createHook({
      init: (_id, type, _trigger, resource) => type === "Timeout" && timers.push(resource as never),
    }).enable();
    onTestFinished(() => void hook.disable());
    const subscriber = await subscribe(server.url);
    timers.find(({ _idleTimeout: every }) => every === 5000)?._onTimeout();
    await expect.poll(subscriber.text).toMatch(/^: still here\n\n/m);
  });

  test("HEAD gets its response immediately", async () => {
    const { server, ask } = await serveControl();
    const { status, headers, text } = await ask("/events", { method: "HEAD" });
    expect([status, headers["content-type"], text]).toEqual([200, "text/event-stream", ""]);
    expect(headers["x-accel-buffering"]).toBe("no");
    expect((await subscribe(server.url, { base: "/i/nothing" })).status).toBe(404);
  });
});
