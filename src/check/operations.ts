import { type Endpoint, type KeylessRequest, requestsTo } from "../api/endpoint.js";
import { type DescribedOperation, endpointsOf } from "../api/routes.js";
import { listed } from "../rules/schema/words.js";
import type { SandboxState } from "../sandbox/sandbox.js";

/** An operation of a document, with the request that tries it, or why none does. */
export interface CheckedOperation {
  /** For example, `GET /things/{id}`. */
  readonly operation: string;
  readonly endpoint?: Endpoint | undefined;
  readonly request?: KeylessRequest;
  readonly reason?: string | undefined;
}

/** The operations of a document, and the other endpoints of the sandbox, with the requests that try them. */
export function operationsToCheck(
  sandbox: SandboxState,
  described: readonly DescribedOperation[],
): readonly CheckedOperation[] {
  const isDescribed = (one: Endpoint) => described.some(({ endpoint }) => endpoint === one);
  const others = endpointsOf(sandbox).filter((one) => !one.responsesContext && !isDescribed(one));
  const own = others.map((endpoint) => ({ operation: `${endpoint.method} ${endpoint.path}`, endpoint }));
  return [...described, ...own].map(({ operation, endpoint, why }: DescribedOperation): CheckedOperation => {
    // The paths of `/me` have their own requests.
    if (endpoint === undefined || endpoint.responsesContext) return { operation, endpoint, reason: why };
    return { operation, endpoint, ...requestOf(endpoint, sandbox) };
  });
}

/** A request to an endpoint, with the values that its document has for the parameters, or why none is sent. */
function requestOf(endpoint: Endpoint, sandbox: SandboxState): Pick<CheckedOperation, "request" | "reason"> {
  const { method, path, responseType = "application/json" } = endpoint;
  if (method !== "GET") return { reason: `${method} may change something, and check only reads` };
  const invented = endpoint.invented ?? path.match(/\{[^{}]+\}/g) ?? [];
  if (invented.length > 0)
    return { reason: `it needs ${listed(invented, "and")}, and the document has no example of it` };
  const [caller] = sandbox.registry.keys.values();
  const [request = {}] = caller === undefined ? [] : requestsTo(endpoint, caller, sandbox);
  if (request.body !== undefined) return { reason: "it has a body, and check sends none" };
  const accept = responseType === "" ? "*/*" : responseType;
  return { request: { path, ...request, headers: { ...request.headers, accept } } };
}
