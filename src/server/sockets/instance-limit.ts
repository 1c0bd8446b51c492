import type { ServerResponse } from "node:http";
import { errorBody } from "../../api/messages.js";
import { stopwatch } from "../../library/real-time.js";
import { clearTimeout, setTimeout } from "../../node/platform.js";
import type { SandboxState } from "../../sandbox/sandbox.js";
import type { Instance } from "../../store/instances.js";

const minute = 60_000;

/** Milliseconds until a rejection is sent, so that a client that resends immediately does not slow down the others. */
const pause = 250;

/** Each server counts only its own requests: a shared count would cost more than it saves. */
export function createInstanceLimit(now: () => number = stopwatch) {
  const minutes = new WeakMap<SandboxState, { readonly since: number; count: number }>();
  return ({
    tenancy: { requestsPerMinute: max },
    sandbox,
  }: Pick<Instance, "tenancy" | "sandbox">): Excess | undefined => {
    if (max === undefined) return undefined;
    const at = now();
    const last = minutes.get(sandbox);
    const current = last === undefined || at - last.since >= minute ? { since: at, count: 0 } : last;
    if (current.count >= max) {
      return { max, retryAfter: Math.ceil((current.since + minute - at) / 1000) };
    }
    current.count += 1;
    minutes.set(sandbox, current);
    return undefined;
  };
}

export interface Excess {
  readonly max: number;
  /** Seconds. */
  readonly retryAfter: number;
}

export function rejectExcess({ max, retryAfter }: Excess, response: ServerResponse): void {
  const { text, bytes } = errorBody(
    "instance_rate_limited",
    `This sandbox accepts ${max} requests a minute for all its keys together. Its host set this limit; it is not a limit of the API or of your key. Send the next request in ${retryAfter} seconds.`,
  );
  const headers = {
    "Content-Type": "application/json",
    "Content-Length": bytes,
    "Retry-After": retryAfter,
    "X-Sandbox-Limit": `requests_per_minute=${max}`,
  };
  const timer = setTimeout(() => response.writeHead(429, headers).end(text), pause);
  response.once("close", () => clearTimeout(timer));
}
