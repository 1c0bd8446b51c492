import { mix32, type RandomStream, randomStream } from "../../rules/seed.js";
import type { ApiCall } from "../../sandbox/api-call.js";
import type { ApiResponse } from "../../sandbox/journal/exchange.js";
import { profileOf } from "../../sandbox/profile.js";
import type { VariedPoint } from "../../sandbox/run-trace.js";
import type { SandboxState } from "../../sandbox/sandbox-state.js";
import { saltOf, variantOn } from "../../sandbox/variants.js";
import { variedRecords } from "../../sandbox/varied-records.js";
import { headerPairs, utf8Length } from "../http-messages.js";
import { openRow } from "./own-assumptions.js";
import { type Draft, idRows, type RowVariant, rowsByContent, type VariationRow } from "./table.js";

/** The kind of a response: its variants follow from nothing else, never from the request, or from why its key is rejected (R14). */
export interface ResponseKind {
  readonly status: number;
  readonly content: keyof typeof rowsByContent;
}

/** The variant of a row that a response has. */
interface ChosenVariant {
  readonly row: VariationRow;
  readonly variant: RowVariant;
  readonly random: RandomStream;
}

/** A call; if its response varies, with its variants, and the id and assumptions that they choose. */
export type VariedCall = ApiCall & { readonly variants?: readonly ChosenVariant[] };

/** Makes the response to a call: in the profile `varied` with the variants of its kind, which the trace of a run then has. */
export function withVariants<Result extends { readonly response: ApiResponse }>(
  sandbox: SandboxState,
  call: ApiCall,
  kind: ResponseKind,
  respond: (call: VariedCall) => Result,
): Result & { readonly requestId?: string } {
  if (profileOf(sandbox) !== "varied") return respond(call);
  const variants = chosenVariants(sandbox, call, kind);
  const assumptions = Object.assign(
    {},
    sandbox.assumptions,
    ...variants.map(({ variant }) => variant.assume),
  );
  const form = variants.find(({ variant }) => variant.requestId !== undefined)?.variant.requestId;
  const id = form === undefined ? call.id : form(call.id.slice("req_".length));
  const result = respond({ ...call, id, assumptions, variants });
  if (kind.content === "me") call.trace?.points.push(...variedRecords(sandbox));
  call.trace?.points.push(...pointsIn(result.response, variants));
  return { ...result, requestId: id };
}

/** The variants of the rows that responses of this kind have. */
function chosenVariants(
  sandbox: SandboxState,
  call: ApiCall,
  { status, content }: ResponseKind,
): ChosenVariant[] {
  const { seed, run } = sandbox;
  const rules = { seed, rows: run?.rows, shift: run?.shiftOf(call, status) };
  const start = randomStream(seed, "variation")();
  return rowsByContent[content].flatMap((rowOfTable): ChosenVariant[] => {
    const row = rowOfTable.statuses.includes(status) ? openRow(sandbox, rowOfTable) : undefined;
    if (row === undefined) return [];
    const variant = variantOn(status, row, rules);
    const isOnStatus = variant.statuses?.includes(status) ?? true;
    return isOnStatus ? [{ row, variant, random: randomOf(start ^ saltOf(row)) }] : [];
  });
}

/** The numbers of a row, the same for each response. */
function randomOf(start: number): RandomStream {
  let value = mix32(start);
  return () => {
    value = mix32(value + 0x9e3779b9);
    return value;
  };
}

/** What varies in a response. */
function pointsIn({ status, headers }: ApiResponse, variants: readonly ChosenVariant[]): VariedPoint[] {
  const hasId = headerPairs(headers).some(([name]) => name.toLowerCase() === "x-request-id");
  const isShown = ({ id }: VariationRow) => hasId || !idRows.some((row) => row.id === id);
  return variants
    .filter(({ row, variant }) => variant !== row.variants[0] && isShown(row))
    .map(({ row, variant }) => ({ row: row.id, variant: variant.id, status }));
}

/** Varies everything that the status leaves open of a response that was made with the assumptions of these variants. */
export function vary(
  { status, headers, body }: ApiResponse,
  variants: readonly ChosenVariant[],
): ApiResponse {
  const draft: Draft = { status, body: JSON.parse(body), text: "", headers: headerPairs(headers) };
  for (const { variant, random } of variants) variant.change?.(draft, random);
  return withBody({ status, headers: draft.headers.flat(), body }, draft.text);
}

function withBody({ status, headers }: ApiResponse, body: string): ApiResponse {
  const length = String(utf8Length(body));
  const isLength = (at: number) => at % 2 === 1 && headers[at - 1]?.toLowerCase() === "content-length";
  return { status, headers: headers.map((text, at) => (isLength(at) ? length : text)), body };
}
