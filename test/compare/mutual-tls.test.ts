import "reflect-metadata";
import { webcrypto } from "node:crypto";
import { writeFileSync } from "node:fs";
import https from "node:https";
import { join } from "node:path";
import * as x509 from "@peculiar/x509";
import { expect, test } from "vitest";
import { type NoResponse, sendOnce } from "../../src/node/clients/send-once.js";
import { type CertificatePair, makeSelfSigned } from "../../src/server/sockets/tls.js";
import { serveProbed } from "../support/probed-server.js";
import { runCli } from "../support/run-cli.js";
import { listening } from "../support/servers.js";
import { temporaryFolder } from "../support/temporary-folder.js";

async function makeClientCertificate(
  dates: { readonly notBefore?: Date; readonly notAfter?: Date } = {},
): Promise<CertificatePair> {
  const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };
  const crypto = webcrypto as Crypto;
  const keys = await crypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
  const certificate = await x509.X509CertificateGenerator.createSelfSigned(
    {
      ...{ name: "CN=a bank", keys, signingAlgorithm: algorithm, ...dates },
      extensions: [new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.clientAuth])],
    },
    crypto,
  );
  const key = Buffer.from(await crypto.subtle.exportKey("pkcs8", keys.privateKey)).toString("base64");
  const pem = `-----BEGIN PRIVATE KEY-----\n${key.replace(/.{64}/g, "$&\n")}\n-----END PRIVATE KEY-----\n`;
  return { cert: certificate.toString("pem"), key: pem };
}

/** Serves HTTPS only to clients with this certificate. */
async function serveTo(client: CertificatePair, tls: https.ServerOptions = {}) {
  const pair = await makeSelfSigned();
  const options = { ...pair, requestCert: true, rejectUnauthorized: true, ca: client.cert, ...tls };
  const server = https.createServer(options, (_request, response) => response.end("{}"));
  server.on("tlsClientError", () => {});
  return { url: new URL(`https://127.0.0.1:${await listening(server)}`), ca: pair.cert };
}

test("a request has the certificate of the client, for a server that asks for one", async () => {
  const certificate = await makeClientCertificate();
  const { url, ca } = await serveTo(certificate);
  const options = { timeout: 10_000, maxBody: 100, ca };
  expect(await sendOnce(url, { ...options, certificate })).toMatchObject({ status: 200, version: "1.1" });

  expect(await sendOnce(url, options)).toMatchObject({
    found: expect.stringContaining("CERTIFICATE_REQUIRED"),
    hint: expect.stringContaining("--cert and --key"),
  });
  const other = await makeClientCertificate();
  expect(await sendOnce(url, { ...options, certificate: other })).toMatchObject({
    noResponse: "failed",
    found: expect.stringMatching(/ALERT|ECONNRESET|socket hang up/),
  });
});

test("a server with TLS 1.2 that asks for a certificate is described with the flags, and not as plain HTTP", async () => {
  const { url, ca } = await serveTo(await makeClientCertificate(), { maxVersion: "TLSv1.2" });
  const { found, hint } = (await sendOnce(url, { timeout: 10_000, maxBody: 100, ca })) as NoResponse;
  expect(`${found} ${hint}`).toMatch(/--cert and --key/);
  expect(hint).not.toContain("http://");
});

test("a gateway that asks for a certificate in a page is described with the flags", async () => {
  const { url } = await serveProbed((reply) => {
    const bytes = "<html><center>No required SSL certificate was sent</center></html>";
    Object.assign(reply, { status: 400, headers: { "Content-Type": "text/html" }, bytes });
  });
  expect((await runCli(["compare", url])).stderr).toMatch(
    /\(mutual TLS\).* --cert and --key\. No key was sent\./,
  );
});

test("errors about the certificate of the client name its flags", async () => {
  const cwd = temporaryFolder();
  const one = await makeClientCertificate();
  const other = await makeClientCertificate();
  writeFileSync(join(cwd, "client.pem"), one.cert);
  writeFileSync(join(cwd, "client.key"), one.key);
  writeFileSync(join(cwd, "other.key"), other.key);
  const failing = async (url: string, ...argv: string[]) => {
    const { code, stdout, stderr } = await runCli(["compare", url, ...argv], { cwd });
    expect([code, stdout]).toEqual([2, ""]);
    return stderr;
  };
  const url = "https://127.0.0.1:9";
  expect(await failing(url, "--cert", "client.pem")).toMatch(/--cert requires --key/);
  expect(await failing(url, "--key", "client.key")).toMatch(/--key requires --cert/);
  expect(await failing("http://127.0.0.1:9", "--cert", "client.pem", "--key", "client.key")).toMatch(
    /--cert and --key need a base URL that starts with https:/,
  );
  expect(await failing(url, "--cert", "nope.pem", "--key", "client.key")).toMatch(
    /Failed to read --cert .*nope\.pem/,
  );
  const mismatch = await failing(url, "--cert", "client.pem", "--key", "other.key");
  expect(mismatch).toMatch(
    /^Failed to use the client's certificate: --cert .*client\.pem.* and --key .*other\.key.* must be a certificate and its key/,
  );
  expect(mismatch).not.toContain("PRIVATE KEY");
});
