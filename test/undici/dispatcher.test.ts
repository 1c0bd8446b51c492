import { createHook } from "node:async_hooks";
import { channel } from "node:diagnostics_channel";
import { type Dispatcher, getGlobalDispatcher, MockAgent, request, setGlobalDispatcher } from "undici";
import { describe, expect, onTestFinished, test } from "vitest";
import { createSandbox, type Fault, type Sandbox } from "../../src/index.js";
import { createDispatcher } from "../../src/integrations/undici.js";
import { startServer } from "../../src/server/index.js";
import { mePath } from "../support/doors.js";
import { scenarioWith } from "../support/faulty.js";

const url = `https://api.example${mePath}`;
const headersOf = (sandbox: Sandbox, key = "main") => ({ "x-api-key": sandbox.secret(key) });

function open(then?: Fault["then"]) {
  const faults = then === undefined ? [] : [{ when: { key: "main" }, then }];
  const sandbox: Sandbox = createSandbox({ scenario: scenarioWith(faults) });
  const dispatcher = createDispatcher(sandbox);
  const ask = (options: Partial<Dispatcher.RequestOptions> = {}, key?: string) =>
    request(url, { dispatcher, headers: headersOf(sandbox, key), ...(options as object) });
  return { sandbox, dispatcher, ask };
}

describe("faults look to undici's request as they do on a socket", () => {
  /** How a request ends: status and body, or the error. */
  const ending = async (ask: ReturnType<typeof open>["ask"]) => {
    const options = { headersTimeout: 1000 };
    const response = await ask(options).catch(({ name, code, message }) => ({ name, code, message }));
    if (!("body" in response)) return response;
    const body = await response.body.text().catch(({ name, code, message }) => ({ name, code, message }));
    return [response.statusCode, typeof body === "string" ? body.slice(0, 8) : body];
  };

  test.each<Fault["then"]>([
    { reset: true },
    { hang: true },
    { truncate: true },
    { slow: 5000 },
    { latency: "20ms" },
    { status: 502, body: "html" },
  ])("%j", async (then) => {
    const { sandbox, ask } = open(then);
    const seen = await ending(ask);
    await using server = await startServer({ scenario: scenarioWith([{ when: { key: "main" }, then }]) });
    const headers = { "x-api-key": server.sandbox.secret("main") };
    expect(seen).toEqual(
      await ending((options) => request(server.url + mePath, { headers, ...options } as never)),
    );
    // The others go on, and nothing is counted that should not be.
    expect((await ask({}, "other")).statusCode).toBe(200);
    expect(sandbox.keys.get("main").usage.today).toBe(
      "slow" in then || ("latency" in then && !("reset" in then)) ? 1 : 0,
    );
  });
});

test("no socket is opened, and no name is looked up", async () => {
  const opened: unknown[] = [];
  const note = (message: unknown) => void opened.push(message);
  const sockets = channel("net.client.socket");
  sockets.subscribe(note);
  onTestFinished(() => void sockets.unsubscribe(note));
  const before = getGlobalDispatcher();
  onTestFinished(() => setGlobalDispatcher(before));

  const { sandbox, dispatcher, ask } = open();
  setGlobalDispatcher(dispatcher);
  const headers = headersOf(sandbox);
  const responses = await Promise.all([
    ...Array.from({ length: 20 }, () => ask()),
    request("http://no-such-host.invalid:1/v1/relying-party/me", { headers }),
    request("https://127.0.0.1:1/anything"),
  ]);
  expect(responses.map(({ statusCode }) => statusCode)).toEqual([...Array(21).fill(200), 404]);
  expect((await fetch(url, { headers })).status).toBe(200);
  expect(opened).toEqual([]);

  // What is listened to here tells of every socket.
  setGlobalDispatcher(before);
  await using server = await startServer({ scenario: "key-states" });
  expect((await fetch(server.url)).status).toBe(404);
  expect(opened).toHaveLength(1);
});

test("Jest's --detectOpenHandles does not find the parser of an idle connection: nothing tracked has made it", async () => {
  const { stackTraceLimit } = Error;
  // As Jest sets it: the test stands far down.
  Error.stackTraceLimit = 100;
  onTestFinished(() => {
    Error.stackTraceLimit = stackTraceLimit;
  });
  const tracked = new Set<number>();
  const isOfTest: boolean[] = [];
  const hook = createHook({
    init(id, type, trigger) {
      if (type === "PROMISE") return;
      // Without the frame of this hook.
      const frames = new Error().stack?.split("\n").slice(2).join("\n") ?? "";
      const isTracked = frames.includes(import.meta.filename) || tracked.has(trigger);
      if (isTracked) tracked.add(id);
      if (type === "HTTPINCOMINGMESSAGE") isOfTest.push(isTracked);
    },
    destroy: (id) => void tracked.delete(id),
  }).enable();
  onTestFinished(() => void hook.disable());
  expect((await open().ask()).statusCode).toBe(200);
  expect(isOfTest).toEqual([false]);
});

describe("with a base URL", () => {
  const elsewhere = () => {
    const agent = new MockAgent();
    agent.disableNetConnect();
    for (const origin of ["https://api.example", "https://other.example"])
      agent.get(origin).intercept({ path: /./ }).reply(299, "elsewhere").persist();
    return agent;
  };

  test.each([
    ["https://api.example/", "https://api.example/v1/relying-party/me?a=b", 200],
    ["https://API.example:443/base/", "https://api.example/base/v1/relying-party/me", 200],
    ["https://api.example/base", "https://api.example/basement/v1/relying-party/me", 299],
    ["https://api.example", "https://other.example/v1/relying-party/me", 299],
    ["https://api.example", "https://api.example.other.example/v1/relying-party/me", "MockNotMatchedError"],
  ])("%s: %s gets %s", async (baseUrl, to, expected) => {
    const { sandbox } = open();
    const dispatcher = createDispatcher(sandbox, { baseUrl, fallback: elsewhere() });
    const response = await request(to, { dispatcher, headers: headersOf(sandbox) }).catch((error) => error);
    expect(response.statusCode ?? response.name).toBe(expected);
  });

  test("the fallback is the global dispatcher at the time of the call", async () => {
    const before = getGlobalDispatcher();
    onTestFinished(() => setGlobalDispatcher(before));
    setGlobalDispatcher(elsewhere());
    const { sandbox } = open();
    setGlobalDispatcher(createDispatcher(sandbox, { baseUrl: "https://api.example" }));
    const statuses = async (get: (to: string) => Promise<number>) =>
      Promise.all([`${url}`, "https://other.example/x"].map(get));
    const headers = headersOf(sandbox);
    expect(await statuses(async (to) => (await request(to, { headers })).statusCode)).toEqual([200, 299]);
    expect(await statuses(async (to) => (await fetch(to, { headers })).status)).toEqual([200, 299]);
  });

  test("an invalid URL and an unknown option are rejected", () => {
    const { sandbox } = open();
    const codeOf = (options: object) => {
      try {
        createDispatcher(sandbox, options);
      } catch (error) {
        return (error as { code: string }).code;
      }
      return undefined;
    };
    expect(codeOf({ baseUrl: "api.example" })).toBe("usage");
    expect(codeOf({ baseURL: "https://api.example" })).toBe("validation_failed");
  });
});
