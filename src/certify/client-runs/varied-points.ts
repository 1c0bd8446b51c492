import words from "../../api/variation/words.json" with { type: "json" };
import type { VariedPoint } from "../../sandbox/variants.js";

/** What each row of the variation table has in words. */
const rows: Readonly<Record<string, { remedy: string; variants: Readonly<Record<string, string>> }>> = words;

/** A variant in words, after "when a 200": "has an `ETag`"; `undefined` for what `minimal` does. */
export const variantWords = (row: string, variant: string) => rows[row]?.variants[variant];

/** How to fix a client that a variant of this row breaks. */
export const rowRemedy = (row: string) => rows[row]?.remedy ?? "";

/** Equal for the same variant of the same row on the same status. */
export const pointId = ({ row, status, variant }: VariedPoint) => `${row} ${status} ${variant}`;
