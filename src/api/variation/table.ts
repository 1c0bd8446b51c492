import { choiceRows } from "./choice-rows.js";
import { contextRows } from "./context-rows.js";
import { errorRows } from "./error-rows.js";
import { headerRows } from "./header-rows.js";
import { requestIdRow } from "./request-id-row.js";
import type { VariationRow } from "./row.js";
import { textRows } from "./text-rows.js";

/**
 * Everything that the profile `varied` varies: one row for each thing that the specification leaves open.
 *
 * The rows take their turns in this order: what is said, how it is written down, what is sent with it.
 */
export const variationTable: readonly VariationRow[] = [
  ...choiceRows,
  requestIdRow,
  ...contextRows,
  ...errorRows,
  ...textRows,
  ...headerRows,
];
