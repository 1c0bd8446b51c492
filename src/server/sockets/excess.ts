import type { ServerResponse } from "node:http";
import { errorBody } from "../../api/messages.js";
import { clearTimeout, setTimeout } from "../../node/platform.js";
import { type Excess, sentenceOf } from "../../store/account.js";

/** Milliseconds until a rejection is sent, so that a client that resends immediately does not slow down the others. */
const pause = 250;

/** Headers of each response of the control plane. */
export const ofControl = {
  "Cache-Control": "no-store",
  "X-Frame-Options": "DENY",
  "X-Content-Type-Options": "nosniff",
};

export function rejectExcess(excess: Excess, response: ServerResponse): void {
  const { limit, max, retryAfter } = excess;
  const { text, bytes } = errorBody(
    "instance_rate_limited",
    `${sentenceOf(excess)} Send the next request in ${retryAfter} seconds.`,
  );
  const headers = {
    ...ofControl,
    "Content-Type": "application/json",
    "Content-Length": bytes,
    "Retry-After": retryAfter,
    "X-Sandbox-Limit": `${limit}=${max}`,
  };
  const timer = setTimeout(() => response.writeHead(429, headers).end(text), pause);
  response.once("close", () => clearTimeout(timer));
}
