import { request } from "undici";

export async function withUndici(method, url, headers, body) {
  const timeouts = { headersTimeout: 4000, bodyTimeout: 4000 };
  const response = await request(url, { method, headers, body, ...timeouts });
  return {
    status: response.statusCode,
    retryAfter: response.headers["retry-after"] ?? null,
    text: await response.body.text(),
  };
}
