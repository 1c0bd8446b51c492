import words from "../api/variation/words.json" with { type: "json" };
import type { VariedPoint } from "../sandbox/run-trace.js";

const rows: Readonly<Record<string, { remedy: string; variants: Readonly<Record<string, string>> }>> = words;

/** As in "has an `ETag`"; `undefined` for what `minimal` does. */
export const variantWords = (row: string, variant: string) => rows[row]?.variants[variant];

export const rowRemedy = (row: string) => rows[row]?.remedy ?? "";

export const pointId = ({ row, status, variant }: VariedPoint) => `${row} ${status} ${variant}`;
