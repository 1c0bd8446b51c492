import { redactEncoded, redactValue } from "../spec/redact.js";
import { shapeProblems } from "../spec/schema/check.js";
import { camelCase, parsedJson, snakeCase } from "../spec/schema/json.js";
import { pathText } from "../spec/schema/shape.js";
import { type CertifyResult, certificateFormat, certificateShape } from "./result.js";

/** A certified result, and its file. */
export interface Certificate {
  /** Without keys. */
  readonly result: CertifyResult;
  /** The content of the file, with members in snake_case. */
  readonly json: object;
}

/** Returns the certificate of a result, with everything that looks like a key shortened. */
export function certificateOf(result: CertifyResult): Certificate {
  const safe = redactValue(result, redactEncoded);
  // Assumptions have their names in snake_case already.
  const facts = { svc_sandbox_certificate: certificateFormat, ...(snakeCase(safe) as object) };
  // Removes members that are `undefined`.
  return { result: safe, json: JSON.parse(JSON.stringify(facts)) };
}

/** Why a text cannot be verified as a certificate. */
interface UnusableCertificate {
  readonly problem: "not_json" | "not_a_certificate" | "other_format";
  readonly sentence: string;
}

/** Reads the text of a certificate's file, and checks its format and shape. */
export function readCertificate(text: string): Certificate | UnusableCertificate {
  const json = parsedJson(text.replace(/^\uFEFF/, ""));
  if (json === undefined)
    return { problem: "not_json", sentence: "It is not valid JSON, or not a complete file." };
  const { svc_sandbox_certificate: format, sandbox } = (json ?? {}) as Record<string, unknown>;
  if (format === undefined) {
    const sentence = "It is not a certificate: svc-sandbox certify --certificate writes one to a .json file.";
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
