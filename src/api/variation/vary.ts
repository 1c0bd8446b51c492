import { type ApiAnswer, utf8Length } from "../messages.js";
import { contextRows } from "./context-rows.js";
import type { Draft, VariationRow } from "./row.js";
import type { Variation } from "./variation.js";

/**
 * The answer with everything varied that its status leaves open. The answer must be one made from the variation's
 * assumptions; of a success that is not the key's context, the members stay as they are.
 */
export function vary(
  { status, headers, body }: ApiAnswer,
  { chosen }: Variation,
  { isContext = false }: { readonly isContext?: boolean } = {},
): ApiAnswer {
  const draft: Draft = { status, body: JSON.parse(body), text: "", headers: pairsOf(headers) };
  for (const { row, variant, draw } of chosen) {
    if (variant.change === undefined || !row.statuses.includes(status)) continue;
    if (isContext || !ofContext.has(row)) variant.change(draft, draw);
  }
  for (const header of draft.headers) {
    if (header[0].toLowerCase() === "content-length") header[1] = String(utf8Length(draft.text));
  }
  return { status, headers: draft.headers.flat(), body: draft.text };
}

const ofContext: ReadonlySet<VariationRow> = new Set(contextRows);

function pairsOf(flat: readonly string[]): [string, string][] {
  const pairs: [string, string][] = [];
  for (let i = 0; i < flat.length; i += 2) pairs.push([flat[i] as string, flat[i + 1] as string]);
  return pairs;
}
