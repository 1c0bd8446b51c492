import { X509Certificate } from "node:crypto";
import { once } from "node:events";
import { connect } from "node:net";
import { connect as connectTls } from "node:tls";
import { expect, test } from "vitest";
import type { SandboxServer, ServerOptions } from "../../src/server/index.js";
import { makeSelfSigned } from "../../src/server/sockets/tls.js";
import { exchange } from "../support/exchange.js";
import { served } from "../support/servers.js";

const me = "/v1/relying-party/me";

const start = (options: Partial<ServerOptions> = {}) => served({ tls: true, ...options });

const portOf = ({ url }: SandboxServer) => Number(new URL(url).port);

test("a client with the certificate reaches the API by all names of this machine", async () => {
  const server = await start();
  expect(server.url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/);
  expect(server.controlUrl).toBe(`${server.url}/__sandbox`);
  const headers = { "x-api-key": server.sandbox.secret("active") };
  for (const name of ["127.0.0.1", "localhost"]) {
    const address = `https://${name}:${portOf(server)}${me}`;
    expect((await exchange(address, { ca: server.certificate, headers })).status).toBe(200);
  }
  const six = await start({ host: "::1" });
  expect((await exchange(`${six.url}${me}`, { ca: six.certificate })).status).toBe(401);
});

test("a client that prefers HTTP/2 gets HTTP/1.1", async () => {
  const server = await start();
  const ALPNProtocols = ["h2", "http/1.1"];
  const socket = connectTls({ port: portOf(server), ca: server.certificate, ALPNProtocols });
  await once(socket, "secureConnect");
  expect(socket.alpnProtocol).toBe("http/1.1");
  socket.destroy();
});

test("a certificate names its own key as its issuer's, as Python 3.13 requires", async () => {
  const own = new X509Certificate((await makeSelfSigned("api.example")).cert);
  expect(own.verify(own.publicKey)).toBe(true);
  // The object identifiers of subjectKeyIdentifier, authorityKeyIdentifier, and keyUsage as a critical one.
  for (const part of ["0603551d0e", "0603551d23", "0603551d0f0101ff"]) {
    expect([part, own.raw.includes(Buffer.from(part, "hex"))]).toEqual([part, true]);
  }
});

test("the certificate is also valid for --host, for a year, and is not an authority for others", async () => {
  const { cert } = await makeSelfSigned("sandbox.bank.example");
  const certificate = new X509Certificate(cert);
  expect(certificate.checkHost("sandbox.bank.example")).toBeDefined();
  expect(certificate.checkIP("127.0.0.1")).toBeDefined();
  expect(certificate.checkIP("::1")).toBeDefined();
  expect(certificate.checkHost("other.example")).toBeUndefined();
  expect(certificate.ca).toBe(false);
  expect(Date.parse(certificate.validFrom)).toBeLessThan(Date.now());
  const days = (Date.parse(certificate.validTo) - Date.now()) / 86_400_000;
  expect(Math.round(days)).toBe(365);
  const allowed = await start({ allowHosts: ["[::5]:80", "A.example:1"] });
  const allowedCertificate = new X509Certificate(`${allowed.certificate}`);
  expect(allowedCertificate.checkIP("::5")).toBeDefined();
  expect(allowedCertificate.checkHost("a.example")).toBeDefined();
  const anywhere = new X509Certificate((await makeSelfSigned("0.0.0.0")).cert);
  expect(anywhere.subjectAltName).not.toContain("0.0.0.0");
  expect(new X509Certificate((await makeSelfSigned("10.1.2.3")).cert).checkIP("10.1.2.3")).toBeDefined();
  expect(new X509Certificate((await makeSelfSigned("fe80::1%eth0")).cert).checkIP("fe80::1")).toBeDefined();
});

test("every server has its own certificate, and one without TLS has none", async () => {
  const [one, other, plain] = [await start(), await start(), await start({ tls: false })];
  expect(one.certificate).not.toBe(other.certificate);
  await expect(exchange(one.url + me, { ca: other.certificate })).rejects.toThrow();
  expect([plain.url.startsWith("http://"), plain.certificate]).toEqual([true, undefined]);
});

test("a client that does not trust the certificate, or speaks no TLS, is turned away, and the server lives on", async () => {
  const server = await start();
  const code = "DEPTH_ZERO_SELF_SIGNED_CERT";
  await expect(exchange(server.url + me, {})).rejects.toMatchObject({ code });
  const plain = connect(portOf(server), "127.0.0.1");
  plain.on("error", () => {});
  plain.write(`GET ${me} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
  plain.resume();
  await once(plain, "close");
  const half = connect(portOf(server), "127.0.0.1");
  half.on("error", () => {});
  await once(half, "connect");
  half.resetAndDestroy();
  expect((await exchange(server.url + me, { ca: server.certificate })).status).toBe(401);
});

test("bytes inside TLS that are not HTTP get the API's 400, and a key of 16 KB is a malformed key", async () => {
  const server = await start();
  const headers = { "x-api-key": `SVC_test_${"x".repeat(16_000)}` };
  expect((await exchange(server.url + me, { ca: server.certificate, headers })).status).toBe(401);
  const socket = connectTls({ port: portOf(server), host: "127.0.0.1", ca: server.certificate as string });
  socket.write("nonsense\r\n\r\n");
  const [response] = await once(socket, "data");
  expect(String(response)).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n[\s\S]*"bad_request"/);
});

test("the control plane takes this server's own origin and no other", async () => {
  const server = await start();
  const { certificate: ca, controlUrl, url } = server;
  const ask = (origin: string) => exchange(`${controlUrl}/state`, { ca, headers: { origin } });
  expect((await ask(url)).status).toBe(200);
  expect((await ask("https://evil.example")).status).toBe(403);
  const page = await exchange(`${controlUrl}/`, { ca: ca });
  expect(page.headers["content-type"]).toMatch(/^text\/html/);
});
