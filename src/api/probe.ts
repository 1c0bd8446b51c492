import { redactPath } from "../rules/keys/redact.js";
import { hasKeyElsewhere } from "../rules/request.js";
import type { ApiCall } from "../sandbox/api-call.js";

/** The paths that browsers, watchdogs and load balancers request from any server. */
const probedPath =
  /^\/(?:favicon\.ico|apple-touch-icon[^/]*\.png|robots\.txt|healthz?|livez|readyz|ping|status|metrics|actuator\/health(?:\/.*)?|\.well-known\/.*)?$/;

/** Whether a call probes any web server, such as for a favicon. */
export function isProbe(call: ApiCall): boolean {
  const { method, path, apiKey, traits, fromStory } = call.request;
  if (call.route !== undefined || fromStory) return false;
  // A client of the API has a key, or tries to send one.
  if (apiKey !== undefined || hasKeyElsewhere(traits)) return false;
  if (method !== "GET" && method !== "HEAD") return false;
  return probedPath.test(redactPath(path));
}
