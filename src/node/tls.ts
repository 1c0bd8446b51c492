import { createPrivateKey, type KeyObject, X509Certificate } from "node:crypto";
import { createSecureContext } from "node:tls";
import { SandboxError } from "../domain/errors.js";

/** A certificate and its private key, both as PEM. The certificate may be a chain, the server's own first. */
export interface CertificatePair {
  readonly cert: string;
  readonly key: string;
}

/** What the two parts are called where they were given. */
export interface PairNames {
  readonly cert: string;
  readonly key: string;
}

/** The pair to serve HTTPS with: the given one, checked, or a self-signed one for `host`. Throws `certificate_unusable`. */
export async function certificatePair(tls: true | CertificatePair, host: string): Promise<CertificatePair> {
  if (tls !== true) return checkPair(tls, { cert: "tls.cert", key: "tls.key" });
  const { makeSelfSigned } = await import("./tls-self-signed.js");
  return makeSelfSigned(host);
}

/** Checks that a certificate can be served with a key; throws `certificate_unusable`, which never shows the key. */
export function checkPair(pair: CertificatePair, names: PairNames): CertificatePair {
  const certificate = readCertificate(pair.cert, names.cert);
  const key = readKey(pair.key, names.key);
  if (!certificate.checkPrivateKey(key)) {
    throw unusable(`the key of ${names.key} is not the one of the certificate in ${names.cert}`);
  }
  try {
    createSecureContext({ cert: pair.cert, key: pair.key });
  } catch (error) {
    throw unusable(`this Node does not take ${names.cert} (${(error as NodeJS.ErrnoException).code})`);
  }
  return pair;
}

function readCertificate(text: string, name: string): X509Certificate {
  try {
    return new X509Certificate(text);
  } catch {
    const isKey = text.includes("PRIVATE KEY-----");
    const hint = isKey ? "a private key; are the two exchanged?" : pemHint(text);
    throw unusable(`${name} holds no certificate, but ${hint}`);
  }
}

function readKey(text: string, name: string): KeyObject {
  // Node's error for these is another one with each version of OpenSSL.
  if (text.includes("ENCRYPTED")) {
    throw unusable(`the key of ${name} is encrypted. Give one without a passphrase`);
  }
  try {
    return createPrivateKey(text);
  } catch {
    const isCertificate = text.includes("-----BEGIN CERTIFICATE-----");
    const hint = isCertificate ? "a certificate; are the two exchanged?" : pemHint(text);
    throw unusable(`${name} holds no private key, but ${hint}`);
  }
}

function pemHint(text: string): string {
  return text.includes("-----BEGIN ") ? "a broken PEM" : "something that is no PEM (-----BEGIN …)";
}

function unusable(why: string): SandboxError {
  return new SandboxError("certificate_unusable", `Failed to serve HTTPS: ${why}.`.replace("?.", "?"));
}
