import type { RawSending } from "./raw-socket.js";
import { mePath } from "./send.js";

export const crlf = "\r\n";

/** A request; whatever is left out is as it should be. */
export function request(parts: {
  line?: string;
  host?: string;
  key?: string;
  headers?: string[];
  body?: string;
}): string {
  const { line = `GET ${mePath} HTTP/1.1`, host = "127.0.0.1", key, headers = [], body = "" } = parts;
  const keyLines = key === undefined ? [] : [`x-api-key: ${key}`];
  return [line, `Host: ${host}`, ...keyLines, ...headers, "", body].join(crlf);
}

/** A conversation of one piece. */
export function once(text: string, after: RawSending["after"] = "end"): RawSending {
  return { chunks: [text], after };
}

export function good(key: string): string {
  return request({ key });
}
