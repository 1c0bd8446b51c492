import { isIP } from "node:net";
import { generate } from "selfsigned";
import { nodePlatform } from "./platform.js";
import type { CertificatePair } from "./tls.js";

const day = 24 * 60 * 60_000;
// What an address that means all of them could stand for is not known.
const everywhere = ["0.0.0.0", "::"];

/** Makes a certificate for this machine's own names and `host`, signed by nobody else, that is good for a year. */
export async function makeSelfSigned(host: string): Promise<CertificatePair> {
  const names = new Set(["localhost", "127.0.0.1", "::1", ...(everywhere.includes(host) ? [] : [host])]);
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
  // A certificate has no place for the zone of a link-local address.
  return { type: 7, ip: name.replace(/%.*$/, "") } as const;
}
