import { errorRows, meRows, textRows } from "./body-rows.js";
import { headerRows, rewrittenHeader } from "./header-rows.js";
import { requestIdForms } from "./request-id-forms.js";
import {
  allStatuses,
  assumptionRow,
  errorStatuses,
  limitStatuses,
  type VariationRow,
  variationRow,
} from "./row.js";

// `minimal` has the form `prefixed`, which is the call's own id.
const { prefixed: _, ...otherIdForms } = requestIdForms;

const requestIdForm = variationRow({
  id: "request_id_form",
  statuses: allStatuses,
  minimal: "prefixed",
  otherVariants: Object.fromEntries(
    Object.entries(otherIdForms).map(([id, { make }]) => [id, { requestId: make }]),
  ),
});

const requestIdOnErrors = assumptionRow("request_id_on_errors", errorStatuses, {
  absent: { value: false },
  present: { value: true },
});

/** The rows that only a response with a request id shows. */
export const idRows: readonly VariationRow[] = [requestIdOnErrors, requestIdForm];

const rateLimitHeadersRow = assumptionRow("rate_limit_headers", limitStatuses, {
  none: { value: "none" },
  draft: { value: "draft" },
  legacy: { value: "legacy" },
});

/** One row for each gap in the specification. */
export const variationTable: readonly VariationRow[] = [
  // Assumptions, and the form of the request id. `error_details` is one of the rows of errors.
  assumptionRow("rate_limit_code", [429], {
    rate_limited: { value: "rate_limited" },
    rate_limit_exceeded: { value: "rate_limit_exceeded" },
    too_many_requests: { value: "too_many_requests" },
    quota_exceeded: { value: "quota_exceeded" },
    RATE_LIMIT_EXCEEDED: { value: "RATE_LIMIT_EXCEEDED" },
    ACCESS_EXCEEDED: { value: "ACCESS_EXCEEDED" },
    "err.request.too_many_requests": { value: "err.request.too_many_requests" },
  }),
  requestIdOnErrors,
  assumptionRow("retry_after", [429], {
    none: { value: "none" },
    seconds: { value: "seconds" },
    date: { value: "date" },
  }),
  rateLimitHeadersRow,
  assumptionRow("www_authenticate", [401], {
    absent: { value: false },
    api_key: { value: true },
    bare: { value: true, ...rewrittenHeader("WWW-Authenticate", () => "ApiKey") },
  }),
  requestIdForm,

  // What a response contains, and how it is written.
  ...meRows,
  ...errorRows,
  ...textRows,
  ...headerRows,
];

/** The rows that a response can have, by its content. Which of them it has follows from its status. */
export const rowsByContent = {
  me: variationTable,
  /** Any other JSON: an error, or the success of an announced endpoint. */
  json: variationTable.filter((tableRow) => !meRows.includes(tableRow)),
  /** A success without a body: only headers that an assumption chooses vary, and its request id. */
  empty: [rateLimitHeadersRow, requestIdForm],
  /** The response of a fault. Only its request id varies: the rest does not come from the service whose gaps these rows fill. */
  of_fault: idRows,
};

/** The rows besides `body_length` that add members or characters to a body. A client that long bodies break may break with any of them. */
export const lengtheningRows: readonly VariationRow[] = [
  ...meRows.filter(({ id }) => id !== "scope_order"),
  ...errorRows,
  ...textRows.filter(({ id }) => id !== "body_length" && id !== "member_order"),
];
