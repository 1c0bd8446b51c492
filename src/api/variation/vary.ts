import { type RandomStream, randomStream } from "../../rules/seed.js";
import type { ApiCall } from "../../sandbox/api-call.js";
import type { ApiResponse } from "../../sandbox/journal/call-result.js";
import { profileInEffect } from "../../sandbox/profile.js";
import type { VariedPoint } from "../../sandbox/run-trace.js";
import type { SandboxState } from "../../sandbox/sandbox-state.js";
import { randomOfRow, variantOn } from "../../sandbox/variants.js";
import { headerPairs, utf8Length } from "../http-messages.js";
import { varyingRow } from "./own-assumptions.js";
import type { Body, Header, RowVariant, VariationRow } from "./row.js";
import { idRows, rowsByContent } from "./table.js";

// A response in the profile `varied` is made in steps. `chooseVariation` chooses its variants before there is a response: some of
// them choose the request id and the assumptions of its call. For that call it is then made as in any profile, and
// `rewriteResponse` changes how it is written. `variedPoints` lists for a client's run what varies.

/** What chooses the variants of a response: never its request, nor why its key is rejected (R14). */
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

/** What varies in one response. */
interface Variation {
  readonly content: ResponseKind["content"];
  /** One of each row that such responses have, and that varies in the sandbox, in the order of the table. */
  readonly variants: readonly ChosenVariant[];
  /** The call with the request id and the assumptions that the variants choose: the response is made for this call. */
  readonly variedCall: ApiCall;
}

const noPoints: readonly VariedPoint[] = [];

/**
 * Chooses what varies in the response to a call: nothing, unless the profile is `varied`. A client's run that mixes variants counts
 * the response, and gives the next one the next variants.
 */
export function chooseVariation(sandbox: SandboxState, call: ApiCall, response: ResponseKind): Variation {
  const { status, content } = response;
  if (profileInEffect(sandbox) !== "varied") return { content, variants: [], variedCall: call };
  const shift = sandbox.run?.takeVariantShift(call, status);
  const variants = chooseVariants(sandbox, response, shift);

  const assumptions = { ...sandbox.assumptions };
  let { id } = call;
  for (const { variant } of variants) {
    Object.assign(assumptions, variant.assume);
    if (variant.requestId === undefined) continue;
    const digits = call.id.slice("req_".length);
    id = variant.requestId(digits, sandbox.requestIds.seriesOf(call.number));
  }
  return { content, variants, variedCall: { ...call, id, assumptions } };
}

function chooseVariants(
  sandbox: SandboxState,
  { status, content }: ResponseKind,
  shift: number | undefined,
): ChosenVariant[] {
  const { seed, run } = sandbox;
  // The seed and the row choose a variant, and a client's run may choose one that is `shift` variants later. A row that the run does
  // not vary has its first variant.
  const howToChoose = { seed, rows: run?.rows, shift };
  const randomOfSeed = randomStream(seed, "variation")();

  const chosen: ChosenVariant[] = [];
  for (const rowOfTable of rowsByContent[content]) {
    if (!rowOfTable.statuses.includes(status)) continue;
    const row = varyingRow(sandbox, rowOfTable);
    if (row === undefined) continue;

    const variant = variantOn(status, row, howToChoose);
    // Some variants are not for all statuses of their row.
    const { statuses = row.statuses } = variant;
    if (!statuses.includes(status)) continue;
    chosen.push({ row, variant, random: randomOfRow(row, randomOfSeed) });
  }
  return chosen;
}

/** The response of a varied call, written as its variants write it: its body, then its headers. One without a body stays. */
export function rewriteResponse(response: ApiResponse, { variants }: Variation): ApiResponse {
  const { status } = response;
  if (response.body === "") return response;

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
 * What varies in a response; nothing outside of a client's run, which alone reads it. A variant may find nothing to change in this
 * response: `slashes` in a body without any.
 */
export function variedPoints(
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
    // The first variant does not vary from what `minimal` does, or from what the sandbox's own assumption says.
    if (variant === row.variants[0]) continue;
    const isOfId = idRows.some(({ id }) => id === row.id);
    if (isOfId && !hasId) continue;
    points.push({ row: row.id, variant: variant.id, status: response.status });
  }
  return points;
}
