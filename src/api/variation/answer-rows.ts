import {
  anyStatus,
  assume,
  assumptionRow,
  type Draft,
  type Effect,
  members,
  refused,
  row,
  unchanged,
  type VariationRow,
} from "./variant.js";

const data = ({ data }: Draft["body"]) => data;
const limits = ({ data }: Draft["body"]) => data?.limits;
const usage = ({ data }: Draft["body"]) => data?.usage;
const error = ({ error }: Draft["body"]) => error;

const codesOf429 = [
  "rate_limited",
  "rate_limit_exceeded",
  "too_many_requests",
  "quota_exceeded",
  "RATE_LIMIT_EXCEEDED",
  "ACCESS_EXCEEDED",
  "err.request.too_many_requests",
];

/** The rows that are assumptions too: what other profiles hold still varies here. */
export const choiceRows: readonly VariationRow[] = [
  assumptionRow(
    "rate_limit_code",
    [429],
    Object.fromEntries(codesOf429.map((code) => [code, assume({ rate_limit_code: code })])),
  ),
  assumptionRow("request_id_on_errors", refused, {
    absent: assume({ request_id_on_errors: false }),
    present: assume({ request_id_on_errors: true }),
  }),
  assumptionRow("error_details", [403, 429], {
    absent: assume({ error_details: false }),
    empty: otherDetails({}),
    what_was_refused: assume({ error_details: true }),
    something_else: otherDetails({
      domain: "relying-party",
      causes: [{ depth: 1, notes: [] }],
      hint: null,
    }),
  }),
  assumptionRow("retry_after", [429], {
    none: assume({ retry_after: "none" }),
    seconds: assume({ retry_after: "seconds" }),
    date: assume({ retry_after: "date" }),
  }),
  assumptionRow("rate_limit_headers", [200, 429], {
    none: assume({ rate_limit_headers: "none" }),
    draft: assume({ rate_limit_headers: "draft" }),
    legacy: assume({ rate_limit_headers: "legacy" }),
  }),
  assumptionRow("www_authenticate", [401], {
    absent: assume({ www_authenticate: false }),
    api_key: assume({ www_authenticate: true }),
    bare: {
      assume: { www_authenticate: true },
      change({ headers }) {
        for (const header of headers) if (header[0] === "WWW-Authenticate") header[1] = "ApiKey";
      },
    },
  }),
  // Each form keeps the digits that make ids differ, and no two forms have the same length.
  row("request_id_form", anyStatus, {
    prefixed: unchanged,
    uuid: requestId(uuidOf),
    trace: requestId((id) => id + id.slice(0, 8)),
    dated: requestId((id) => `1-${id.slice(16)}-${id}`),
    number: requestId((id) => String(Number.parseInt(id.slice(16), 16))),
    opaque: requestId((id) => `gw:7/${id}+A==`),
    long: requestId((id) => `${id}.`.repeat(8)),
  }),
];

/** The rows of what a 200 says. The top level and `data.organization` have exactly the members that are named (R1, R2). */
export const contextRows: readonly VariationRow[] = [
  row("data_members", [200], {
    none: unchanged,
    text: members(data, { region: "north" }),
    nothing: members(data, { contact: null }),
    nested: members(data, {
      support: { channels: [{ kind: "email", hours: { from: 8, to: 17 } }], priority: false },
    }),
    many: members(data, featureSwitches(12)),
  }),
  row("limits_members", [200], {
    none: unchanged,
    another_window: members(limits, { per_hour: 600 }),
    unlimited: members(limits, { per_month: null }),
    burst: members(limits, { burst: { size: 10, refill_seconds: 1.5 } }),
  }),
  row("usage_members", [200], {
    none: unchanged,
    another_window: members(usage, { this_month: 31_415 }),
    time: members(usage, { counted_since: "2026-01-01T00:00:00Z" }),
    by_endpoint: members(usage, { by_endpoint: { me: 1 } }),
  }),
  assumptionRow("scopes", [200], {
    known: unchanged,
    one_more: granting("parcels:read"),
    many_more: granting("attestations:read:self", "webhooks:manage", "consents.export"),
    everything: granting("*"),
  }),
  row("scope_order", [200], {
    as_granted: unchanged,
    reversed: { change: ({ body }) => void body.data?.scopes.reverse() },
    sorted: { change: ({ body }) => void body.data?.scopes.sort() },
  }),
  row("organization_name", [200], {
    as_given: unchanged,
    accents: named(" – Société Générale d’Épargne & Fils"),
    decomposed: named(" Cafe\u0301 A\u030angstro\u0308m"),
    another_script: named(" بنك الحصاد 收穫銀行"),
    beyond_16_bits: named(" 🌾👩🏽‍🌾 𝒢𝓇𝒶𝒾𝓃"),
    markup: named(" <b>\"Grain\" \\ 'Co'</b> & {{sons}} %s"),
    long: named(` ${"of the United Valleys ".repeat(12).trim()}`),
  }),
];

/** The rows of what a refusal says. The top level has `error` alone (R27). */
export const errorRows: readonly VariationRow[] = [
  row("error_members", refused, {
    none: unchanged,
    type: members(error, { type: "about:blank" }),
    status: members(error, { status: null, retryable: false }),
    nested: members(error, { links: [{ rel: "help", href: "/help/errors" }] }),
  }),
  {
    ...row("details_without_reason", [401, 404, 405], {
      absent: unchanged,
      empty: members(error, { details: {} }),
      help: members(error, { details: { help: "/help/errors", fields: [] } }),
    }),
    fixedBy: "error_details",
  },
  row("message", refused, {
    a_sentence: unchanged,
    reason_phrase: message((status) => reasonPhrases[status] ?? "Error"),
    other_words: message(() => "Your request cannot be processed."),
    empty: message(() => ""),
    other_language: message(() => "Die Anfrage wurde zurückgewiesen – 요청이 거부되었습니다 🚫"),
    lines: message(() => "Request refused.\n\n\t- See the manual.\r\n"),
    markup: message(() => "<p>Request &quot;refused&quot;</p>"),
    long: message(() => "This request was refused; please read the manual before you try again. ".repeat(40)),
  }),
];

const reasonPhrases: Readonly<Record<number, string>> = {
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  405: "Method Not Allowed",
  409: "Conflict",
  422: "Unprocessable Content",
  429: "Too Many Requests",
};

function otherDetails(details: Readonly<Record<string, unknown>>): Effect {
  return assume({ error_details: false }, ({ body }) => {
    if (body.error !== undefined) body.error.details = { ...details };
  });
}

function requestId(form: (digits: string) => string): Effect {
  return { requestId: (usual) => form(usual.slice("req_".length)) };
}

function uuidOf(digits: string): string {
  const all = digits + digits.slice(0, 6);
  return `${all.slice(0, 8)}-${all.slice(8, 12)}-4${all.slice(12, 15)}-a${all.slice(15, 18)}-${all.slice(18, 30)}`;
}

function featureSwitches(count: number): Record<string, boolean> {
  return Object.fromEntries(
    Array.from({ length: count }, (_, index) => [`feature_${index + 1}`, index % 2 === 0]),
  );
}

function granting(...scopes: readonly string[]): Effect {
  return { change: ({ body }) => void body.data?.scopes.push(...scopes) };
}

function named(addition: string): Effect {
  return {
    change({ body }) {
      if (body.data !== undefined) body.data.organization.name += addition;
    },
  };
}

function message(textFor: (status: number) => string): Effect {
  return {
    change({ status, body }) {
      if (body.error !== undefined) body.error.message = textFor(status);
    },
  };
}
