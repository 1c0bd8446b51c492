import { nextRequest } from "../../../api/next-request.js";
import { SandboxError } from "../../../rules/errors.js";
import type { Endpoint } from "../../../sandbox/call.js";
import type { SandboxState } from "../../../sandbox/sandbox-state.js";
import * as s from "../../../schema/shape.js";

/** Adds the result of a key's next request. */
export function withNextRequest<Key extends { readonly ref: string }>(
  key: Key,
  sandbox: SandboxState,
  endpoint?: Endpoint,
) {
  return { ...key, nextRequest: nextRequest(sandbox, key.ref, endpoint) };
}

/** The fields of a query for a part of a list. `defaultLimit` is the number without a limit. */
export function pageFields(defaultLimit: number | "all", limit = s.integer()) {
  return {
    offset: s.optional(s.described(s.integer(), "The index of the first one. Default: 0.")),
    limit: s.optional(s.described(limit, `At most this many. Default: ${defaultLimit}.`)),
  };
}

/** Runs an operation with a ref of the body. An unknown ref is not found in a path, but invalid in a body. */
export function refInBody<Result>(field: string, run: () => Result): Result {
  try {
    return run();
  } catch (error) {
    if (!(error instanceof SandboxError) || error.code !== "unknown_ref") throw error;
    const { message, details } = error;
    throw new SandboxError("validation_failed", message, { ...details, fields: { [field]: message } });
  }
}
