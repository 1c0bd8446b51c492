import type { ApiCall, ApiResponse, CallResult } from "../../sandbox/call.js";
import type { SandboxState } from "../../sandbox/sandbox-state.js";
import type { VariedPoint } from "../../sandbox/variants.js";
import { headerPairs, utf8Length } from "../http-messages.js";
import { chooseVariation, type ResponseKind, type Variation } from "./choose-variants.js";
import type { Body, Header } from "./row.js";
import { idRows } from "./table.js";

const noPoints: readonly VariedPoint[] = [];

/**
 * Responds to a call as the profile of its sandbox varies such responses: in no other profile than `varied` at all. Variants are
 * chosen first, because some choose the request id and the assumptions of the call. `render` makes the response to that call. The
 * other variants change how it is written.
 */
export function respondVaried<Outcome>(
  sandbox: SandboxState,
  call: ApiCall,
  kind: ResponseKind,
  render: (variedCall: ApiCall) => CallResult<Outcome>,
): CallResult<Outcome> {
  const variation = chooseVariation(sandbox, call, kind);
  const { variedCall } = variation;
  const rendered = render(variedCall);
  const response = rewriteResponse(rendered.response, variation);
  const points = variedPoints(sandbox, variation, response);
  return { outcome: rendered.outcome, response, code: rendered.code, requestId: variedCall.id, points };
}

/**
 * The response of a varied call, written as its variants write it: its body, then its headers. A response without a body stays as it
 * is, and so does that of a fault: its body may be no JSON, and only its request id varies.
 */
export function rewriteResponse(response: ApiResponse, { content, variants }: Variation): ApiResponse {
  const { status } = response;
  if (response.body === "" || content === "of_fault") return response;

  // The value of the body, and how it is written.
  let body: Body = JSON.parse(response.body);
  let writeBody = (value: Body) => JSON.stringify(value);
  for (const { variant, random } of variants) {
    if (variant.changeBody !== undefined) body = variant.changeBody(body, random, status);
    if (variant.writeBody !== undefined) writeBody = variant.writeBody;
  }

  let text = writeBody(body);
  for (const { variant } of variants) {
    if (variant.changeText !== undefined) text = variant.changeText(text);
  }

  // The headers. The body has another length now.
  const length = String(utf8Length(text));
  let headers: readonly Header[] = headerPairs(response.headers).map(([name, value]) => [
    name,
    name === "Content-Length" ? length : value,
  ]);
  for (const { variant, random } of variants) {
    if (variant.changeHeaders !== undefined) headers = variant.changeHeaders(headers, random, text);
  }
  return { status, headers: headers.flat(), body: text };
}

/**
 * What varies in a response: each row with the variant that it has. Nothing outside of a client's run, which alone reads it. A
 * variant may find nothing to change in this response: `slashes` in a body without any.
 */
function variedPoints(
  sandbox: SandboxState,
  { content, variants }: Variation,
  response: ApiResponse,
): readonly VariedPoint[] {
  if (sandbox.run === undefined) return noPoints;
  const hasId = headerPairs(response.headers).some(([name]) => name.toLowerCase() === "x-request-id");

  const points: VariedPoint[] = [];
  // A success of `/me` also shows what varies in the records of keys and organizations.
  if (content === "me") points.push(...sandbox.additions.variants);
  for (const { row, variant } of variants) {
    // Not the first variant: it is what `minimal` does, or the usual form of what the sandbox assumes itself.
    if (variant === row.variants[0]) continue;
    const isOfId = idRows.some(({ id }) => id === row.id);
    if (isOfId && !hasId) continue;
    points.push({ row: row.id, variant: variant.id, status: response.status });
  }
  return points;
}
