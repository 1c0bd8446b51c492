import * as https from "node:https";
import { createServer, type Socket } from "node:net";
import { expect, test } from "vitest";
import { makeSelfSigned } from "../../src/server/sockets/tls.js";
import { probeKeys, serveProbed } from "../support/probed-server.js";
import { runCli } from "../support/run-cli.js";
import { listening } from "../support/servers.js";

/** Compares with all keys; expects one line on stderr, nothing on stdout, and 1. Returns the line. */
async function compareInVain(base: string, ...argv: string[]): Promise<string> {
  const env = /127/.test(base) ? probeKeys : {};
  const { code, stdout, stderr } = await runCli(["compare", base, ...argv], { env });
  const lines = stderr.trimEnd().split("\n").length;
  expect({ code, stdout, lines }).toEqual({ code: 1, stdout: "", lines: 1 });
  return stderr;
}

test.each<[server: string, accept: (socket: Socket) => unknown, message: RegExp]>([
  ["does not respond", () => {}, /: no response came within 0\.2 s\. --timeout waits longer\.$/m],
  ["is no HTTP", (socket) => socket.end("220 x\r\n"), /\(HPE_\w+\)\. /],
  ["closes at once", (socket) => socket.destroy(), /: socket hang up \(ECONNRESET\)/],
])("a server that %s is described in one line", async (_server, accept, message) => {
  const port = await listening(createServer((socket) => accept(socket.on("error", () => {}))));
  const timeout = message.source.includes("0\\.2") ? ["--timeout", "200ms"] : [];
  expect(await compareInVain(`http://127.0.0.1:${port}`, ...timeout)).toMatch(message);
});

const endless = (head: string) => (socket: Socket) => {
  socket.write(head);
  const more = () => {
    while (!socket.destroyed && socket.write("x".repeat(64 * 1024)));
  };
  socket.on("drain", more);
  more();
};

test.each<[response: string, accept: (socket: Socket) => unknown, message: RegExp]>([
  [
    "101",
    (socket) => socket.write("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n"),
    /it switches to another protocol \(101\)/,
  ],
  ["an endless body", endless("HTTP/1.1 200 OK\r\n\r\n"), /a body of more than \d+ kB/],
  ["endless headers", endless("HTTP/1.1 200 OK\r\nX-More: "), /HPE_HEADER_OVERFLOW/],
])("compare and report show that a response is %s", async (_response, accept, message) => {
  const port = await listening(
    createServer((socket) => {
      socket.on("error", () => {}).once("data", () => accept(socket));
    }),
  );
  for (const command of ["compare", "report"]) {
    const { code, stderr } = await runCli([command, `http://127.0.0.1:${port}`]);
    expect([command, code, stderr]).toEqual([
      command,
      command === "compare" ? 1 : 2,
      expect.stringMatching(message),
    ]);
  }
});

test("a certificate that is not trusted and a port without TLS have different messages", async () => {
  const server = https.createServer(await makeSelfSigned(), (_request, response) => response.end());
  const port = await listening(server);
  expect(await compareInVain(`https://127.0.0.1:${port}`)).toMatch(
    /: self-signed certificate \(DEPTH_ZERO_SELF_SIGNED_CERT\)\. .*NODE_EXTRA_CA_CERTS to a file .* No flag/,
  );
  const { url } = await serveProbed();
  expect(await compareInVain(url.replace("http:", "https:"))).toMatch(/EPROTO.*http:/);
});

const html = { "Content-Type": "text/html" };

test.each([
  [
    302,
    { Location: "https://login.example/?next=me" },
    "",
    /gets 302, a redirect to https:\/\/login\.example, which was not followed\. /,
  ],
  [200, html, "<html>Accept</html>", /gets 200, an HTML page\. .*captive portal/],
  [404, {}, "{}", /gets 404\. There is nothing at this path: the base URL is .* before \/v1\//],
  [401, { "WWW-Authenticate": "Basic" }, "no", /gets 401, text, which asks for a password: "Basic"\. /],
  [
    401,
    { "WWW-Authenticate": "Bearer, Basic" },
    "no",
    /gets 401, text, which asks for a password: "Bearer, Basic"\. /,
  ],
  [401, {}, Buffer.from("<p>Gesch\u00fctzt", "latin1"), /gets 401, a body that is not UTF-8\. /],
  [401, {}, "<center>401</center>", /gets 401, text\. The API/],
  [200, {}, "OK", /a request without a key gets 200, text\. The API responds with 401/],
  [200, {}, '{"status":"up"}', /a request without a key gets 200\. /],
  [403, {}, "Forbidden", /gets 403, text\. /],
  [403, {}, '<?xml version="1.0"?><Error/>', /gets 403, text\. /],
  [429, {}, '{"error":{"code":"slow_down"}}', /gets 429 slow_down\. /],
  [503, {}, "{}", /gets 503\. /],
])(
  "a host that sends %i, %j and %j where the API would not gets no key",
  async (status, headers, bytes, message) => {
    const server = await serveProbed((reply) => void Object.assign(reply, { status, headers, bytes }));
    const line = await compareInVain(server.url);
    expect(line).toMatch(message);
    expect(line).toMatch(/No key was sent\.\n$/);
    expect(server.requests().map(({ ref }) => ref)).toEqual(["none"]);
  },
);

test.each([
  [401, { "Content-Type": "text/plain" }, "no"],
  [401, { "WWW-Authenticate": "Basic" }, '{"message":"No."}'],
  [401, { "WWW-Authenticate": 'ApiKey realm="orders, basic plan"' }, "no"],
  [401, {}, ""],
  [403, { "Content-Type": "application/json" }, '{"message":"Forbidden"}'],
])(
  "a host that rejects a request without a key with %i, %j and %j gets keys",
  async (status, headers, bytes) => {
    const server = await serveProbed((reply, { ref }) => {
      if (ref === "none") Object.assign(reply, { status, headers, bytes });
    });
    const { code, stdout } = await runCli(["compare", server.url], { env: probeKeys });
    expect([code, new Set(server.requests().map(({ ref }) => ref)).size]).toEqual([1, 8]);
    expect(stdout).toMatch(/^ {2}401\.missing +differs /m);
  },
);

test("a gateway that rejects every path with 403 and JSON gets the keys that should work, and no other", async () => {
  const headers = { "Content-Type": "application/json" };
  const bytes = '{"message":"Missing Authentication Token"}';
  const server = await serveProbed((reply) => void Object.assign(reply, { status: 403, headers, bytes }));
  const { code, stdout } = await runCli(["compare", server.url], { env: probeKeys });
  expect(code).toBe(1);
  expect(stdout).toContain("No given key has worked");
  expect(server.requests().map(({ ref }) => ref)).toEqual(["none", "active", "live"]);
});

test.each([
  [429, "<html>Slow down</html>", /gets 429, an HTML page\. .* Try again later\./],
  [503, "<html>Later</html>", /gets 503, an HTML page\. .* Try again later\./],
])("a host that may have locked the address (%i) is named as one", async (status, bytes, message) => {
  const headers = { "Content-Type": "text/html" };
  const server = await serveProbed((reply) => void Object.assign(reply, { status, headers, bytes }));
  expect(await compareInVain(server.url)).toMatch(message);
});

test("a response in an encoding is named as one", async () => {
  const server = await serveProbed((reply) => {
    Object.assign(reply, { headers: { "Content-Encoding": "gzip" }, bytes: Buffer.from([0x1f, 0x8b, 0xff]) });
  });
  expect(await compareInVain(server.url)).toMatch(/gets 401, a body in the encoding "gzip", for which /);
});

test("a warning comes before a key that may be real is sent over plain HTTP to another machine", async () => {
  const stderrWith = async (env: Record<string, string>) =>
    (await runCli(["compare", "http://no-such-host.invalid", "--timeout", "1s"], { env })).stderr;
  expect(await stderrWith(probeKeys)).toMatch(
    /^Keys go to no-such-host\.invalid unencrypted: .*\sFailed to reach/,
  );
  expect(await stderrWith({ SVC_API_KEY: "SVC_test_sbx0123456789" })).toMatch(/^Failed to reach/);
});

test.each([
  [{ HTTPS_PROXY: "http://user:s3cret@proxy.example" }, "https://no-such-host.invalid", "HTTPS_PROXY"],
  [{ https_proxy: "http://proxy.example" }, "https://no-such-host.invalid", "https_proxy"],
  [{ ALL_PROXY: "http://proxy.example" }, "https://no-such-host.invalid", "ALL_PROXY"],
  [{ http_proxy: "http://proxy.example" }, "http://no-such-host.invalid", "http_proxy"],
])("a proxy that compare does not use is named: %j for %s", async (env, url, variable) => {
  const { code, stderr } = await runCli(["compare", url, "--timeout", "1s"], { env });
  expect(code).toBe(1);
  expect(stderr).toMatch(
    new RegExp(`\\. ${variable} is set, but compare uses no proxy: it needs a direct connection\\.\\n$`),
  );
  expect(stderr).not.toMatch(/s3cret|spelling|DNS/);
});

test.each([
  [{ HTTP_PROXY: "http://proxy.example" }, "https://no-such-host.invalid"],
  [{ HTTPS_PROXY: "http://proxy.example" }, "https://127.0.0.1:1"],
])("a proxy of other addresses is not named: %j for %s", async (env, url) => {
  const { stderr } = await runCli(["compare", url, "--timeout", "1s"], { env });
  expect(stderr).not.toContain("PROXY");
});
