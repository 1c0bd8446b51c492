import { snakeCase } from "../api/snake-case.js";
import { redactEncoded } from "../domain/redact.js";
import { sha256 } from "../library/sha256.js";
import { camelCase } from "../report/report.js";
import { shapeProblems } from "../schema/check.js";
import { pathText } from "../schema/shape.js";
import { certificateFormat, certificateShape } from "./format.js";
import type { CertifyResult } from "./result.js";

/** What was certified, as a certificate says it, and the digest of that. */
export interface Certificate {
  /** Without keys. */
  readonly result: CertifyResult;
  readonly digest: string;
  /** The file: members in snake_case. */
  readonly json: object;
}

/** The certificate of a result; what looks like a key in any of its texts is cut. */
export function certificateOf(result: CertifyResult): Certificate {
  const safe = withoutKeys(result) as CertifyResult;
  // Names of assumptions are spelled like this already.
  const facts = { svc_sandbox_certificate: certificateFormat, ...(snakeCase(safe) as object) };
  const digest = digestOf(facts);
  // What is `undefined` is not there in a file.
  return { result: safe, digest, json: JSON.parse(JSON.stringify({ ...facts, digest })) };
}

/** Why a text is no certificate that can be verified, as a sentence for people. */
export interface UnusableCertificate {
  readonly problem: "not_json" | "not_a_certificate" | "newer_format" | "digest_differs";
  readonly sentence: string;
}

/** Reads the text of a certificate's file; checks its format, its shape and its digest. */
export function readCertificate(text: string): Certificate | UnusableCertificate {
  const json = jsonOf(text);
  if (json === undefined)
    return { problem: "not_json", sentence: "It is not JSON, or only a part of a file." };
  const { svc_sandbox_certificate: format, sandbox } = (json ?? {}) as Record<string, unknown>;
  if (format === undefined) {
    const sentence =
      "It is not a certificate: svc-sandbox certify --certificate writes one, as a file that ends with .json.";
    return { problem: "not_a_certificate", sentence };
  }
  if (Number.isSafeInteger(format) && (format as number) > certificateFormat) {
    const sentence = `It has format ${format}, of svc-sandbox ${JSON.stringify(sandbox)}; this one reads format ${certificateFormat}. Verify it with that version.`;
    return { problem: "newer_format", sentence };
  }
  const [broken] = shapeProblems(certificateShape, json);
  if (broken !== undefined) {
    const sentence = `It is not a certificate: at ${pathText(broken.path)}, ${broken.message}.`;
    return { problem: "not_a_certificate", sentence: redactEncoded(sentence) };
  }
  const { digest, svc_sandbox_certificate: _format, like, ...facts } = json as Record<string, unknown>;
  const own = digestOf({ ...(json as object), digest: undefined });
  if (digest !== own) {
    const sentence = `Its digest does not match: something in it was changed after it was written (its digest is ${digest}, what it says has ${own}).`;
    return { problem: "digest_differs", sentence };
  }
  const result = { ...(camelCase(facts) as object), ...(like !== undefined && { like }) } as CertifyResult;
  return { result, digest: own, json: json as object };
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch {
    return undefined;
  }
}

/** SHA-256 in hex of the canonical JSON (RFC 8785) of a value. */
export function digestOf(value: unknown): string {
  return sha256(canonicalJson(value));
}

// Numbers and texts are written as JSON.stringify does; members are sorted by their UTF-16 units, as `sort` does.
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join()}]`;
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  const names = members.map(([name]) => name).sort();
  return `{${names.map((name) => `${JSON.stringify(name)}:${canonicalJson((value as Record<string, unknown>)[name])}`).join()}}`;
}

function withoutKeys(value: unknown): unknown {
  if (typeof value === "string") return redactEncoded(value);
  if (Array.isArray(value)) return value.map(withoutKeys);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, withoutKeys(member)]));
}
