import { connect } from "node:net";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Fault } from "../../src/index.js";
import type { SandboxServer } from "../../src/server/index.js";
import { mePath } from "../support/doors.js";
import { scenarioWith } from "../support/faulty.js";
import { requested } from "../support/requested.js";
import { served } from "../support/servers.js";

// The pauses of faults, in milliseconds: recorded, and over immediately.
const pauses = vi.hoisted((): number[] => []);
vi.mock("../../src/node/platform.js", async (original) => {
  const platform = await original<typeof import("../../src/node/platform.js")>();
  const setTimeout = (act: () => void, ms: number) => {
    if (ms >= 1000) return platform.timers.setTimeout(act, ms);
    pauses.push(ms);
    return platform.timers.setTimeout(act, 0);
  };
  return { ...platform, timers: { ...platform.timers, setTimeout } };
});
beforeEach(() => void pauses.splice(0));

let server: SandboxServer;

// A server on which every request with the key `main` meets the fault, and none with another key.
async function serve(then: Fault["then"]): Promise<SandboxServer> {
  server = await served({ scenario: scenarioWith([{ when: { key: "main" }, then }]) });
  return server;
}

afterEach(async () => {
  // Whatever a client was put through, the server responses the next one, and has counted nothing it should not have.
  const other = await callWith("other");
  expect(other.status).toBe(200);
  expect((await other.json()).data.usage.today).toBe(1);
});

const port = () => Number(new URL(server.url).port);
const watch = (options: { method?: string; from?: Promise<unknown> } = {}): Promise<Watched> =>
  watchConnection(port(), { key: server.sandbox.secret("main"), ...options });
const callWith = (key: string, init: RequestInit = {}) =>
  fetch(server.url + mePath, { ...init, headers: { "x-api-key": server.sandbox.secret(key) } });
const call = (init?: RequestInit) => callWith("main", init);
const counted = () => server.sandbox.keys.get("main").usage.today;

async function failureOf(promise: Promise<unknown>): Promise<{ name: string; code: string | undefined }> {
  try {
    await promise;
  } catch (error) {
    const { name, cause } = error as Error & { cause?: { code?: string } };
    return { name, code: cause?.code };
  }
  throw new Error("it did not fail");
}

test("latency: one pause, and then the whole response, which counts", async () => {
  await serve({ latency: "400ms" });
  const { text, over } = await watch();
  expect(pauses).toEqual([400]);
  expect(JSON.parse(readResponse(text).body).data.usage.today).toBe(1);
  expect(over).toBe("given up");
});

test("reset: the connection is reset before a byte has come", async () => {
  await serve({ reset: true });
  expect(await watch()).toEqual({ text: "", over: "reset" });
  expect(await failureOf(call())).toEqual({ name: "TypeError", code: "ECONNRESET" });
  expect(counted()).toBe(0);
});

test("hang: nothing comes until the client gives up", async () => {
  await serve({ hang: true });
  expect(await watch({ from: requested(server.sandbox) })).toEqual({ text: "", over: "given up" });
  expect((await failureOf(call({ signal: AbortSignal.timeout(100) }))).name).toBe("TimeoutError");
  expect(counted()).toBe(0);
});

test("truncate: half of the announced body, then the connection ends", async () => {
  await serve({ truncate: true });
  const { text, over } = await watch();
  const { status, announced, body } = readResponse(text);
  expect(status).toBe(200);
  expect(body).toHaveLength(Math.floor(announced / 2));
  expect(body).toMatch(/^\{"data":\{"organization":/);
  expect(over).toBe("ended");
  expect((await failureOf((await call()).text())).code).toBe("UND_ERR_SOCKET");
  expect(counted()).toBe(0);
});

test("slow: the head immediately, then a number of bytes per second, and the response counts", async () => {
  await serve({ slow: 200 });
  const { text, over } = await watch();
  const { announced, body } = readResponse(text);
  expect(body).toHaveLength(announced);
  expect(JSON.parse(body).data.usage.today).toBe(1);
  expect(pauses).toEqual(new Array(Math.ceil(announced / 10)).fill(50));
  expect(over).toBe("given up");
});

test.each<[Fault["then"], status: number, over: Watched["over"]]>([
  [{ status: 503 }, 503, "given up"],
  [{ truncate: true }, 200, "given up"],
])("HEAD: %j has the head of the response with status %i and no body", async (then, status, over) => {
  await serve(then);
  const seen = await watch({ method: "HEAD" });
  const response = { status, announced: expect.any(Number), body: "" };
  expect([readResponse(seen.text), seen.over]).toEqual([response, over]);
});

test("several requests on one connection meet their faults one after the other", async () => {
  server = await served({
    scenario: scenarioWith([
      { when: { key: "main", requests: [1, 3] }, then: { latency: "100ms", status: 503 } },
      { when: { key: "main", requests: [4] }, then: { reset: true } },
    ]),
  });
  const one = `GET ${mePath} HTTP/1.1\r\nHost: x\r\nx-api-key: ${server.sandbox.secret("main")}\r\n\r\n`;
  const text = await new Promise<string>((resolve) => {
    const socket = connect(port(), "127.0.0.1", () => socket.write(one.repeat(3)));
    let received = "";
    socket.on("data", (chunk) => {
      received += chunk;
      if (received.split("HTTP/1.1 ").length === 4) socket.write(one);
    });
    socket.on("error", () => {});
    socket.on("close", () => resolve(received));
  });
  expect([...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map((match) => match[1])).toEqual(["503", "200", "503"]);
  expect(counted()).toBe(1);
});

test("X-Sandbox-Outcome names the fault, or the outcome of a response that is only late", async () => {
  server = await served({
    explain: true,
    scenario: scenarioWith([
      { when: { key: "main", requests: [1] }, then: { status: 504 } },
      { when: { key: "main" }, then: { latency: "1ms" } },
    ]),
  });
  const outcomes = [await call(), await call()].map(({ headers }) => headers.get("x-sandbox-outcome"));
  expect(outcomes).toEqual(["fault.status", "200.test"]);
});

/** What a client saw on a connection of its own. */
interface Watched {
  /** Everything that came, as Latin-1. */
  readonly text: string;
  /** How it was over: the server ended it or reset it, or the client gave up after nothing had come for a while. */
  readonly over: "ended" | "reset" | "given up";
}

/** How long nothing comes before a client gives up, in milliseconds. */
const silence = 300;

/**
 * Sends one request over `node:net` and watches what becomes of the connection. Gives up after some silence, which begins
 * when the whole response has come, or when `from` is resolved: a busy server may take longer for its first byte.
 */
function watchConnection(
  port: number,
  { key, method = "GET", from }: { key: string; method?: string; from?: Promise<unknown> | undefined },
): Promise<Watched> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: "127.0.0.1" });
    let text = "";
    let over: Watched["over"] = "ended";
    const giveUpLater = () =>
      socket.setTimeout(silence, () => {
        over = "given up";
        socket.destroy();
      });
    from?.then(giveUpLater);
    socket.on("connect", () => {
      socket.write(`${method} ${mePath} HTTP/1.1\r\nHost: any.example\r\nx-api-key: ${key}\r\n\r\n`);
    });
    socket.on("data", (chunk) => {
      text += chunk.toString("latin1");
      const { announced, body } = readResponse(text);
      if (text.includes("\r\n\r\n") && (method === "HEAD" || body.length >= announced)) giveUpLater();
    });
    socket.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "ECONNRESET") over = "reset";
    });
    socket.on("close", () => resolve({ text, over }));
  });
}

/** Status, announced length and body of the one response in the text; the body may be shorter than announced. */
function readResponse(text: string): { status: number; announced: number; body: string } {
  const headEnd = text.indexOf("\r\n\r\n");
  const head = text.slice(0, headEnd);
  return {
    status: Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1]),
    announced: Number(/^content-length: (\d+)$/im.exec(head)?.[1]),
    body: text.slice(headEnd + 4),
  };
}
