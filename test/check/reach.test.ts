import * as https from "node:https";
import type { AddressInfo } from "node:net";
import { createServer, type Server } from "node:net";
import { generate } from "selfsigned";
import { expect, onTestFinished, test } from "vitest";
import { probeKeys, serveProbed } from "../support/probed-server.js";
import { runCli } from "../support/run-cli.js";

async function portOf(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

/** Checks with all keys; expects one line on stderr, nothing on stdout, and 1. */
async function toldOf(base: string, ...argv: string[]): Promise<string> {
  const env = /127/.test(base) ? probeKeys : {};
  const { code, stdout, stderr } = await runCli(["check", base, ...argv], { env });
  expect({ code, stdout, lines: stderr.trimEnd().split("\n").length }).toEqual({
    code: 1,
    stdout: "",
    lines: 1,
  });
  return stderr;
}

test("a port on which nothing listens is said in one line", async () => {
  const server = createServer();
  const port = await portOf(server);
  server.close();
  expect(await toldOf(`http://127.0.0.1:${port}`)).toMatch(
    /^Failed to reach http:\S+: nothing listens at this address and port \(ECONNREFUSED\)\. Is it running/,
  );
});

test("a host that DNS does not know is said in one line", async () => {
  const said = await toldOf("http://no-such-host.invalid", "--timeout", "5s");
  expect(said).toMatch(/the name of the host cannot be resolved \(E\w+\)|no answer came within 5 s/);
});

test("a host that does not answer is said in one line", async () => {
  const port = await portOf(createServer(() => {}));
  expect(await toldOf(`http://127.0.0.1:${port}`, "--timeout", "200ms")).toMatch(
    /: no answer came within 0\.2 s\. --timeout waits longer\.$/m,
  );
});

test("a server that speaks something else than HTTP is said in one line", async () => {
  const port = await portOf(
    createServer((socket) => socket.on("error", () => {}).end("220 mail.example\r\n")),
  );
  expect(await toldOf(`http://127.0.0.1:${port}`)).toMatch(/: what it sends is not HTTP \(HPE_\w+\)\. /);
});

test("a connection that is closed at once is said in one line", async () => {
  const port = await portOf(createServer((socket) => socket.on("error", () => {}).destroy()));
  expect(await toldOf(`http://127.0.0.1:${port}`)).toMatch(
    /: the connection was closed before an answer came/,
  );
});

test("a certificate that is not trusted, a wrong name, and a port without TLS are told apart", async () => {
  const { private: key, cert } = await generate([{ name: "commonName", value: "elsewhere.example" }], {
    keySize: 2048,
  });
  const server = https.createServer({ key, cert }, (_request, response) => response.end());
  const port = await portOf(server);
  expect(await toldOf(`https://127.0.0.1:${port}`)).toMatch(
    /: its certificate is not trusted on this machine \(DEPTH_ZERO_SELF_SIGNED_CERT\)\. .*NODE_EXTRA_CA_CERTS; there is no flag/,
  );
  const { url } = await serveProbed();
  expect(await toldOf(url.replace("http:", "https:"))).toMatch(
    /: no secure connection could be made \(.*\)\. .*http:\/\//,
  );
});

test.each([
  [
    302,
    { Location: "https://login.example/?next=me" },
    "",
    /it redirects to https:\/\/login\.example\/\?next=me \(302\), which is not followed\. /,
  ],
  [
    200,
    { "Content-Type": "text/html" },
    "<html>Accept the terms</html>",
    /it answers with an HTML page \(200\), not with JSON\. .*captive portal/,
  ],
  [502, { "Content-Type": "text/html" }, "<html>Bad gateway</html>", /it answers with an HTML page \(502\)/],
  [
    404,
    { "Content-Type": "application/json" },
    "{}",
    /there is nothing at this path \(404\)\. The base URL is what stands before \/v1\/relying-party\/me\./,
  ],
])("a host that answers %i where the API would not gets no key", async (status, headers, bytes, says) => {
  const server = await serveProbed((reply) => Object.assign(reply, { status, headers, bytes }) && undefined);
  const said = await toldOf(server.url);
  expect(said).toMatch(says);
  expect(said).toMatch(/No key was sent\.\n$/);
  expect(server.requests().map(({ ref }) => ref)).toEqual(["none"]);
});

test("in the other formats a host that cannot be reached is a report, too", async () => {
  const server = await serveProbed((reply) => Object.assign(reply, { bytes: "<html>" }) && undefined);
  for (const format of ["json", "markdown", "junit"]) {
    const { code, stdout, stderr } = await runCli(["check", server.url, "--format", format]);
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^Failed to check/)]);
    expect(stdout).toContain("it answers with an HTML page");
  }
  expect(JSON.parse((await runCli(["check", server.url, "--json"])).stdout)).toMatchObject({
    verdict: "stopped",
    requests: 1,
  });
});

test("a key that may be real is not sent over plain HTTP to another machine without a word", async () => {
  const said = async (env: Record<string, string>) =>
    (await runCli(["check", "http://no-such-host.invalid", "--timeout", "1s"], { env })).stderr;
  expect(await said(probeKeys)).toMatch(/^Keys go to no-such-host\.invalid unencrypted: .*\nFailed to reach/);
  expect(await said({ SVC_API_KEY: "SVC_test_sbx0123456789" })).toMatch(/^Failed to reach/);
});

test.each([
  [
    ["nonsense"],
    /^Failed to read the base URL: "nonsense" is not a URL\. Give one such as https:\/\/api\.example/,
  ],
  [["ftp://api.example"], /it begins with ftp:\. Only http: and https: can be checked/],
  [
    ["https://joe:hunter2@api.example"],
    /it has a name or a password in it\. Leave them out; keys come from SVC_KEY/,
  ],
  [["https:///joe:hunter2@"], /^Failed to read the base URL: /],
  [["https://api.example?key=SVC_test_0123456789"], /it has a query or a fragment/],
  [
    ["https://api.example/v1/relying-party/me/"],
    /it ends with \/v1\/relying-party\/me\. Leave that out: it is added/,
  ],
  [["http://127.0.0.1", "--timeout", "soon"], /^Failed to read --timeout: "soon"/],
  [
    ["http://127.0.0.1", "--max-requests", "0"],
    /^Failed to read --max-requests: "0" is not a number of requests\./,
  ],
  [
    ["http://127.0.0.1", "--format", "xml"],
    /^Failed to read --format: "xml" is not one of text, json, markdown and junit/,
  ],
  [["http://127.0.0.1", "--json", "--format", "junit"], /--json and --format junit contradict each other/],
  [[], /missing required argument 'base-url'/],
])("check %j ends with 2 and says why", async (argv, says) => {
  const { code, stdout, stderr } = await runCli(["check", ...argv], { env: probeKeys });
  expect(stderr).toMatch(says);
  expect(stderr).not.toMatch(/hunter2|0123456789/);
  expect([code, stdout]).toEqual([2, ""]);
});
