import { base62From, randomStream } from "../../rules/seed.js";
import { errorRows, meRows, textRows } from "./body-rows.js";
import {
  allStatuses,
  assumptionRow,
  errorStatuses,
  type Header,
  limitStatuses,
  reversed,
  shuffled,
  sorted,
  type VariantMembers,
  type VariationRow,
  variationRow,
} from "./row.js";

// The table of what varies: one row for each gap in the specification. First the rows of assumptions and of the request id, then
// those of the body, which are in `body-rows.ts`, then those of the headers.
//
// `variantOn` chooses the variant of a row: the salt of the row, a hash, decides where it begins, and each next seed has the next
// variant. So the form of request ids is, by the seed (or its remainder by 7, since there are seven forms):
//
// | 0        | 1        | 2      | 3          | 4      | 5       | 6       | 7        |
// |----------|----------|--------|------------|--------|---------|---------|----------|
// | `number` | `opaque` | `long` | `prefixed` | `uuid` | `trace` | `dated` | `number` |

/** The form of the request id. The last 8 of its 24 digits count the requests of a series, so each form contains at least these. */
const requestIdForm = variationRow({
  id: "request_id_form",
  statuses: allStatuses,
  // The call's own id: `req_` and the digits.
  minimal: "prefixed",
  otherVariants: {
    uuid: { requestId: uuidWith },
    trace: { requestId: (digits) => digits + digits.slice(0, 8) },
    dated: { requestId: (digits) => `1-${digits.slice(16)}-${digits}` },
    number: { requestId: numberWith },
    opaque: { requestId: (digits) => `gw:7/${digits}+A==` },
    long: { requestId: (digits) => `${digits}.`.repeat(8) },
  },
});

/** A UUID that contains the digits of a request id. */
function uuidWith(digits: string): string {
  // A UUID has 32 digits: these 24, the first 6 of them again, and one each for its version (4) and its variant (a).
  const uuidDigits = digits + digits.slice(0, 6);
  const groups = [
    uuidDigits.slice(0, 8),
    uuidDigits.slice(8, 12),
    `4${uuidDigits.slice(12, 15)}`,
    `a${uuidDigits.slice(15, 18)}`,
    uuidDigits.slice(18, 30),
  ];
  return groups.join("-");
}

/** How many decimal digits the highest number has, `ffffffff`: 4294967295. */
const longestNumber = 10;

/**
 * The last 8 hex digits of a request id as a decimal number: `0000000a` is 10. A later series has the same numbers again, so its own
 * number stands in front, and zeros keep both apart: 20000000010 in series 2.
 */
function numberWith(digits: string, series: number): string {
  const number = String(Number.parseInt(digits.slice(16), 16));
  if (series === 0) return number;
  return `${series}${number.padStart(longestNumber, "0")}`;
}

const requestIdOnErrors = assumptionRow("request_id_on_errors", errorStatuses, {
  absent: { value: false },
  present: { value: true },
});

/** The rows that only a response with a request id shows. */
const idRows: readonly VariationRow[] = [requestIdOnErrors, requestIdForm];

const rateLimitHeadersRow = assumptionRow("rate_limit_headers", limitStatuses, {
  none: { value: "none" },
  draft: { value: "draft" },
  legacy: { value: "legacy" },
});

const headerRows: readonly VariationRow[] = [
  variationRow({
    id: "content_type",
    statuses: allStatuses,
    minimal: "bare",
    otherVariants: {
      charset: rewrittenHeader("Content-Type", () => "application/json; charset=utf-8"),
      no_space: rewrittenHeader("Content-Type", () => "application/json;charset=UTF-8"),
      quoted: rewrittenHeader("Content-Type", () => 'application/json; charset="utf-8"'),
      space_before: rewrittenHeader("Content-Type", () => "application/json ; charset=utf-8"),
    },
  }),
  variationRow({
    id: "allow",
    statuses: [405],
    minimal: "as_documented",
    otherVariants: {
      reversed: rewrittenHeader("Allow", (methods) => methods.split(", ").reverse().join(", ")),
      no_space: rewrittenHeader("Allow", (methods) => methods.replaceAll(", ", ",")),
    },
  }),
  variationRow({
    id: "cache_control",
    statuses: allStatuses,
    minimal: "none",
    otherVariants: {
      no_store: moreHeaders(["Cache-Control", "no-store"]),
      private: moreHeaders(["Cache-Control", "private, max-age=0, must-revalidate"]),
      old_caches: moreHeaders(
        ["Cache-Control", "no-cache, no-store"],
        ["Pragma", "no-cache"],
        ["Expires", "0"],
      ),
    },
  }),
  variationRow({
    id: "etag",
    statuses: allStatuses,
    minimal: "none",
    otherVariants: {
      // Equal only for equal bytes (RFC 9110, 8.8.1).
      strong: {
        changeHeaders(headers, _random, text) {
          const digest = base62From(randomStream(0, "etag", text), 22);
          return withHeaders(headers, [["ETag", `"${digest}"`]]);
        },
      },
      weak: moreHeaders(["ETag", 'W/"5f3b9a"']),
    },
  }),
  variationRow({
    id: "content_length",
    statuses: allStatuses,
    minimal: "exact",
    otherVariants: {
      chunked: { changeHeaders: (headers) => headers.filter(([name]) => name !== "Content-Length") },
    },
  }),
  variationRow({
    id: "vary",
    statuses: allStatuses,
    minimal: "none",
    otherVariants: {
      encoding: moreHeaders(["Vary", "Accept-Encoding"]),
      twice: moreHeaders(["Vary", "Origin"], ["Vary", "Accept-Encoding"]),
    },
  }),
  variationRow({
    id: "server",
    statuses: allStatuses,
    minimal: "none",
    otherVariants: {
      proxy: moreHeaders(["Server", "nginx"]),
      framework: moreHeaders(["Server", "gunicorn/22.0.0 (Linux)"], ["X-Powered-By", "relying-party"]),
    },
  }),
  variationRow({
    id: "via",
    statuses: allStatuses,
    minimal: "none",
    otherVariants: {
      gateway: moreHeaders(["Via", "1.1 gateway"]),
      two: moreHeaders(["Via", "2 edge, 1.1 gateway (x)"]),
    },
  }),
  variationRow({
    id: "security_headers",
    statuses: allStatuses,
    minimal: "none",
    otherVariants: {
      // With a lifetime above zero, browsers would reject plain HTTP on the developer's machine.
      transport: moreHeaders(["Strict-Transport-Security", "max-age=0"]),
      sniffing: moreHeaders(
        ["X-Content-Type-Options", "nosniff"],
        ["X-Frame-Options", "DENY"],
        ["Content-Security-Policy", "default-src 'none'"],
      ),
    },
  }),
  variationRow({
    id: "unknown_headers",
    statuses: allStatuses,
    minimal: "none",
    otherVariants: {
      timing: moreHeaders(["Server-Timing", 'gate;dur=0.4, total;dur=1.2;desc="all"']),
      odd: moreHeaders(["X_Upstream.Name", "rp=1; path=/"]),
      empty: moreHeaders(["X-Debug", ""]),
    },
  }),
  variationRow({
    id: "header_order",
    statuses: allStatuses,
    minimal: "as_set",
    otherVariants: {
      reversed: { changeHeaders: reversed },
      sorted: { changeHeaders: sorted },
      shuffled: { changeHeaders: shuffled },
    },
  }),
  variationRow({
    id: "header_casing",
    statuses: allStatuses,
    minimal: "usual",
    otherVariants: {
      lower: headerNames((name) => name.toLowerCase()),
      upper: headerNames((name) => name.toUpperCase()),
      first_letter: headerNames((name) => name.slice(0, 1) + name.slice(1).toLowerCase()),
    },
  }),
];

function moreHeaders(...added: readonly Header[]): VariantMembers {
  return { changeHeaders: (headers) => withHeaders(headers, added) };
}

/** The headers of a response with more headers. A header that the response already has is not added again. */
function withHeaders(headers: readonly Header[], added: readonly Header[]): readonly Header[] {
  const namesSoFar = new Set(headers.map(([name]) => name.toLowerCase()));
  return [...headers, ...added.filter(([name]) => !namesSoFar.has(name.toLowerCase()))];
}

/** Another value of a header, if the response has it. */
function rewrittenHeader(wanted: string, rewrite: (value: string) => string): VariantMembers {
  return {
    changeHeaders: (headers) =>
      headers.map(([name, value]) => [name, name === wanted ? rewrite(value) : value]),
  };
}

function headerNames(spell: (name: string) => string): VariantMembers {
  return { changeHeaders: (headers) => headers.map(([name, value]) => [spell(name), value]) };
}

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
    api_key: { value: true, isUsual: true },
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
