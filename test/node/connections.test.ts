import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { connect, Socket } from "node:net";
import { expect, onTestFinished, test, vi } from "vitest";
import type { Fault } from "../../src/index.js";
import { stateOf } from "../../src/library/sandbox-api.js";
import { version } from "../../src/node/package-files.js";
import { startInNode } from "../../src/node/platform.js";
import { resolveSource } from "../../src/scenario/scenario-source.js";
import { type SandboxServer, type ServerOptions, startServer } from "../../src/server/index.js";
import { createHttpServer } from "../../src/server/sockets/connections.js";
import { respondTo } from "../../src/server/sockets/respond.js";
import { scenarioWith } from "../support/faulty.js";
import { readResponses } from "../support/raw-socket.js";
import { requested } from "../support/requested.js";
import { mePath } from "../support/send.js";
import { listening, served } from "../support/servers.js";

const start = async (options: ServerOptions = {}) => {
  const server = await served(options);
  const port = Number(new URL(server.url).port);
  const get = (key: "active" | "main" | "other", more = "") =>
    `GET ${mePath} HTTP/1.1\r\nHost: any.example\r\nx-api-key: ${server.sandbox.secret(key as never)}\r\n${more}\r\n`;
  return { server, port, get };
};

/** Sends text on one connection; resolves with the responds once the server has closed it. */
const responsesTo = async (port: number, text: string) => {
  const socket = connect({ port, host: "127.0.0.1" }, () => socket.write(text));
  return readResponses(Buffer.concat(await socket.toArray()));
};

test.each([
  ["bytes that are no request", "no request\r\n\r\n"],
  ["a CONNECT", "CONNECT any.example:443 HTTP/1.1\r\nHost: any.example\r\n\r\n"],
])("%s are rejected after the responses in progress", async (_name, broken) => {
  for (const then of [{ latency: "50ms" }, { slow: 2000 }] as const) {
    const { port, get } = await start({ scenario: scenarioWith([{ then }]) });
    const responses = await responsesTo(port, `${get("main")}${get("main")}${broken}more of it`);
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 400]);
  }
});

test.each([
  ["a chunk without a length", "zz\r\n"],
  ["a length in its trailer", "0\r\nContent-Length: 3\r\n\r\n"],
])(
  "a request whose body breaks off after its response, with %s, gets no other response",
  async (_what, rest) => {
    const { port, get } = await start();
    const chunked = get("active", "Transfer-Encoding: chunked\r\n");
    expect((await responsesTo(port, chunked + rest)).map(({ status }) => status)).toEqual([200]);
  },
);

test("a request whose body breaks off behind a slow response gets nothing before that response", async () => {
  const { port, get } = await start({ scenario: scenarioWith([{ then: { latency: "50ms" } }]) });
  const broken = `${get("main", "Transfer-Encoding: chunked\r\n")}zz\r\n`;
  const statuses = (await responsesTo(port, get("main") + broken)).map(({ status }) => status);
  expect(statuses).toEqual([]);
});

/** Sends requests on one connection, each when the one before it is responded to; resolves with the bytes of the responses. */
const exchangeInTurn = async (port: number, requests: readonly string[]) => {
  const socket = connect({ port, host: "127.0.0.1" });
  onTestFinished(() => void socket.destroy());
  const responses: string[] = [];
  for (const request of requests) {
    socket.write(request);
    const [bytes] = await once(socket, "data");
    responses.push(String(bytes));
  }
  return responses;
};

test("a response has the same bytes as Node's own with these headers", async () => {
  const { port, get } = await start();
  const requests = [
    get("active"),
    get("active").replace("GET", "HEAD"),
    get("active").replace("x-api-key", "x-no-key"),
    get("active"),
    get("active", "Connection: keep-alive\r\n").replace("HTTP/1.1", "HTTP/1.0"),
    get("active", "Connection: close\r\n"),
  ];
  const responses = await exchangeInTurn(port, requests);
  const left = [...responses];
  const plain = createServer((_request, response) => {
    const [head = "", body] = (left.shift() as string).split("\r\n\r\n");
    const lines = head.split("\r\n").slice(1);
    const own = lines.filter((line) => !/^(?:connection|keep-alive):/i.test(line));
    response.writeHead(
      Number(head.split(" ")[1]),
      own.flatMap((line) => line.split(/: (.*)/).slice(0, 2)),
    );
    response.end(body);
  });
  expect(await exchangeInTurn(await listening(plain), requests)).toEqual(responses);
});

/** Calls a function at each request to a server, with the key's ref. */
const onRequest = ({ sandbox }: SandboxServer, act: (key: string | null) => void) =>
  stateOf(sandbox).journal.subscribe((event) => event.type === "request" && act(event.exchange.key));

test("requests of one chunk that wait for a slow response start no deeper in the stack than the first of them", async () => {
  const late: Fault = { when: { requests: [1] }, then: { latency: "20ms" } };
  const { server, port, get } = await start({ scenario: scenarioWith([late]) });
  const { stackTraceLimit } = Error;
  onTestFinished(() => void Object.assign(Error, { stackTraceLimit }));
  Error.stackTraceLimit = Number.POSITIVE_INFINITY;
  const depths: number[] = [];
  onRequest(server, () => depths.push(String(new Error().stack).split("\n").length));
  const responses = await responsesTo(port, get("main").repeat(300) + get("main", "Connection: close\r\n"));
  expect(responses.map(({ status }) => status)).toEqual(Array(301).fill(200));
  expect(depths).toHaveLength(301);
  expect(Math.max(...depths)).toBe(depths[1]);
});

test("a client that pipelines 4 MB leaves another one its response in between", async () => {
  const { server, port, get } = await start({ scenario: scenarioWith([]) });
  const keys: (string | null)[] = [];
  onRequest(server, (key) => keys.push(key));
  const close = "Connection: close\r\n";
  const other = connect({ port, host: "127.0.0.1" });
  await once(other, "connect");
  // More than the system gives in one turn of the event loop.
  const long = get("main", `x-trace: ${"0".repeat(1000)}\r\n`);
  const flood = responsesTo(port, long.repeat(4000) + get("main", close));
  await vi.waitUntil(() => keys.length > 0, { interval: 0, timeout: 60_000 });
  other.write(get("other", close));
  expect(readResponses(Buffer.concat(await other.toArray()))).toMatchObject([{ status: 200 }]);
  expect(keys.length).toBeLessThan(4000);
  expect(await flood).toHaveLength(4001);
});

test.each([
  ["two Host headers", "1.1", 2, 400],
  ["no Host header", "1.1", 0, 400],
  ["one Host header", "1.1", 1, 401],
  ["no Host header in HTTP/1.0", "1.0", 0, 401],
])("a request with %s gets a fixed status", async (_what, version, hosts, status) => {
  const { port } = await start();
  const head = `GET ${mePath} HTTP/${version}\r\n${"Host: any.example\r\n".repeat(hosts)}`;
  const [response] = await responsesTo(port, `${head}Connection: close\r\n\r\n`);
  expect(response?.status).toBe(status);
});

const noHost = `GET ${mePath} HTTP/1.1\r\nConnection: close\r\n\r\n`;
test.each([
  ["a request without a Host", noHost],
  ["a call of the control plane without a Host", noHost.replace(mePath, "/__sandbox/health")],
  ["a request with two Hosts", noHost.replace("\r\n", "\r\nHost: a.example\r\nHost: b.example\r\n")],
  ["a HEAD without a Host", noHost.replace("GET", "HEAD")],
  ["a request that is responded to", noHost.replace("\r\n", "\r\nHost: any.example\r\n")],
])("%s gets the date of the sandbox's clock", async (_what, text) => {
  const { server, port } = await start({ now: "2031-05-06T07:08:09Z", frozen: true });
  const dateOf = async () => /^date: (.*)$/im.exec((await responsesTo(port, text))[0]?.head ?? "")?.[1];
  expect(await dateOf()).toBe("Tue, 06 May 2031 07:08:09 GMT");
  server.sandbox.clock.advance("1h");
  expect(await dateOf()).toBe("Tue, 06 May 2031 08:08:09 GMT");
});

test("a defect of the control plane gets 500, and the server continues", async () => {
  const defects: unknown[] = [];
  const sandbox = startInNode(resolveSource("key-states"));
  const { server } = createHttpServer();
  respondTo(server, {
    sandbox,
    explain: false,
    async handleControl() {
      throw new Error("a defect");
    },
    baseUrlFor: () => "",
    stopping: new AbortController().signal,
    onDefect: (error) => defects.push(error),
  });
  const port = await listening(server as Server);
  const get = (path: string) =>
    responsesTo(port, `GET ${path} HTTP/1.1\r\nHost: any.example\r\nConnection: close\r\n\r\n`);
  for (const [path, status] of Object.entries({ "/__sandbox/": 500, [mePath]: 401 })) {
    expect((await get(path))[0]?.status).toBe(status);
  }
  expect(defects).toEqual([new Error("a defect")]);
});

test("a defect in a step of the timeline is reported once, and the server continues", async () => {
  const defects: unknown[] = [];
  const timeline = [{ at: "1h", revoke: { key: "main" } }];
  const scenario = { ...scenarioWith([]), timeline };
  const { server, port, get } = await start({ scenario, onDefect: (error) => defects.push(error) });
  const state = stateOf(server.sandbox);
  const defect = new Error("a defect");
  state.journal.subscribe(({ type }) => {
    if (type === "timeline.step") throw defect;
  });
  state.clock.advance(60 * 60_000);
  await vi.waitUntil(() => defects.length > 0, { timeout: 60_000 });
  const [response] = await responsesTo(port, get("main", "Connection: close\r\n"));
  expect([response?.status, defects]).toEqual([401, [defect]]);
});

test("connections that cannot be accepted end no server", async () => {
  const creating = vi.spyOn(process.getBuiltinModule("node:http"), "createServer");
  onTestFinished(() => creating.mockRestore());
  const { port, get } = await start();
  const server = creating.mock.results[0]?.value as Server;
  for (let n = 0; n < 2; n += 1) server.emit("error", new Error("accept ENFILE"));
  const [response] = await responsesTo(port, get("active", "Connection: close\r\n"));
  expect(response?.status).toBe(200);
});

test("a port in use is an error with the sandbox that uses it, if one does", async () => {
  const { server, port } = await start();
  // The first call of the control plane loads it, which takes longer than a start waits for it.
  await fetch(`${server.controlUrl}/health`);
  const other = await listening(createServer());
  const details = (one: number) => startServer({ port: one }).catch(({ code, details }) => [code, details]);
  const sandbox = { url: server.url, version, scenario: "key-states", startedAt: expect.any(String) };
  expect(await details(port)).toEqual(["address_in_use", { port, host: "127.0.0.1", sandbox }]);
  expect(await details(other)).toEqual(["address_in_use", { port: other, host: "127.0.0.1" }]);
});

test("a connection closes after a request for another protocol", async () => {
  const { port, get } = await start();
  const upgrade = "Connection: Upgrade\r\nUpgrade: websocket\r\n";
  const [response, ...others] = await responsesTo(port, get("active", upgrade) + get("active"));
  expect(response?.head).toMatch(/^Connection: close$/im);
  expect([response?.status, others]).toEqual([200, []]);
});

test("a connection stays open after an offer of HTTP/2, which Java's client makes with every request", async () => {
  const { port, get } = await start();
  const offer = "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAA\r\n";
  const socket = connect({ port, host: "127.0.0.1" });
  onTestFinished(() => void socket.destroy());
  for (let sent = 0; sent < 3; sent++) {
    socket.write(get("active", offer));
    const [response] = await once(socket, "data");
    expect(readResponses(response)).toMatchObject([{ status: 200 }]);
  }
});

test.each([false, true])("a stop waits for no silent connection (TLS: %s)", async (tls) => {
  const { server, port, get } = await start({ tls });
  const silent = connect({ port, host: "127.0.0.1" });
  const begun = connect({ port, host: "127.0.0.1" }, () => begun.write(tls ? "\x16\x03\x01" : "GET / HT"));
  const kept = connect({ port, host: "127.0.0.1" }, () => tls || kept.write(get("active")));
  for (const socket of [silent, begun, kept]) socket.on("error", () => {}).resume();
  await Promise.all([once(silent, "connect"), once(begun, "connect"), once(kept, "connect")]);
  if (!tls) await requested(server.sandbox);
  const hour = 60 * 60_000;
  await server.close(hour);
});

test("a stop ends a connection after its response, without waiting for a timeout of Node", async () => {
  const never = vi.spyOn(Socket.prototype, "setTimeout").mockReturnThis();
  onTestFinished(() => never.mockRestore());
  const { server, port, get } = await start({ scenario: scenarioWith([{ then: { latency: "100ms" } }]) });
  const client = connect({ port, host: "127.0.0.1" }, () => client.write(get("main")));
  const heard = client.toArray();
  await requested(server.sandbox);
  await server.close(60 * 60_000);
  expect(readResponses(Buffer.concat(await heard)).map(({ status }) => status)).toEqual([200]);
});

/** The connections that servers accept until the test is over. */
function followAccepted(): readonly Socket[] {
  const accepted: Socket[] = [];
  const accept = (message: unknown) => accepted.push((message as { socket: Socket }).socket);
  subscribe("net.server.socket", accept);
  onTestFinished(() => void unsubscribe("net.server.socket", accept));
  return accepted;
}

test("no request starts before the one before it on its connection has its response, and few are read", async () => {
  const { server, port, get } = await start({ scenario: scenarioWith([{ then: { hang: true } }]) });
  const accepted = followAccepted();
  const flood = connect({ port, host: "127.0.0.1" }, () => flood.write(get("main").repeat(50_000)));
  onTestFinished(() => void flood.on("error", () => {}).destroy());
  await vi.waitUntil(() => accepted[0]?.isPaused(), { timeout: 60_000 });
  expect(server.sandbox.requests.total()).toBe(1);
  expect(accepted[0]?.bytesRead).toBeLessThan(500_000);
});

test("a connection is read again after as many requests at once as pause it", async () => {
  const { port, get } = await start({ scenario: scenarioWith([]) });
  // The first gets its response at once, so that 100 wait.
  const client = connect({ port, host: "127.0.0.1" }, () => client.write(get("main").repeat(101)));
  let text = "";
  client.on("data", (chunk) => {
    text += chunk;
  });
  const count = () => text.split("HTTP/1.1 200 ").length - 1;
  await vi.waitUntil(() => count() === 101, { timeout: 60_000 });
  client.write(get("main", "Connection: close\r\n"));
  await once(client, "close");
  expect(count()).toBe(102);
});

/** Makes the timeouts of sockets with this length short. */
function shortenTimeouts(length: number): void {
  const { setTimeout } = Socket.prototype;
  const shorter = vi.spyOn(Socket.prototype, "setTimeout").mockImplementation(function (this: Socket, ms, a) {
    return setTimeout.call(this, ms === length ? 20 : ms, a);
  });
  onTestFinished(() => shorter.mockRestore());
}

test("a connection of HTTPS ends when it is not encrypted in time", async () => {
  shortenTimeouts(10_000);
  const { port } = await start({ tls: true });
  await once(connect({ port, host: "127.0.0.1" }).resume(), "close");
});

test.each([
  ["a CONNECT", "", "CONNECT any.example:443 HTTP/1.1\r\nHost: any.example\r\n\r\n"],
  ["half a request", "", "GET / HT"],
  ["a whole one", "", "GET / HTTP/1.1\r\nHost: any.example\r\n\r\n"],
  ["an unread body", "Content-Length: 1000000\r\n", "x".repeat(500_000)],
])(
  "a connection closes once its client has ended it, also after a request that hangs and %s",
  async (_what, header, rest) => {
    shortenTimeouts(10_000);
    const { server, port, get } = await start({ scenario: scenarioWith([{ then: { hang: true } }]) });
    const client = connect({ port, host: "127.0.0.1" }, () => client.write(get("main", header)));
    await requested(server.sandbox);
    client.end(rest);
    await once(client.resume(), "close");
  },
);

test("many requests after slow ones all get responses, in order", async () => {
  const then = { latency: "20ms" } as const;
  const { port, get } = await start({ scenario: scenarioWith([{ when: { every: 300 }, then }]) });
  const asked = Array.from({ length: 3000 }, (_, index) => get("main").replace(mePath, `${mePath}?${index}`));
  const responses = await responsesTo(port, `${asked.join("")}no request\r\n\r\n`);
  const counted = responses.slice(0, -1).map(({ body }) => JSON.parse(body).data.usage.today);
  expect(counted).toEqual(Array.from({ length: 3000 }, (_, index) => index + 1));
});

test("a bare connection of HTTPS ends with the encrypted one, or some time after its client", async () => {
  shortenTimeouts(10_000);
  const { server, openConnections: open } = createHttpServer();
  const socketFrom = (remotePort: number) =>
    Object.defineProperty(new Socket(), "remotePort", { value: remotePort });
  const pairFrom = (port: number) => {
    const bare = socketFrom(port);
    const encrypted = Object.assign(socketFrom(port), { _parent: bare });
    server.emit("connection", bare);
    server.emit("secureConnection", encrypted);
    return { bare, encrypted };
  };
  const steady = pairFrom(2);
  const ended = pairFrom(3);
  ended.encrypted.emit("end");
  await Promise.all([once(ended.encrypted, "close"), once(ended.bare, "close")]);
  expect([...open]).toEqual([steady.bare, steady.encrypted]);
  steady.encrypted.destroy();
  await once(steady.bare, "close");
  expect(open.size).toBe(0);
});
