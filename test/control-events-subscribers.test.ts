import { connect } from "node:net";
import { afterAll, beforeEach, describe, expect, test, vi } from "vitest";
import { serveControl } from "./control/client.js";
import { count, ids, oneTo, subscribe } from "./control/subscribe.js";
import { allHaveLeft, heard } from "./support/heard-listeners.js";

vi.mock("../src/sandbox/event-log.js", async (importOriginal) => {
  const { countListeners } = await import("./support/heard-listeners.js");
  return countListeners(await importOriginal());
});
// Whoever has listened in one test has left before the next one.
beforeEach(allHaveLeft);
afterAll(allHaveLeft);

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
