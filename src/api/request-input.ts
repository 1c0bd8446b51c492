import { headerIn, type ReadBody, type Received, type RequestContent } from "../rules/request.js";

export function contentOf(
  { query, headers }: Pick<Received, "query" | "headers">,
  body: ReadBody,
): RequestContent {
  return {
    query: query.slice(1),
    contentType: headerIn(headers, "content-type"),
    headers,
    body,
  };
}

export const longestBody = 64 * 1024;

export const noBody: ReadBody = { text: "" };
export const tooLongBody: ReadBody = { text: "", problem: `it is longer than ${longestBody} bytes` };

/** Decodes a body. The result has a problem if the body is too long or not UTF-8. */
export function bodyOf(bytes: Uint8Array): ReadBody {
  if (bytes.length > longestBody) return tooLongBody;
  try {
    return { text: new TextDecoder("utf-8", { fatal: true }).decode(bytes) };
  } catch {
    return { text: "", problem: "it is not UTF-8" };
  }
}

export const noContent: RequestContent = {
  query: "",
  contentType: undefined,
  headers: [],
  body: noBody,
};
