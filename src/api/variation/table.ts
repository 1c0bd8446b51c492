import { errorRows, meRows, textRows } from "./body-rows.js";
import { headerRows, rewrittenHeader } from "./header-rows.js";
import { requestIdForms } from "./request-id-forms.js";
import {
  allStatuses,
  assumptionRow,
  errorStatuses,
  limitStatuses,
  row,
  type VariationRow,
  valuesAsIds,
} from "./row.js";

// `minimal` has the form `prefixed`, which is the call's own id.
const { prefixed: _, ...otherIdForms } = requestIdForms;

const requestIdForm = row(
  "request_id_form",
  allStatuses,
  "prefixed",
  Object.fromEntries(Object.entries(otherIdForms).map(([id, { make }]) => [id, { requestId: make }])),
);

const requestIdOnErrors = assumptionRow("request_id_on_errors", errorStatuses, {
  absent: { is: false },
  present: { is: true },
});

/** The rows that only a response with a request id shows. */
export const idRows: readonly VariationRow[] = [requestIdOnErrors, requestIdForm];

/** The rows of what also a response without a body has: what assumptions choose, and its request id. */
const bodilessRows: readonly VariationRow[] = [
  assumptionRow(
    "rate_limit_code",
    [429],
    valuesAsIds(
      "rate_limited",
      "rate_limit_exceeded",
      "too_many_requests",
      "quota_exceeded",
      "RATE_LIMIT_EXCEEDED",
      "ACCESS_EXCEEDED",
      "err.request.too_many_requests",
    ),
  ),
  requestIdOnErrors,
  assumptionRow("retry_after", [429], valuesAsIds("none", "seconds", "date")),
  assumptionRow("rate_limit_headers", limitStatuses, valuesAsIds("none", "draft", "legacy")),
  assumptionRow("www_authenticate", [401], {
    absent: { is: false },
    api_key: { is: true },
    bare: { is: true, ...rewrittenHeader("WWW-Authenticate", () => "ApiKey") },
  }),
  requestIdForm,
];

/** One row for each gap in the specification. */
export const variationTable: readonly VariationRow[] = [
  ...bodilessRows,
  ...meRows,
  ...errorRows,
  ...textRows,
  ...headerRows,
];

/** The rows that a response can have, by its content. Which of them it has follows from its status. */
export const rowsByContent = {
  me: variationTable,
  other: variationTable.filter((tableRow) => !meRows.includes(tableRow)),
  /** No body. */
  empty: bodilessRows,
  /** What a fault sends: the service that varies has not made it. */
  faulty: idRows,
};

/** The rows that make a body longer, besides `body_length`: a client of short bodies breaks by each of them. */
export const lengtheningRows: readonly VariationRow[] = [
  ...meRows,
  ...errorRows,
  ...textRows.filter(({ id }) => id !== "body_length" && id !== "member_order"),
];
