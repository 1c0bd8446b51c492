import { createPrivateKey, X509Certificate } from "node:crypto";
import { isIP } from "node:net";
import { hostname, networkInterfaces } from "node:os";
import { resolve } from "node:path";
import { createSecureContext } from "node:tls";
import { fileFailure, readSmallFile } from "../../node/files/write-file.js";
import { isWildcard } from "../../node/host-names.js";
import { nodeCrypto, nodePlatform } from "../../node/platform.js";
import { SandboxError } from "../../rules/errors.js";
import { day } from "../../rules/time.js";
import { quoteFile } from "../../schema/words.js";

/** The algorithm of the key and of the signature. */
const ecdsa = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };

const failedToServe = "Failed to serve HTTPS";

/** A certificate and its private key, both PEM. The certificate may be a chain that starts with the server's own. */
export interface CertificatePair {
  readonly cert: string;
  readonly key: string;
}

/** Returns the pair for HTTPS: the given one, checked, or a self-signed one for these names. Throws `certificate_unusable`. */
export async function certificatePair(
  tls: true | CertificatePair,
  names: readonly string[],
): Promise<CertificatePair> {
  if (tls === true) return makeSelfSigned(...names);
  return checkPair(tls, { cert: "tls.cert", key: "tls.key" }, failedToServe);
}

/** Reads a certificate and its key from files, named in the form of a pair. Throws `file_unreadable`, or `certificate_unusable` with what failed. */
export function readPair(files: CertificatePair, cwd: string, failed = failedToServe): CertificatePair {
  const names = { cert: `--cert ${quoteFile(files.cert)}`, key: `--key ${quoteFile(files.key)}` };
  const cert = readPart(resolve(cwd, files.cert), names.cert);
  const key = readPart(resolve(cwd, files.key), names.key);
  return checkPair({ cert, key }, names, failed);
}

/** Reads a file of a pair. `name`: its name for messages. */
function readPart(file: string, name: string): string {
  try {
    return readSmallFile(file).toString();
  } catch (error) {
    throw new SandboxError("file_unreadable", `Failed to read ${name}: ${fileFailure(error)}.`);
  }
}

/** Checks that a certificate and a key fit together. Messages contain their `names`, never the key. */
function checkPair(pair: CertificatePair, names: CertificatePair, failed: string): CertificatePair {
  const { cert, key } = pair;
  const problem = problemOfPair(pair);
  if (problem === undefined) return { cert, key };
  throw new SandboxError(
    "certificate_unusable",
    `${failed}: ${names.cert} and ${names.key} must be a certificate and its key in PEM, without a passphrase (${problem}).`,
  );
}

/** Why a certificate and a key cannot be used; `undefined` if they can. */
function problemOfPair({ cert, key }: CertificatePair): string | undefined {
  try {
    createSecureContext({ cert, key });
    // Node also accepts a key of another kind.
    const isMatch = new X509Certificate(cert).checkPrivateKey(createPrivateKey(key));
    return isMatch ? undefined : "they do not match";
  } catch (error) {
    return `${(error as NodeJS.ErrnoException).code}`;
  }
}

/** Makes a certificate for this machine and some hosts. A wildcard address adds all addresses of this machine and its host name. */
export async function makeSelfSigned(...hosts: readonly string[]): Promise<CertificatePair> {
  const names = new Set(["localhost", "127.0.0.1", "::1"]);
  for (const host of hosts) {
    if (!isWildcard(host)) {
      names.add(host);
      continue;
    }
    // The names and addresses that may lead other machines here.
    names.add(hostname());
    for (const addresses of Object.values(networkInterfaces())) {
      for (const { address } of addresses ?? []) names.add(address);
    }
  }
  names.delete("");
  return makeCertificate([...names]);
}

/** Makes a self-signed certificate for a year. */
async function makeCertificate(names: readonly string[]): Promise<CertificatePair> {
  // @peculiar/x509 leaves this polyfill to its users.
  await import("reflect-metadata");
  const x509 = await import("@peculiar/x509");
  const webCrypto = nodeCrypto.webcrypto as Crypto;
  const keys = await webCrypto.subtle.generateKey(ecdsa, true, ["sign", "verify"]);
  const extensions = [
    new x509.BasicConstraintsExtension(false, undefined, true),
    new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
    new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
    new x509.SubjectAlternativeNameExtension(
      names.map((name) => {
        if (isIP(name) === 0) return { type: "dns", value: name } as const;
        // Certificates have no zones of link-local addresses.
        return { type: "ip", value: name.replace(/%.*$/, "") } as const;
      }),
    ),
    // Python 3.13 and later require both.
    await x509.SubjectKeyIdentifierExtension.create(keys.publicKey, false, webCrypto),
    await x509.AuthorityKeyIdentifierExtension.create(keys.publicKey, false, webCrypto),
  ];

  // It is valid an hour earlier, for clients whose clock is slow.
  const start = nodePlatform.time() - day / 24;
  const certificate = await x509.X509CertificateGenerator.createSelfSigned(
    {
      name: [{ CN: ["svc-sandbox"] }],
      notBefore: new Date(start),
      notAfter: new Date(start + 365 * day),
      keys,
      signingAlgorithm: ecdsa,
      extensions,
    },
    webCrypto,
  );
  const key = nodeCrypto.KeyObject.from(keys.privateKey).export({ type: "pkcs8", format: "pem" });
  return { cert: certificate.toString("pem"), key: key as string };
}
