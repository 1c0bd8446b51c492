import { nextRequest } from "../../../api/next-request.js";
import type { Endpoint } from "../../../sandbox/call.js";
import type { SandboxState } from "../../../sandbox/sandbox-state.js";

/** Adds the result of a key's next request. */
export function withNextRequest<Key extends { readonly ref: string }>(
  key: Key,
  sandbox: SandboxState,
  endpoint?: Endpoint,
) {
  return { ...key, nextRequest: nextRequest(sandbox, key.ref, endpoint) };
}
