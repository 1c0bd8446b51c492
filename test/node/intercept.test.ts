import { once } from "node:events";
import { request } from "node:http";
import { type AddressInfo, connect, createServer, isIP, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { expect, onTestFinished, test } from "vitest";
import { startInNode } from "../../src/node/platform.js";
import { bundledScenarios } from "../../src/scenario/bundled.js";
import { createHttpServer } from "../../src/server/sockets/http-server.js";
import { startInterceptor } from "../../src/server/sockets/intercept.js";
import { createServerState } from "../../src/server/sockets/server-state.js";

const state = createServerState(startInNode(bundledScenarios["key-states"]));

/** A proxy that passes other hosts through, an origin, and the two ends of what goes through, once both are connected. */
async function passingThrough(messageTo: (host: string) => string) {
  const origin = createServer().listen(0, "127.0.0.1");
  await once(origin, "listening");
  const proxy = await startInterceptor(["api.example"], true, (pair) => createHttpServer(state, pair));
  onTestFinished(async () => {
    origin.close();
    await proxy.close(0);
  });
  const reached = once(origin, "connection");
  const client = connect(proxy.port, "127.0.0.1").on("error", () => {});
  client.write(messageTo(`127.0.0.1:${(origin.address() as AddressInfo).port}`));
  const [remote] = (await reached) as [Socket];
  remote.on("error", () => {});
  return { client, remote };
}

const messages = {
  "a tunnel": (host: string) => `CONNECT ${host} HTTP/1.1\r\nHost: ${host}\r\n\r\n`,
  "a request": (host: string) => `GET http://${host}/ HTTP/1.1\r\nHost: ${host}\r\n\r\n`,
};
type Way = keyof typeof messages;
const ways = Object.keys(messages) as Way[];
/** Resolves once anything has come, so that both ends are joined. */
const joined = async (way: Way, { client, remote }: { client: Socket; remote: Socket }) => {
  if (way === "a request") await once(remote, "data");
  else await once(client, "data");
};

test("a client that trusts only the proxy's authority reaches the sandbox by each name of a wildcard, and by an address", async () => {
  const proxy = await startInterceptor(["*.example", "10.1.2.3"], false, (pair) =>
    createHttpServer(state, pair),
  );
  onTestFinished(() => proxy.close(0));
  for (const host of ["a.example", "a.b.example", "10.1.2.3"]) {
    const asked = request({ port: proxy.port, method: "CONNECT", path: `${host}:443` }).end();
    const [, socket] = (await once(asked, "connect")) as [unknown, Socket];
    // Clients name no address in the handshake.
    const secure = connectTls({ socket, host, servername: isIP(host) ? "" : host, ca: proxy.certificate });
    secure.write(`GET /v1/relying-party/me HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
    expect(String(Buffer.concat(await secure.toArray()))).toMatch(/^HTTP\/1\.1 401 /);
  }
});

test.each(ways)("the origin of %s is left when its client goes away", async (way) => {
  const ends = await passingThrough(messages[way]);
  await joined(way, ends);
  ends.client.resetAndDestroy();
  await once(ends.remote.resume(), "close");
});

test.each(ways.flatMap((way) => [[way, "resets it"] as const, [way, "ends it"] as const]))(
  "the client of %s is left when its origin %s in the middle",
  async (way, how) => {
    const ends = await passingThrough(messages[way]);
    await joined(way, ends);
    if (way === "a request") ends.remote.write("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\ncut");
    else ends.remote.write("cut");
    const [chunk] = await once(ends.client, "data");
    if (how === "ends it") ends.remote.end();
    else ends.remote.resetAndDestroy();
    await once(ends.client.resume(), "close");
    expect(String(chunk)).toContain(way === "a request" ? "200 OK" : "cut");
  },
);

/** What a proxy for these hosts responses to each message on its own connection, and what it notes about them. */
async function proxied(hosts: readonly string[], messages: readonly string[]) {
  const proxy = await startInterceptor(hosts, false, (pair) => createHttpServer(state, pair));
  onTestFinished(() => proxy.close(0));
  const responses: string[] = [];
  for (const message of messages) {
    const client = connect(proxy.port, "127.0.0.1").on("error", () => {});
    client.write(
      `${message} HTTP/1.1\r\nHost: ${message.split(/[ /]+/)[2] ?? ""}\r\nConnection: close\r\n\r\n`,
    );
    const [chunk] = await once(client, "data");
    client.destroy();
    responses.push(String(chunk).slice(9).split("\r\n", 1)[0] as string);
  }
  return { responses, notes: proxy.notes().map((note) => note.split(/[.:]/, 1)[0]) };
}

const established = "200 Connection Established";
const [pinned, missed] = ["Your client connected to", "Nothing called"];

test.each<[string[], string[], (string | RegExp)[], string[]]>([
  [["api.example"], [], [], ["Nothing came through the proxy of --intercept"]],
  [["api.example"], ["GET http://api.example/v1/none"], ["404 Not Found"], []],
  [["*.bank.example"], ["GET http://a.b.bank.example/v1/none"], ["404 Not Found"], []],
  [
    ["*.bank.example"],
    ["GET http://bank.example/"],
    ["403 Forbidden"],
    ["Rejected connections to bank", missed],
  ],
  [["api.example"], ["CONNECT api.example:443"], [established], [`${pinned} api`]],
  [
    ["api.example"],
    ["CONNECT api.example:443", "GET http://api.example/v1/none", "CONNECT api.example:443"],
    [established, "404 Not Found", established],
    [],
  ],
  [["api.example", "b.example"], ["GET http://api.example/v1/none"], ["404 Not Found"], [`${missed} b`]],
  [
    ["api.example"],
    ["CONNECT other.example:443"],
    [/^403 .*--intercept other\.example/],
    ["Rejected connections to other", missed],
  ],
  [["api.example"], ["GET /v1/none"], ["403 Forbidden"], ["Nothing came through the proxy of --intercept"]],
])("a proxy for %j notes what is wrong about %j", async (hosts, messages, responses, notes) => {
  const found = await proxied(hosts, messages);
  expect(found.responses).toEqual(
    responses.map((one) => (typeof one === "string" ? one : expect.stringMatching(one))),
  );
  expect(found.notes).toEqual(notes.map((note) => expect.stringContaining(note)));
});
