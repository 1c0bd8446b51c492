import { parsedJson } from "../domain/json.js";
import { redactEncoded, redactValue } from "../domain/redact.js";
import { shapeProblems } from "../schema/check.js";
import { pathText } from "../schema/shape.js";
import { camelCase, snakeCase } from "../schema/spelling.js";
import { type CertifyResult, certificateFormat, certificateShape } from "./result.js";

/** What was certified, as a certificate states it. */
export interface Certificate {
  /** Without keys. */
  readonly result: CertifyResult;
  /** The file: members in snake_case. */
  readonly json: object;
}

/** The certificate of a result; what looks like a key in any of its texts is cut. */
export function certificateOf(result: CertifyResult): Certificate {
  const safe = redactValue(result, redactEncoded);
  // Names of assumptions are spelled like this already.
  const facts = { svc_sandbox_certificate: certificateFormat, ...(snakeCase(safe) as object) };
  // A file has no member that is `undefined`.
  return { result: safe, json: JSON.parse(JSON.stringify(facts)) };
}

/** Why a text is no certificate that can be verified, as a sentence for people. */
interface UnusableCertificate {
  readonly problem: "not_json" | "not_a_certificate" | "other_format";
  readonly sentence: string;
}

/** Reads the text of a certificate's file; checks its format and its shape. */
export function readCertificate(text: string): Certificate | UnusableCertificate {
  const json = parsedJson(text.replace(/^\uFEFF/, ""));
  if (json === undefined)
    return { problem: "not_json", sentence: "It is not JSON, or only a part of a file." };
  const { svc_sandbox_certificate: format, sandbox } = (json ?? {}) as Record<string, unknown>;
  if (format === undefined) {
    const sentence =
      "It is not a certificate: svc-sandbox certify --certificate writes one, as a file that ends with .json.";
    return { problem: "not_a_certificate", sentence };
  }
  if (Number.isSafeInteger(format) && format !== certificateFormat) {
    const sentence = `It has format ${format}, of svc-sandbox ${JSON.stringify(sandbox)}; this one reads format ${certificateFormat}. Verify it with that version.`;
    return { problem: "other_format", sentence };
  }
  const [broken] = shapeProblems(certificateShape, json);
  if (broken !== undefined) {
    const sentence = `It is not a certificate: at ${pathText(broken.path)}, ${broken.message}.`;
    return { problem: "not_a_certificate", sentence: redactEncoded(sentence) };
  }
  const { svc_sandbox_certificate: _format, like, ...facts } = json as Record<string, unknown>;
  const result = { ...(camelCase(facts) as object), ...(like !== undefined && { like }) } as CertifyResult;
  return { result, json: json as object };
}
