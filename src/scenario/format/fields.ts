import * as s from "../../schema/shape.js";

// Texts and numbers of the format. Most are functions: each use is a new shape, which can have its own description.

/** One line, such as a name. */
export const shortText = () =>
  s.text({
    noun: "one line of 1 to 200 characters",
    code: "out_of_range",
    min: 1,
    max: 200,
    pattern: /^[^\r\n]*$/,
  });

export const maximumScopes = 100;

const scopePattern = /^[a-z][a-z0-9_.-]*(?::[a-z][a-z0-9_.-]*)*$/;
export const scope = () =>
  s.text({ noun: "a scope name", example: "attestations:read", pattern: scopePattern });

export const sha256 = () =>
  s.text({ noun: "a SHA-256", pattern: /^[0-9a-f]{64}$/, hint: () => "write 64 hex digits in lower case" });

// The largest integer of a structured field (RFC 9651), as in the RateLimit headers.
const limit = () => s.integer({ max: 999_999_999_999_999 });
export const limits = s.mapping({ per_minute: s.optional(limit()), per_day: s.optional(limit()) });
