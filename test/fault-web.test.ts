import http from "node:http";
import { setupServer } from "msw/node";
import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { createSandbox, type Fault, type Sandbox } from "../src/index.js";
import { createHandlers } from "../src/msw/create-handlers.js";
import { mePath } from "./support/doors.js";
import { expressDoor } from "./support/express-door.js";
import { scenarioWith } from "./support/faulty.js";

/** A way in which a client of this process reaches a sandbox with `fetch`. */
interface Way {
  readonly name: string;
  readonly open: (sandbox: Sandbox) => (input: Request | string, init?: RequestInit) => Promise<Response>;
}

const base = "https://api.example";
const ways: readonly Way[] = [
  { name: "sandbox.fetch", open: (sandbox) => sandbox.fetch },
  {
    name: "msw",
    open(sandbox) {
      const server = setupServer(...createHandlers(sandbox, { baseUrl: base }));
      server.listen({ onUnhandledRequest: "error" });
      onTestFinished(() => server.close());
      return fetch;
    },
  },
];

const faultyScenario = (then: Fault["then"]) => scenarioWith([{ when: { key: "main" }, then }]);
const faulty = (then: Fault["then"]) => createSandbox({ scenario: faultyScenario(then) });
const headersOf = (sandbox: Sandbox, key = "main") => ({ "x-api-key": sandbox.secret(key) });
const counted = (sandbox: Sandbox) => sandbox.keys.get("main").usage.today;

async function failureOf(promise: Promise<unknown>): Promise<Error> {
  try {
    await promise;
  } catch (error) {
    return error as Error;
  }
  throw new Error("it did not fail");
}

/** Settles with what the promise does, or with `silence` when that takes longer. */
function within<Value>(ms: number, promise: Promise<Value>): Promise<Value | "silence"> {
  return Promise.race([promise, new Promise<"silence">((resolve) => setTimeout(resolve, ms, "silence"))]);
}

afterEach(() => {
  vi.useRealTimers();
});

describe.each(ways)("$name", ({ open }) => {
  const callWith = (then: Fault["then"]) => {
    const sandbox = faulty(then);
    const reach = open(sandbox);
    return {
      sandbox,
      call: (init: RequestInit = {}, key = "main") =>
        reach(base + mePath, { ...init, headers: headersOf(sandbox, key) }),
    };
  };

  test("latency: the whole answer, later, and it counts", async () => {
    const { sandbox, call } = callWith({ latency: "250ms" });
    const started = performance.now();
    const response = await call();
    expect(performance.now() - started).toBeGreaterThan(240);
    expect((await response.json()).data.usage.today).toBe(1);
    expect(counted(sandbox)).toBe(1);
  });

  test("latency: ends with the request's signal", async () => {
    const { call } = callWith({ latency: "1h" });
    const error = await failureOf(call({ signal: AbortSignal.timeout(50) }));
    expect(error.name).toBe("TimeoutError");
  });

  test("status: the API's error body, or a gateway's page", async () => {
    const plain = await callWith({ status: 503 }).call();
    expect([plain.status, (await plain.json()).error.code]).toEqual([503, "service_unavailable"]);
  });

  test("status with html: a page", async () => {
    const { sandbox, call } = callWith({ status: 502, body: "html" });
    const page = await call();
    expect([page.status, page.headers.get("content-type")]).toEqual([502, "text/html"]);
    expect(await page.text()).toContain("502 Bad Gateway");
    expect(counted(sandbox)).toBe(0);
  });

  test("reset: a network error", async () => {
    const { sandbox, call } = callWith({ reset: true });
    expect(await failureOf(call())).toBeInstanceOf(TypeError);
    expect(counted(sandbox)).toBe(0);
  });

  test("hang: never resolves", async () => {
    const { call } = callWith({ hang: true });
    expect(await within(200, call())).toBe("silence");
  });

  test("hang: ends with the request's signal, with its reason", async () => {
    const { sandbox, call } = callWith({ hang: true });
    const abort = new AbortController();
    setTimeout(() => abort.abort(new Error("enough")), 50);
    expect((await failureOf(call({ signal: abort.signal }))).message).toBe("enough");
    expect(counted(sandbox)).toBe(0);
  });

  test("truncate: the head of the answer, and a body that breaks off", async () => {
    const { sandbox, call } = callWith({ truncate: true });
    const response = await call();
    expect(response.status).toBe(200);
    expect(await failureOf(response.text())).toBeInstanceOf(TypeError);
    const reader = (await call()).body?.getReader();
    const { value } = (await reader?.read()) ?? {};
    expect(new TextDecoder().decode(value)).toMatch(/^\{"data":/);
    expect(await failureOf(reader?.read() ?? Promise.resolve())).toBeInstanceOf(TypeError);
    expect(counted(sandbox)).toBe(0);
  });

  test("malformed: 200, and no JSON", async () => {
    const { sandbox, call } = callWith({ malformed: true });
    const response = await call();
    expect(response.status).toBe(200);
    expect(await failureOf(response.json())).toBeInstanceOf(SyntaxError);
    expect(counted(sandbox)).toBe(0);
  });

  test("slow: so many bytes per second, and it counts", async () => {
    const { call } = callWith({ slow: 400 });
    const started = performance.now();
    const response = await call();
    const text = await response.text();
    const seconds = (performance.now() - started) / 1000;
    expect(text.length / seconds).toBeLessThan(440);
    expect(text.length / seconds).toBeGreaterThan(150);
    expect(JSON.parse(text).data.usage.today).toBe(1);
  });

  test("slow: the body ends with the request's signal", async () => {
    const { call } = callWith({ slow: 10 });
    const abort = new AbortController();
    const response = await call({ signal: abort.signal });
    setTimeout(() => abort.abort(), 50);
    expect((await failureOf(response.text())).name).toBe("AbortError");
  });

  test.each<Fault["then"]>([
    { latency: "5ms" },
    { status: 500 },
    { truncate: true },
    { slow: 5 },
  ])("HEAD: %j has no body to spoil", async (then) => {
    const { call } = callWith(then);
    const response = await call({ method: "HEAD" });
    expect(response.status).toBe(then.status ?? 200);
    expect(Number(response.headers.get("content-length"))).toBeGreaterThan(40);
    expect(await response.text()).toBe("");
  });

  test("a key that no fault is meant for is answered as ever", async () => {
    const { call } = callWith({ hang: true });
    expect((await call({}, "other")).status).toBe(200);
  });
});

test("sandbox.fetch fails as Node's own fetch does when the connection is reset", async () => {
  const sandbox = faulty({ reset: true });
  const error = await failureOf(sandbox.fetch(base + mePath, { headers: headersOf(sandbox) }));
  expect(error).toMatchObject({ name: "TypeError", message: "fetch failed", cause: { code: "ECONNRESET" } });
});

test("a latency waits on the fake timers of a test runner", async () => {
  vi.useFakeTimers();
  const sandbox = faulty({ latency: "1h" });
  const answer = sandbox.fetch(base + mePath, { headers: headersOf(sandbox) });
  await vi.advanceTimersByTimeAsync(60 * 60_000);
  expect((await answer).status).toBe(200);
});

/** What a client of `node:http` sees, which msw intercepts elsewhere than `fetch`. */
function callOverHttp(sandbox: Sandbox, { timeout = 300 } = {}): Promise<string> {
  return new Promise((resolve) => {
    const sending = http.request(`http://api.example${mePath}`, { headers: headersOf(sandbox), timeout });
    sending.on("timeout", () => sending.destroy(new Error("silence")));
    sending.on("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    sending.on("response", (response) => {
      let text = "";
      response.on("data", (chunk) => {
        text += chunk;
      });
      response.on("end", () => resolve(`${response.statusCode} ${text}`));
      response.on("error", (error: NodeJS.ErrnoException) => resolve(`broken off: ${error.message}`));
    });
    sending.end();
  });
}

test.each<readonly [Fault["then"], RegExp]>([
  [{ latency: "20ms" }, /^200 \{"data":.*\}$/],
  [{ status: 503 }, /^503 /],
  [{ malformed: true }, /^200 .*"organization":,/],
  [{ slow: 2000 }, /^200 \{"data":.*\}$/],
  [{ hang: true }, /^silence$/],
  [{ reset: true }, /^Network error$/],
  [{ truncate: true }, /^broken off/],
])("msw, a client of node:http: %j is met", async (then, seen) => {
  const sandbox = faulty(then);
  const server = setupServer(...createHandlers(sandbox, { baseUrl: "http://api.example" }));
  server.listen({ onUnhandledRequest: "error" });
  onTestFinished(() => server.close());
  const met = await callOverHttp(sandbox);
  expect(met).toMatch(seen);
});

test.each<readonly [Fault["then"], number | "cut" | "silence"]>([
  [{ latency: "20ms" }, 200],
  [{ status: 503 }, 503],
  [{ malformed: true }, 200],
  [{ slow: 2000 }, 200],
  [{ hang: true }, "silence"],
  [{ truncate: true }, "cut"],
  [{ reset: true }, 500],
])("http-middleware: %j comes as %s, and the app lives on", async (then, seen) => {
  const door = await expressDoor.open(faultyScenario(then), { frozen: false });
  const { sandbox } = door;
  onTestFinished(door.close);
  vi.spyOn(console, "error").mockImplementation(() => {});
  const ask = (key: string) => door.send({ headers: headersOf(sandbox, key) });
  const met = await within(
    1000,
    ask("main").then(
      ({ status }) => status,
      () => "cut" as const,
    ),
  );
  expect(met).toBe(seen);
  expect((await ask("other")).status).toBe(200);
});
