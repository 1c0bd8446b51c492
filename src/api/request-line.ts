import type { Exchange } from "../sandbox/history/exchange.js";
import { viewRequest } from "../sandbox/views.js";
import { snakeCase } from "../spec/schema/spelling.js";

/** A request in the spelling of JSON, with its duration to the microsecond. */
export function requestLine(exchange: Exchange): Record<string, unknown> {
  const shown = viewRequest(exchange);
  return snakeCase({ ...shown, durationMs: Math.round(shown.durationMs * 1000) / 1000 }) as Record<
    string,
    unknown
  >;
}
