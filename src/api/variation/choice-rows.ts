import { refused, type Variant, type VariationRow } from "./row.js";

/** The rows that are assumptions, too: what other profiles hold still varies here. */
export const choiceRows: readonly VariationRow[] = [
  {
    id: "rate_limit_code",
    gap: "The code value for 429 is not shown.",
    statuses: [429],
    fixedBy: "rate_limit_code",
    variants: [
      code("rate_limited", "It names the state of the caller, as access_denied does."),
      code("rate_limit_exceeded", "It names what happened; common among mail and payment services."),
      code("too_many_requests", "It is the reason phrase of the status."),
      code("quota_exceeded", "Quotas and rates are one thing to the gateway."),
      code("RATE_LIMIT_EXCEEDED", "The gateway in front spells its codes in capitals."),
      code("ACCESS_EXCEEDED", "The code comes from another standard (Berlin Group)."),
      code("err.request.too_many_requests", "The code comes from a registry with dotted names."),
    ],
  },
  {
    id: "request_id_on_errors",
    gap: "Whether error responses carry X-Request-Id is not stated.",
    statuses: refused,
    fixedBy: "request_id_on_errors",
    variants: [
      { id: "absent", why: "Only the application sets it.", assume: { request_id_on_errors: false } },
      {
        id: "present",
        why: "The gateway sets it on everything that passes.",
        assume: { request_id_on_errors: true },
      },
    ],
  },
  {
    id: "error_details",
    gap: "The content of error.details is not shown, beyond it being an object; it may be absent.",
    statuses: [403, 429],
    fixedBy: "error_details",
    variants: [
      { id: "absent", why: "There is nothing more to say.", assume: { error_details: false } },
      {
        id: "empty",
        why: "A serializer writes what it has, and it has nothing.",
        assume: { error_details: false },
        change({ body }) {
          if (body.error !== undefined) body.error.details = {};
        },
      },
      {
        id: "what_was_refused",
        why: "The check that refused says what it looked at.",
        assume: { error_details: true },
      },
      {
        id: "something_else",
        why: "Details are shared by all services of the company.",
        assume: { error_details: false },
        change({ body }) {
          if (body.error !== undefined) {
            body.error.details = { domain: "relying-party", causes: [{ depth: 1, notes: [] }], hint: null };
          }
        },
      },
    ],
  },
  {
    id: "retry_after",
    gap: "Retry guidance is not shown.",
    statuses: [429],
    fixedBy: "retry_after",
    variants: [
      { id: "none", why: "HTTP does not ask for it.", assume: { retry_after: "none" } },
      { id: "seconds", why: "The usual form.", assume: { retry_after: "seconds" } },
      { id: "date", why: "The other form of HTTP (RFC 9110).", assume: { retry_after: "date" } },
    ],
  },
  {
    id: "rate_limit_headers",
    gap: "Rate-limit response headers are not shown.",
    statuses: [200, 429],
    fixedBy: "rate_limit_headers",
    variants: [
      { id: "none", why: "No standard asks for them.", assume: { rate_limit_headers: "none" } },
      { id: "draft", why: "The draft of the IETF.", assume: { rate_limit_headers: "draft" } },
      { id: "legacy", why: "What gateways sent before it.", assume: { rate_limit_headers: "legacy" } },
    ],
  },
  {
    id: "www_authenticate",
    gap: "No header of a 401 is shown.",
    statuses: [401],
    fixedBy: "www_authenticate",
    variants: [
      { id: "absent", why: "Many services leave it out.", assume: { www_authenticate: false } },
      {
        id: "api_key",
        why: "HTTP asks for a challenge (RFC 9110), and its scheme is up to the service.",
        assume: { www_authenticate: true },
      },
      {
        id: "bare",
        why: "A challenge needs no realm.",
        assume: { www_authenticate: true },
        change({ headers }) {
          for (const header of headers) if (header[0] === "WWW-Authenticate") header[1] = "ApiKey";
        },
      },
    ],
  },
];

function code(id: string, why: string): Variant {
  return { id, why, assume: { rate_limit_code: id } };
}
