import { once } from "node:events";
import { type ClientHttp2Session, type ClientHttp2Stream, connect } from "node:http2";
import { createServer } from "node:https";
import { HttpResponse, http } from "msw";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { Fault } from "../../src/index.js";
import { type CertificatePair, type ServerOptions, startServer } from "../../src/serve/index.js";
import { acceptHttp2 } from "../../src/server/http2.js";
import { readRequest } from "../../src/server/read-request.js";
import { makeSelfSigned } from "../../src/server/tls.js";
import { askHttps } from "../support/ask-https.js";
import { scenarioWith } from "../support/faulty.js";
import { floods, sendFlood } from "../support/http2-frames.js";
import { isNightly } from "../support/property-seed.js";
import { requested } from "../support/requested.js";
import { headerOf, mePath } from "../support/send.js";
import { sendOnHttp2 } from "../support/send-on-http2.js";

let tls: CertificatePair;
beforeAll(async () => {
  tls = await makeSelfSigned();
});

async function start(options: Partial<ServerOptions> = {}) {
  const server = await startServer({ tls, ...options });
  const client = sendOnHttp2(server.url, tls.cert);
  onTestFinished(async () => {
    client.session.destroy();
    await server.close(0);
  });
  const me = (key: string, more: object = {}) =>
    client.send({ headers: { "x-api-key": server.sandbox.secret(key as never) }, ...more });
  return { ...server, ...client, me, port: Number(new URL(server.url).port) };
}

test("a client gets the HTTP that it asks for, on one port", async () => {
  const { url, me, session } = await start();
  const seen = await me("active");
  expect([session.alpnProtocol, seen.status, headerOf(seen, "content-type")]).toEqual([
    "h2",
    200,
    "application/json",
  ]);
  expect((await askHttps(url + mePath, tls.cert)).status).toBe(401);
});

test("headers are in lower case, and none is about the connection, whatever the profile makes of names", async () => {
  const { me, send, sandbox } = await start({ profile: "varied", frozen: true });
  const names = new Set<string>();
  for (let i = 0; i < 40; i++) for (const [name] of (await me("active")).headers) names.add(name);
  for (const [name] of (await send({ path: "/__sandbox/health" })).headers) names.add(name);
  expect([...names].filter((name) => name !== name.toLowerCase())).toEqual([]);
  expect([...names]).toEqual(expect.arrayContaining(["x-request-id", "cache-control"]));
  expect(sandbox.requests.total()).toBe(40);
});

test("the base URL gets 404, and a browser a link to the dashboard", async () => {
  const { send, url } = await start();
  const shown = async (accept: string) => {
    const { status, body } = await send({ path: "/", headers: { accept } });
    return [status, JSON.parse(String(body)).error.details?.dashboard];
  };
  expect(await shown("*/*")).toEqual([404, undefined]);
  expect(await shown("text/html")).toEqual([404, `${url}/__sandbox/`]);
});

describe("faults", () => {
  const broken = "ERR_HTTP2_STREAM_ERROR";
  // Of a GET, a HEAD, whose answer has no body to cut short, and a POST.
  const ends: readonly (readonly [then: Fault["then"], get: unknown, head: unknown, post: unknown])[] = [
    [{ reset: true }, broken, broken, broken],
    [{ truncate: true }, broken, 200, broken],
    [{ status: 502, body: "html" }, 502, 502, 502],
    [{ malformed: true }, 200, 200, 200],
    [{ slow: 4000 }, 200, 200, 405],
    [{ latency: "5ms" }, 200, 200, 405],
  ];
  test.each(ends)("%j hits its own request, and no other on the connection", async (then, ...end) => {
    const { me, session, sandbox } = await start({
      scenario: scenarioWith([{ when: { key: "main" }, then }]),
    });
    const body = "x".repeat(100_000);
    const met = [me("main"), me("main", { method: "HEAD" }), me("main", { method: "POST", body })];
    const ended = met.map((sent) => sent.then(({ status }) => status).catch(({ code }) => code));
    expect((await me("other")).status).toBe(200);
    expect(await Promise.all(ended)).toEqual(end);
    expect((await me("other")).status).toBe(200);
    expect([session.destroyed, sandbox.requests.total()]).toEqual([false, 5]);
  });

  test("a body that is cut short has begun", async () => {
    const { session, sandbox } = await start({ scenario: scenarioWith([{ then: { truncate: true } }]) });
    const stream = session.request({ ":path": mePath, "x-api-key": sandbox.secret("main" as never) });
    const ended = once(stream, "error");
    const [head] = await once(stream, "response");
    let bytes = 0;
    stream.on("data", (chunk) => {
      bytes += chunk.length;
    });
    await ended;
    expect(head[":status"]).toBe(200);
    expect(bytes).toBeGreaterThan(0);
    expect(bytes).toBeLessThan(Number(head["content-length"]));
    expect(stream.rstCode).toBe(2);
  });

  test("a hang lasts until the client gives up", async () => {
    const { session, sandbox, me } = await start({
      scenario: scenarioWith([{ when: { key: "main" }, then: { hang: true } }]),
    });
    const stream = session.request({ ":path": mePath, "x-api-key": sandbox.secret("main" as never) });
    stream.on("error", () => {});
    await requested(sandbox);
    expect((await me("other")).status).toBe(200);
    expect(stream.closed).toBe(false);
    stream.close();
    await once(stream, "close");
  });
});

describe("a connection", () => {
  test("has a hundred requests in progress at most", async () => {
    const { session } = await start();
    await once(session, "remoteSettings");
    expect(session.remoteSettings.maxConcurrentStreams).toBe(100);
  });

  test.each([
    mePath,
    "/__sandbox/events",
  ])("has requests in progress with 256 kB of headers at most, to %s", async (path) => {
    const { session, sandbox } = await start({ scenario: scenarioWith([{ then: { hang: true } }]) });
    const ask = () => {
      const more = Object.fromEntries([0, 1, 2, 3].map((name) => [`x-${name}`, "x".repeat(15_000)]));
      const key = sandbox.secret("main" as never);
      const stream = session.request({ ":path": path, "x-api-key": key, ...more });
      stream.on("error", () => {}).resume();
      return stream;
    };
    const closed = (stream: ClientHttp2Stream) =>
      new Promise<void>((resolve) => stream.once("close", resolve));
    const held = [ask(), ask(), ask(), ask()];
    const one = ask();
    await closed(one);
    // The client may send it again (RFC 9113 §8.7).
    expect([one.rstCode, held.some(({ closed }) => closed)]).toEqual([7, false]);
    held[0]?.close();
    const next = ask();
    const refused = ask();
    await closed(refused);
    expect([refused.rstCode, next.closed]).toEqual([7, false]);
  });
});

describe("a request", () => {
  test("with two keys has none, and one for two servers, or for a tunnel, is refused", async () => {
    const { send, session, sandbox } = await start();
    const key = sandbox.secret("active");
    expect((await send({ headers: { "x-api-key": [key, key] } })).status).toBe(401);
    const both = { ":authority": "one.example", host: "other.example" };
    expect((await send({ headers: both })).status).toBe(400);
    expect((await send({ method: "HEAD", headers: both })).status).toBe(400);
    expect((await send({ headers: { host: "other.example", "x-api-key": key } })).status).toBe(200);
    const stream = session.request({ ":method": "CONNECT", ":authority": "x:1" });
    const [head] = await once(stream, "response");
    expect(head[":status"]).toBe(400);
    stream.destroy();
  });

  test("is in the journal as any other", async () => {
    const { send, sandbox } = await start();
    const headers = { "x-api-key": sandbox.secret("active"), cookie: ["a=1", `b=${sandbox.secret("live")}`] };
    await send({ headers, path: `${mePath}?x=1` });
    const [entry] = sandbox.requests.list({ limit: 1 });
    expect(entry).toMatchObject({ method: "GET", path: mePath, pathId: "200.test", status: 200 });
    expect(sandbox.report().advice.map(({ id }) => id)).toContain("key-in-authorization");
  });

  test("that the client takes back leaves the connection to the others", async () => {
    const { session, me, sandbox } = await start();
    for (let i = 0; i < 50; i++)
      session
        .request({ ":path": mePath })
        .on("error", () => {})
        .close(8);
    expect((await me("active")).status).toBe(200);
    expect(sandbox.requests.total()).toBeLessThanOrEqual(51);
  });
});

describe("the control plane", () => {
  const json = { "content-type": "application/json" };

  test("answers, takes bodies with and without a length, and knows its own names", async () => {
    const { send, session, sandbox } = await start();
    expect((await send({ path: "/__sandbox/" })).status).toBe(200);
    expect(
      (await send({ path: "/__sandbox/health", headers: { ":authority": "evil.example" } })).status,
    ).toBe(403);
    const body = JSON.stringify({ by: "1h" });
    const before = sandbox.clock.now();
    const path = "/__sandbox/clock/advance";
    expect((await send({ method: "POST", path, headers: json, body })).status).toBe(200);
    const stream = session.request({ ":method": "POST", ":path": path, ...json });
    stream.end(body);
    const [head] = await once(stream, "response");
    expect(head[":status"]).toBe(200);
    stream.resume();
    expect(Date.parse(String(sandbox.clock.now())) - Date.parse(String(before))).toBeGreaterThanOrEqual(
      7_200_000,
    );
    expect((await send({ method: "DELETE", path: "/__sandbox/requests" })).status).toBe(204);
    const made = await send({ method: "POST", path: "/__sandbox/instances", headers: json, body: "{}" });
    const inside = new URL(JSON.parse(made.body).data.base_url);
    expect((await send({ path: `${inside.pathname}${mePath}` })).status).toBe(401);
    expect((await send({ path: `${inside.pathname}/__sandbox/health` })).status).toBe(200);
  });

  test("sends events as they come", async () => {
    const { session, me } = await start();
    const stream = session.request({ ":path": "/__sandbox/events" });
    await once(stream, "response");
    let text = "";
    stream.setEncoding("utf8").on("data", (chunk) => {
      text += chunk;
    });
    await me("active");
    await expect.poll(() => text).toContain("200.test");
    stream.close();
  });
});

test("handlers of the user get bodies, cookies and errors as over HTTP/1.1", async () => {
  const handlers = [
    http.post("/echo", async ({ request, cookies }) =>
      HttpResponse.text(`${cookies.a}${cookies.b} ${await request.text()}`, {
        headers: { "Set-Cookie": "c=3", Connection: "close", TE: "trailers" },
      }),
    ),
    http.get("/error", () => HttpResponse.error()),
    http.get(
      "/long",
      () => new HttpResponse("x".repeat(1_000_000), { headers: { "x-long": "y".repeat(20_000) } }),
    ),
  ];
  const { send, me } = await start({ handlers });
  const seen = await send({
    method: "POST",
    path: "/echo",
    headers: { cookie: ["a=1", "b=2"] },
    body: "body",
  });
  expect([seen.status, seen.body, headerOf(seen, "set-cookie")]).toEqual([200, "12 body", "c=3"]);
  await expect(send({ path: "/error" })).rejects.toMatchObject({ code: "ERR_HTTP2_STREAM_ERROR" });
  expect((await send({ path: "/long" })).body).toHaveLength(1_000_000);
  expect((await me("active")).status).toBe(200);
});

describe("a server that stops", () => {
  test("lets open streams finish, and says so", async () => {
    const scenario = scenarioWith([{ when: { key: "main" }, then: { latency: "200ms" } }]);
    const { me, session, sandbox, close, send } = await start({ scenario });
    const away = once(session, "goaway");
    const late = me("main");
    const late2 = send({ method: "HEAD", headers: { "x-api-key": sandbox.secret("main" as never) } });
    await requested(sandbox, 2);
    const closed = close(60_000);
    expect((await away)[0]).toBe(0);
    expect([(await late).status, (await late2).status]).toEqual([200, 200]);
    await closed;
  });

  test("ends what is idle at once, and what hangs after the grace", async () => {
    const idle = await start();
    await idle.me("active");
    await idle.close(60_000);
    const { me, sandbox, close } = await start({ scenario: scenarioWith([{ then: { hang: true } }]) });
    const hanging = Array.from({ length: 20 }, () => me("main"));
    const ends = Promise.allSettled(hanging);
    await requested(sandbox, 20);
    await close(100);
    expect(new Set((await ends).map(({ status }) => status))).toEqual(new Set(["rejected"]));
  });
});

type Serve = Parameters<typeof acceptHttp2>[1];

/** Opens a connection to a server that has nothing but this in HTTP/2. */
async function openBare(serve: Serve, idle: number, initialWindowSize: number): Promise<ClientHttp2Session> {
  const server = createServer({ ...tls, ALPNProtocols: ["h2", "http/1.1"] });
  acceptHttp2(server, serve, idle);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  const session = connect(`https://127.0.0.1:${port}`, { ca: tls.cert, settings: { initialWindowSize } });
  session.on("error", () => {});
  onTestFinished(() => {
    session.destroy();
    server.close();
  });
  return session;
}

test("requests on one connection do not tell which answers their client knew", async () => {
  const read: unknown[] = [];
  const serve: Serve = (request, response) => {
    read.push(readRequest(request, response));
    response.writeHead(204, []).end();
  };
  const session = await openBare(serve, 60_000, 65_535);
  const streams = ["/a?x=1", "/b"].map((path) =>
    session.request({ ":path": path, "x-api-key": "key" }).resume(),
  );
  await Promise.all(streams.map((stream) => once(stream, "close")));
  const one = { method: "GET", apiKey: "key", connection: undefined };
  expect(read).toMatchObject([
    { ...one, path: "/a" },
    { ...one, path: "/b" },
  ]);
});

describe("a connection on which nothing happens", () => {
  const open = (answers: boolean) => {
    const serve: Serve = (_request, response) => {
      response.writeHead(200, ["Content-Type", "text/plain"]);
      if (answers) response.end("x".repeat(1000));
    };
    return openBare(serve, 100, 0);
  };

  test("is closed, also when its client does not read an answer or ends a request", async () => {
    for (const ask of [
      () => {},
      (session: ClientHttp2Session) => session.request({ ":path": "/" }),
      (session: ClientHttp2Session) =>
        session.request({ ":path": "/", ":method": "POST" }, { endStream: false }),
    ]) {
      const session = await open(true);
      ask(session)?.on("error", () => {});
      await once(session, "close");
    }
  });

  test("stays while an answer is owed", async () => {
    const session = await open(false);
    const stream = session.request({ ":path": "/" });
    stream.on("error", () => {});
    await once(stream, "response");
    const other = await open(true);
    await once(other, "close");
    expect(session.destroyed).toBe(false);
  });
});

test("floods of frames end their own connection at most", async () => {
  const defects: unknown[] = [];
  const { port, url, sandbox } = await start({ onDefect: (error) => defects.push(error) });
  const headers = { "x-api-key": sandbox.secret("active" as never) };
  for (const flood of Object.values(floods)) {
    await sendFlood(port, tls.cert, flood, isNightly ? 1500 : 500);
    const after = sendOnHttp2(url, tls.cert);
    expect((await after.send({ headers })).status).toBe(200);
    after.session.destroy();
  }
  expect(defects).toEqual([]);
  expect(sandbox.requests.list({ limit: 1 })).toHaveLength(1);
});
