import { mix32, type RandomStream, randomStream } from "../../rules/seed.js";
import type { ApiCall } from "../../sandbox/api-call.js";
import type { ApiResponse, CallResult } from "../../sandbox/journal/exchange.js";
import { profileInEffect } from "../../sandbox/profile.js";
import { seriesOf } from "../../sandbox/request-ids.js";
import type { VariedPoint } from "../../sandbox/run-trace.js";
import type { SandboxState } from "../../sandbox/sandbox-state.js";
import { saltOf, variantOn } from "../../sandbox/variants.js";
import { variedRecords } from "../../sandbox/varied-records.js";
import { headerPairs, utf8Length } from "../http-messages.js";
import { openRow } from "./own-assumptions.js";
import type { Body, Header, RowVariant, VariationRow } from "./row.js";
import { idRows, rowsByContent } from "./table.js";

/** The kind of a response: its variants follow from nothing else, never from the request, or from why its key is rejected (R14). */
export interface ResponseKind {
  readonly status: number;
  readonly content: keyof typeof rowsByContent;
}

/** The variant of a row that a response has. */
interface ChosenVariant {
  readonly row: VariationRow;
  readonly variant: RowVariant;
  /** For what the variant leaves to chance, such as an order. */
  readonly random: RandomStream;
}

/**
 * Makes the response to a call with `respond`. In the profile `varied`, it chooses the variants of such a response first: some
 * of them choose the request id and the assumptions of the call that `respond` gets. The others are for `respond` to apply to
 * the response that it makes, with `vary`. In a run of a client, the result also says what varied.
 */
export function withVariants<Result extends { readonly response: ApiResponse }>(
  sandbox: SandboxState,
  call: ApiCall,
  kind: ResponseKind,
  respond: (call: ApiCall, variants: readonly ChosenVariant[]) => Result,
): Result & Pick<CallResult, "requestId" | "points"> {
  if (profileInEffect(sandbox) !== "varied") return respond(call, []);
  const variants = chooseVariants(sandbox, call, kind);

  // Before there is a response, the variants choose its assumptions and its id.
  const assumptions = { ...sandbox.assumptions };
  let { id } = call;
  for (const { variant } of variants) {
    Object.assign(assumptions, variant.assume);
    if (variant.requestId === undefined) continue;
    const digits = call.id.slice("req_".length);
    id = variant.requestId(digits, seriesOf(call.number));
  }

  const result = respond({ ...call, id, assumptions }, variants);
  if (sandbox.run === undefined) return { ...result, requestId: id };

  // The run of a client shows what varied: in the records of `/me`, and in the response.
  const points: VariedPoint[] = [];
  if (kind.content === "me") points.push(...variedRecords(sandbox));
  points.push(...variedPoints(result.response, variants));
  return { ...result, requestId: id, points };
}

/** The variants of a response, in the order of the table: one of each row that responses of its kind have, and that is open. */
function chooseVariants(sandbox: SandboxState, call: ApiCall, kind: ResponseKind): ChosenVariant[] {
  const { status, content } = kind;
  const { seed, run } = sandbox;
  const rules = { seed, rows: run?.rows, shift: run?.shiftOf(call, status) };
  const start = randomStream(seed, "variation")();

  const chosen: ChosenVariant[] = [];
  for (const rowOfTable of rowsByContent[content]) {
    if (!rowOfTable.statuses.includes(status)) continue;
    const row = openRow(sandbox, rowOfTable);
    if (row === undefined) continue;

    const variant = variantOn(status, row, rules);
    // Some variants are not for all statuses of their row.
    const { statuses } = variant;
    if (statuses !== undefined && !statuses.includes(status)) continue;
    chosen.push({ row, variant, random: rowNumbers(start ^ saltOf(row)) });
  }
  return chosen;
}

/** The random numbers of a row: the same for each response. */
function rowNumbers(start: number): RandomStream {
  let value = mix32(start);
  return () => {
    value = mix32(value + 0x9e3779b9);
    return value;
  };
}

/** What varies in a response, as far as a client can see it. */
function variedPoints(response: ApiResponse, variants: readonly ChosenVariant[]): VariedPoint[] {
  const hasId = headerPairs(response.headers).some(([name]) => name.toLowerCase() === "x-request-id");

  const points: VariedPoint[] = [];
  for (const { row, variant } of variants) {
    // The first variant is what `minimal` does.
    if (variant === row.variants[0]) continue;
    const isOfId = idRows.some(({ id }) => id === row.id);
    if (isOfId && !hasId) continue;
    points.push({ row: row.id, variant: variant.id, status: response.status });
  }
  return points;
}

/** A response with the changes of these variants; it was made with their assumptions. */
export function vary(response: ApiResponse, variants: readonly ChosenVariant[]): ApiResponse {
  const { status } = response;

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
