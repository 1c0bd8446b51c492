import { type RandomStream, randomStream } from "../../rules/seed.js";
import type { ApiCall } from "../../sandbox/api-call.js";
import { profileInEffect } from "../../sandbox/profile.js";
import type { SandboxState } from "../../sandbox/sandbox-state.js";
import { randomOfRow, variantOn } from "../../sandbox/variants.js";
import { varyingRow } from "./own-assumptions.js";
import type { RowVariant, VariationRow } from "./row.js";
import { rowsByContent } from "./table.js";

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
export interface Variation {
  readonly content: ResponseKind["content"];
  /** One of each row that such responses have, and that varies in the sandbox, in the order of the table. */
  readonly variants: readonly ChosenVariant[];
  /** The call with the request id and the assumptions that the variants choose: the response is made for this call. */
  readonly variedCall: ApiCall;
}

/**
 * Chooses what varies in the response to a call: nothing, unless the profile is `varied`. A client's run that mixes variants counts
 * the response, and gives the next one the next variants.
 */
export function chooseVariation(sandbox: SandboxState, call: ApiCall, kind: ResponseKind): Variation {
  const { content } = kind;
  if (profileInEffect(sandbox) !== "varied") return { content, variants: [], variedCall: call };
  const variants = chooseVariants(sandbox, call, kind);

  const assumptions = { ...sandbox.assumptions };
  let { id } = call;
  for (const { variant } of variants) {
    Object.assign(assumptions, variant.assume);
    if (variant.requestId === undefined) continue;
    const digits = call.id.slice("req_".length);
    id = variant.requestId(digits, sandbox.requestIds.series);
  }
  return { content, variants, variedCall: { ...call, id, assumptions } };
}

function chooseVariants(
  sandbox: SandboxState,
  call: ApiCall,
  { status, content }: ResponseKind,
): ChosenVariant[] {
  const { seed, run } = sandbox;
  // The seed and the row choose a variant. A client's run may want the one that is `shift` variants after it, and may vary only some
  // rows: any other row then has its first variant.
  const shift = run?.takeVariantShift(call, status);
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
