import type { Assumptions } from "../../rules/assumptions.js";
import { mix32, type RandomStream, randomStream } from "../../rules/seed.js";
import type { ApiCall } from "../../sandbox/api-call.js";
import type { ApiResponse } from "../../sandbox/journal/exchange.js";
import type { SandboxState } from "../../sandbox/sandbox-state.js";
import { chooseVariant } from "../../sandbox/variants.js";
import { variedRecords } from "../../sandbox/varied-records.js";
import { headerPairs, utf8Length } from "../http-messages.js";
import { openRow } from "./own-assumptions.js";
import { type Draft, meRows, type RowVariant, type VariationRow, variationTable } from "./table.js";

/** The kind of a response: the rows that apply to it follow from nothing else. */
export interface ResponseKind {
  readonly status: number;
  readonly isMe: boolean;
}

/** The variant of a row that a response has. */
interface ChosenVariant {
  readonly row: VariationRow;
  readonly variant: RowVariant;
  readonly random: RandomStream;
}

export interface Variation {
  readonly assumptions: Assumptions;
  readonly requestId: string;
  readonly chosen: readonly ChosenVariant[];
}

/** The variation of responses of this kind. It never depends on the request, or on why its key is rejected (R14). */
export function variationOf(sandbox: SandboxState, call: ApiCall, kind: ResponseKind): Variation {
  const { trace } = call;
  const chosen = chosenVariants(sandbox, call, kind);
  if (kind.isMe) trace?.points.push(...variedRecords(sandbox));
  for (const { row, variant } of chosen)
    if (variant !== row.variants[0] && applies(row, variant, kind))
      trace?.points.push({ row: row.id, variant: variant.id, status: kind.status });
  const id = sandbox.requestIds.idOf(call.number);
  const form = chosen.find(({ variant }) => variant.requestId !== undefined)?.variant.requestId;
  return {
    assumptions: Object.assign({}, sandbox.assumptions, ...chosen.map(({ variant }) => variant.assume)),
    requestId: form === undefined ? id : form(id.slice("req_".length)),
    chosen,
  };
}

function chosenVariants(sandbox: SandboxState, call: ApiCall, kind: ResponseKind): ChosenVariant[] {
  const { seed, run } = sandbox;
  const rules = { seed, rows: run?.rows, shift: run?.shiftOf(call, kind.status) };
  const start = randomStream(seed, "variation")();
  const chosen: ChosenVariant[] = [];
  for (const rowOfTable of variationTable) {
    const row = openRow(sandbox, rowOfTable);
    if (row === undefined) continue;
    const { variants } = row;
    const ofSeed = variants[chooseVariant({ seed }, row, kind.status, variants.length)] as RowVariant;
    const ofRun = variants[chooseVariant(rules, row, kind.status, variants.length)] as RowVariant;
    const variant = applies(row, ofSeed, kind) ? ofRun : ofSeed;
    chosen.push({ row, variant, random: randomOf(start ^ row.salt) });
  }
  return chosen;
}

/** The numbers of a row, the same for each response. */
function randomOf(start: number): RandomStream {
  let value = mix32(start);
  return () => {
    value = mix32(value + 0x9e3779b9);
    return value;
  };
}

function applies(
  row: VariationRow,
  { assume, requestId, statuses = row.statuses }: RowVariant,
  { status, isMe }: ResponseKind,
): boolean {
  // A failure of the service has only the rows for every status.
  const fits = statuses.includes(status) || (status >= 500 && (assume ?? requestId) !== undefined);
  return fits && (isMe || !meRows.includes(row));
}

/** Varies everything that the status leaves open of a response that was made with the variation's assumptions. */
export function vary(
  { status, headers, body }: ApiResponse,
  { chosen }: Variation,
  isMe = false,
): ApiResponse {
  const draft: Draft = { status, body: JSON.parse(body), text: "", headers: headerPairs(headers) };
  for (const { row, variant, random } of chosen)
    if (applies(row, variant, { status, isMe })) variant.change?.(draft, random);
  return withBody({ status, headers: draft.headers.flat(), body }, draft.text);
}

function withBody({ status, headers }: ApiResponse, body: string): ApiResponse {
  const length = String(utf8Length(body));
  const isLength = (at: number) => at % 2 === 1 && headers[at - 1]?.toLowerCase() === "content-length";
  return { status, headers: headers.map((text, at) => (isLength(at) ? length : text)), body };
}
