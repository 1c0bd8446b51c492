import { createServer as createHttpServer } from "node:http";
import { createServer, type Socket } from "node:net";
import { beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { findListener } from "../../src/node/clients/find-listener.js";
import { runCli } from "../support/run-cli.js";
import { listening, served } from "../support/servers.js";

const standard = vi.hoisted(() => ({ host: "" }));
vi.mock("../../src/cli/io.js", async (original) => ({
  ...(await original<typeof import("../../src/cli/io.js")>()),
  get standardHost() {
    return standard.host;
  },
}));

beforeEach(() => {
  standard.host = "";
});

/** Listens on the port that explain asks, and handles each connection so. */
async function listen(onConnection: (socket: Socket) => void): Promise<string> {
  const open: Socket[] = [];
  const server = createServer((socket) => {
    open.push(socket.on("error", () => {}));
    onConnection(socket);
  });
  onTestFinished(() => open.forEach((socket) => void socket.destroy()));
  standard.host = `127.0.0.1:${await listening(server)}`;
  return standard.host;
}

const isPlain = (bytes: Buffer) => bytes.toString("latin1").startsWith("GET ");

test("explain of a key does not take a sandbox that is silent for none", async () => {
  await listen(() => {});
  const { code, stdout, stderr } = await runCli(["explain", "active", "--timeout", "100ms"]);
  expect([code, stdout]).toEqual([2, ""]);
  for (const part of [standard.host, "within 0.1 s", "--timeout", "--url", "explain active key-states"]) {
    expect(stderr).toContain(part);
  }
  // What does not ask it does not need it.
  expect(await runCli(["explain", "active", "key-states"])).toMatchObject({ code: 0 });
});

test("explain asks a sandbox that speaks HTTPS", async () => {
  const { url, sandbox } = await served({ frozen: true, tls: true });
  sandbox.keys.revoke("active");
  standard.host = new URL(url).host;
  const { code, stdout } = await runCli(["explain", "active", "--json", "--timeout", "1m"]);
  expect([code, JSON.parse(stdout)]).toEqual([0, expect.objectContaining({ outcome: "401.revoked", url })]);
});

test("explain starts its own sandbox where nothing listens, or another program", async () => {
  const closed = createServer();
  standard.host = `127.0.0.1:${await listening(closed)}`;
  closed.close();
  const first = async () => (await runCli(["explain", "active"])).stdout.split("\n")[0];
  expect(await first()).toBe("This is what key-states would respond.");
  const other = createHttpServer((_request, response) => response.writeHead(404).end());
  standard.host = `127.0.0.1:${await listening(other)}`;
  expect(await first()).toBe("This is what key-states would respond.");
});

test.each<[string, string, number, (socket: Socket) => void]>([
  ["silent", "a server that does not respond", 100, () => {}],
  [
    "silent",
    "a server of HTTPS that does not respond",
    100,
    (socket) => socket.on("data", (bytes) => isPlain(bytes) && socket.destroy()),
  ],
  [
    "other",
    "a server of HTTP that waits for the rest of what it cannot read",
    2000,
    (socket) => socket.on("data", (bytes) => isPlain(bytes) && socket.end("HTTP/1.0 404 None\r\n\r\n")),
  ],
  ["nothing", "a server that closes each connection", 60_000, (socket) => socket.destroy()],
])("%s is the word for %s", async (kind, _what, timeout, onConnection) => {
  expect(await findListener(await listen(onConnection), timeout)).toEqual({ kind });
});
