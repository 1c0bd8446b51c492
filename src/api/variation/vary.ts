import type { Assumptions } from "../../rules/assumptions.js";
import { mix32, type RandomStream, randomStream } from "../../rules/seed.js";
import type { ApiCall, ApiResponse, CallResult } from "../../sandbox/call.js";
import type { SandboxState } from "../../sandbox/sandbox-state.js";
import { type VariedPoint, variantOn } from "../../sandbox/variants.js";
import { headerPairs, utf8Length } from "../http-messages.js";
import type { Body, Header, RowVariant, VariationRow } from "./row.js";
import { rowsByContent, variationTable } from "./table.js";

// A scenario may set assumptions itself: the own assumptions of its sandbox. With the profile `varied`, their values are kept, and only
// the forms vary in which responses can have them.

/** The names of the assumptions that the sandbox sets itself. */
export function ownAssumptionNames({
  ownAssumptions,
}: Pick<SandboxState, "ownAssumptions">): (keyof Assumptions)[] {
  const names = Object.keys(ownAssumptions) as (keyof Assumptions)[];
  return names.filter((name) => ownAssumptions[name] !== undefined);
}

/** The assumptions that the sandbox sets itself, and that its profile would vary, in the order of the table. */
export function assumptionsKeptFromVarying(
  sandbox: Pick<SandboxState, "profileInEffect" | "ownAssumptions">,
): (keyof Assumptions)[] {
  if (sandbox.profileInEffect !== "varied") return [];

  const ownNames = ownAssumptionNames(sandbox);
  const names: (keyof Assumptions)[] = [];
  for (const { assumption } of variationTable) {
    if (assumption !== undefined && ownNames.includes(assumption)) names.push(assumption);
  }
  return names;
}

/**
 * A row as it varies in a sandbox; `undefined` if it does not vary. If the sandbox sets the row's assumption, the row has only
 * the variants with that value, its usual form first: of `www_authenticate: true`, these are `api_key` and `bare`.
 */
function varyingRow(sandbox: SandboxState, row: VariationRow): VariationRow | undefined {
  const { assumption } = row;
  if (assumption === undefined) return row;
  const ownValue = sandbox.ownAssumptions[assumption];
  if (ownValue === undefined) return row;

  const forms = row.variants.filter(({ assume }) => assume?.[assumption] === ownValue);
  // `retry_after: seconds` has one form, and a code of the user's own has none.
  const usualForm = forms.find(({ isUsual }) => isUsual);
  if (usualForm === undefined) return undefined;
  return { ...row, variants: [usualForm, ...forms.filter((form) => form !== usualForm)] };
}

/** What chooses the variants of a response: never its request, nor why its key is rejected (R14). */
export interface ResponseKind {
  readonly status: number;
  readonly content: keyof typeof rowsByContent;
}

/** The variant of a row that a response has. */
interface ChosenVariant {
  readonly row: VariationRow;
  readonly variant: RowVariant;
  /** Whether it is what `minimal` does, or the usual form of what the sandbox assumes itself. */
  readonly isUsual: boolean;
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

/**
 * Chooses what varies in the response to a call. A client's run that mixes variants counts the response, and gives the next one the
 * next variants.
 */
export function chooseVariation(sandbox: SandboxState, call: ApiCall, kind: ResponseKind): Variation {
  const { status, content } = kind;
  const { seed, clientRun } = sandbox;
  // The seed and the row choose a variant. A client's run may want the one that is `shift` variants after it, and may vary only some
  // rows: any other row then has its first variant.
  const shift = clientRun?.takeVariantShift(call, status);
  const howToChoose = { seed, rows: clientRun?.rows, shift };
  const randomOfSeed = randomStream(seed, "variation")();

  const variants: ChosenVariant[] = [];
  const assumptions = { ...sandbox.assumptions };
  let { id } = call;
  for (const rowOfTable of rowsByContent[content]) {
    if (!rowOfTable.statuses.includes(status)) continue;
    const row = varyingRow(sandbox, rowOfTable);
    if (row === undefined) continue;

    const variant = variantOn(status, row, howToChoose);
    // Some variants are not for all statuses of their row.
    const { statuses = row.statuses } = variant;
    if (!statuses.includes(status)) continue;
    const isUsual = variant === row.variants[0];
    variants.push({ row, variant, isUsual, random: randomOfRow(row, randomOfSeed) });

    Object.assign(assumptions, variant.assume);
    if (variant.requestId === undefined) continue;
    const digits = call.id.slice("req_".length);
    id = variant.requestId(digits, sandbox.requestIds.series);
  }
  return { content, variants, variedCall: { ...call, id, assumptions } };
}

/** What separates the numbers of a row: an odd number whose bits look random, so that each of 2 ** 32 numbers comes once. */
const stepBetweenNumbers = 0x9e3779b9;

/**
 * Random numbers of a row: the same for each response of a sandbox, and others for each row and each seed. `randomOfSeed` is one
 * random number, which the caller has drawn from the seed. A `randomStream` would hash the ids of all rows for each response.
 */
function randomOfRow(row: { readonly salt: number }, randomOfSeed: number): RandomStream {
  let value = mix32(randomOfSeed ^ row.salt);
  return () => {
    value = mix32(value + stepBetweenNumbers);
    return value;
  };
}

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
  if (sandbox.profileInEffect !== "varied") return render(call);
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
  if (sandbox.clientRun === undefined) return noPoints;
  const hasId = headerPairs(response.headers).some(([name]) => name.toLowerCase() === "x-request-id");

  const points: VariedPoint[] = [];
  // A success of `/me` also shows what varies in the records of keys and organizations.
  if (content === "me") points.push(...sandbox.additions.variants);
  for (const { row, variant, isUsual } of variants) {
    if (isUsual) continue;
    const isOfId = rowsByContent.of_fault.some(({ id }) => id === row.id);
    if (isOfId && !hasId) continue;
    points.push({ row: row.id, variant: variant.id, status: response.status });
  }
  return points;
}
