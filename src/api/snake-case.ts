import type { Exchange } from "../sandbox/history/exchange.js";
import { viewRequest } from "../sandbox/views.js";

/** Plain data with the members of its objects spelled as YAML, HTTP and JSON spell them: `perMinute` as `per_minute`. */
export function snakeCase(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(snakeCase);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      snakeCase(member),
    ]),
  );
}

/** A request as JSON outside this process spells it; its duration to the microsecond. */
export function requestLine(exchange: Exchange): Record<string, unknown> {
  const shown = viewRequest(exchange);
  return snakeCase({ ...shown, durationMs: Math.round(shown.durationMs * 1000) / 1000 }) as Record<
    string,
    unknown
  >;
}
