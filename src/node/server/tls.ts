import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { isIP } from "node:net";
import { resolve } from "node:path";
import { createSecureContext } from "node:tls";
import { SandboxError } from "../../domain/errors.js";
import { fileFailure } from "../files/write-file.js";
import { nodePlatform } from "../platform.js";

/** A certificate and its private key, both as PEM. The certificate may be a chain, the server's own first. */
export interface CertificatePair {
  readonly cert: string;
  readonly key: string;
}

/** Returns the pair to serve HTTPS with: the given one, checked, or a self-signed one. Throws `certificate_unusable`. */
export async function certificatePair(tls: true | CertificatePair, host: string): Promise<CertificatePair> {
  return tls === true ? makeSelfSigned(host) : checkPair(tls, { cert: "tls.cert", key: "tls.key" });
}

/** Reads a certificate and its key from PEM files; throws `file_unreadable` or `certificate_unusable`. */
export async function readPair(files: CertificatePair, cwd: string): Promise<CertificatePair> {
  const names = { cert: `--cert ${JSON.stringify(files.cert)}`, key: `--key ${JSON.stringify(files.key)}` };
  const read = async (which: keyof CertificatePair) => {
    try {
      return await readFile(resolve(cwd, files[which]), "utf8");
    } catch (error) {
      const isMissing = (error as NodeJS.ErrnoException).code === "ENOENT";
      const why = isMissing ? "there is no such file" : fileFailure(error);
      throw new SandboxError("file_unreadable", `Failed to read ${names[which]}: ${why}.`);
    }
  };
  const [cert, key] = await Promise.all([read("cert"), read("key")]);
  return checkPair({ cert, key }, names);
}

/** Checks that a certificate can be served with a key; throws `certificate_unusable` with the names of the two, never the key. */
function checkPair({ cert, key }: CertificatePair, names: CertificatePair): CertificatePair {
  const attempt = <Result>(work: () => Result, why: (code?: string) => string): Result => {
    try {
      return work();
    } catch (error) {
      throw unusable(why((error as NodeJS.ErrnoException).code));
    }
  };
  const certificate = attempt(
    () => new X509Certificate(cert),
    () => `${names.cert} holds no certificate in PEM (-----BEGIN CERTIFICATE-----)`,
  );
  const privateKey = attempt(
    () => createPrivateKey(key),
    () => `${names.key} holds no private key in PEM (-----BEGIN PRIVATE KEY-----) without a passphrase`,
  );
  if (!certificate.checkPrivateKey(privateKey)) {
    throw unusable(`the key of ${names.key} is not the one of the certificate in ${names.cert}`);
  }
  attempt(
    () => createSecureContext({ cert, key }),
    (code) => `this Node does not take ${names.cert} (${code})`,
  );
  return { cert, key };
}

function unusable(why: string): SandboxError {
  return new SandboxError("certificate_unusable", `Failed to serve HTTPS: ${why}.`);
}

const day = 24 * 60 * 60_000;
// A wildcard address is not one that a client connects to.
const wildcards = ["0.0.0.0", "::"];

/** Makes a self-signed certificate for `host` and this machine's own names that is good for a year. */
export async function makeSelfSigned(host: string): Promise<CertificatePair> {
  // Loaded here: a given certificate does not need it.
  const { generate } = await import("selfsigned");
  const names = new Set(["localhost", "127.0.0.1", "::1", ...(wildcards.includes(host) ? [] : [host])]);
  const now = nodePlatform.time();
  const { cert, private: key } = await generate([{ name: "commonName", value: "svc-sandbox" }], {
    keyType: "ec",
    curve: "P-256",
    algorithm: "sha256",
    // A client whose clock is a little behind takes it too.
    notBeforeDate: new Date(now - day),
    notAfterDate: new Date(now + 365 * day),
    extensions: [
      { name: "basicConstraints", cA: false, critical: true },
      { name: "keyUsage", digitalSignature: true, critical: true },
      { name: "extKeyUsage", serverAuth: true },
      { name: "subjectAltName", altNames: [...names].map(altName) },
    ],
  });
  return { cert, key };
}

function altName(name: string) {
  if (isIP(name) === 0) return { type: 2, value: name } as const;
  // A certificate cannot hold the zone of a link-local address.
  return { type: 7, ip: name.replace(/%.*$/, "") } as const;
}
