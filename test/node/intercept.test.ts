import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { createMemoryLog } from "../../src/log/memory-log.js";
import { openWorld } from "../../src/node/platform.js";
import { bundledScenarios } from "../../src/scenario/bundled.js";
import { createHttpServer } from "../../src/server/sockets/http-server.js";
import { startInterceptor } from "../../src/server/sockets/intercept.js";
import { createServerState } from "../../src/server/sockets/server-state.js";

const state = createServerState(createMemoryLog(openWorld(bundledScenarios["key-states"])));

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

test.each(ways)("the origin of %s is left when its client goes away", async (way) => {
  const ends = await passingThrough(messages[way]);
  await joined(way, ends);
  ends.client.resetAndDestroy();
  await once(ends.remote.resume(), "close");
});

test.each(ways)("the client of %s is left when its origin goes away in the middle", async (way) => {
  const ends = await passingThrough(messages[way]);
  await joined(way, ends);
  if (way === "a request") ends.remote.write("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\ncut");
  else ends.remote.write("cut");
  const [chunk] = await once(ends.client, "data");
  ends.remote.resetAndDestroy();
  await once(ends.client.resume(), "close");
  expect(String(chunk)).toContain(way === "a request" ? "200 OK" : "cut");
});
