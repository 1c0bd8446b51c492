import type { RequestEvidence, RequestTraits } from "../domain/request-traits.js";
import type { AnswerDelivery, Connection } from "../sandbox/behaviour/known-answers.js";

/** A request to the API as plain data, made by every adapter. */
export interface ApiRequest {
  /** Upper case, as HTTP sends it. */
  readonly method: string;
  /** The path alone: no query, still percent-encoded. */
  readonly path: string;
  /** The `x-api-key` header, white space around it stripped; several joined by `, `; `undefined` when there is none. */
  readonly apiKey: string | undefined;
  /** The keys in its path, where that holds none any more. Default: looked for in the path. */
  readonly keysInPath?: readonly string[] | undefined;
  /** Its other traits, for advice. Default: none. */
  readonly traits?: RequestTraits;
  /** Details that its traits tell of. Default: none. */
  readonly evidence?: RequestEvidence | undefined;
  /** Its connection, for advice. Default: unknown. */
  readonly connection?: Connection | undefined;
  /** The delivery of its answer, which the adapter marks. Default: delivered at once, or after the latency of a fault. */
  readonly delivery?: AnswerDelivery | undefined;
  /** Its query, body and headers, for an endpoint that takes any of them. Default: none. */
  readonly content?: RequestContent;
  /** Whether a story or the control plane sends it, so that nothing is said of the client. Default: false. */
  readonly isTold?: boolean;
}

/** The body of a request as text, or the reason why there is none. */
export interface ReadBody {
  /** Empty without a body. */
  readonly text: string;
  /** `undefined` for a readable body. */
  readonly problem?: string;
}

/** The parts of a request beside its method, path and key, which adapters read for endpoints with an input schema. */
export interface RequestContent {
  /** Without its question mark. */
  readonly query: string;
  readonly contentType: string | undefined;
  readonly idempotencyKey: string | undefined;
  readonly body: ReadBody;
}

/** An answer of the API as plain data. */
export interface ApiAnswer {
  readonly status: number;
  /** Names and values in turn, `Content-Length` included. */
  readonly headers: readonly string[];
  /** Empty for HEAD. */
  readonly body: string;
}

/** The reason phrases of refusals (RFC 9110). */
export const reasonPhrases: Readonly<Record<number, string>> = {
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  405: "Method Not Allowed",
  409: "Conflict",
  422: "Unprocessable Content",
  429: "Too Many Requests",
};

/** A body and its length in UTF-8 bytes. */
export interface TextBody {
  readonly text: string;
  readonly bytes: number;
}

/** A text as the body of an answer. */
export function textBody(text: string): TextBody {
  return { text, bytes: utf8Length(text) };
}

/** A value as the body of an answer, in JSON. */
export function jsonBody(value: unknown): TextBody {
  return textBody(JSON.stringify(value));
}

/** The length of a text in UTF-8 bytes; a lone surrogate counts as the three bytes that stand in for it. */
export function utf8Length(text: string): number {
  let bytes = text.length;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit < 0x80) continue;
    const isPair = unit >= 0xd800 && unit < 0xdc00 && (text.charCodeAt(i + 1) & 0xfc00) === 0xdc00;
    if (isPair) i++;
    // A pair is two units and four bytes; anything else above 0x7ff is one unit and three bytes.
    bytes += isPair || unit >= 0x800 ? 2 : 1;
  }
  return bytes;
}
