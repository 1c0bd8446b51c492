import { X509Certificate } from "node:crypto";

/** What people are told of the certificate (PEM) that a server shows, in one line. */
export function certificateText(certificate: string): string {
  const { fingerprint256, issuer, subject } = new X509Certificate(certificate);
  const signed = issuer === subject ? "self-signed" : "yours";
  return `${signed}, SHA-256 ${fingerprint256}`;
}
