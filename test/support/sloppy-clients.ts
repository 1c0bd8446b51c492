import { headerOf } from "../../src/check/answer.js";
import type { Answered, Asked } from "./varied.js";

/** Takes an answer as a sloppy client does; false when the client has come to grief. */
export type SloppyClient = (answer: Answered) => boolean;

const good: Asked = { key: "active" };
const rejected: Asked = { key: "revoked" };
const limited: Asked = { key: "rate-limited" };
const wrongMethod: Asked = { key: "active", method: "POST" };

const dataIn = ({ body }: Answered) => JSON.parse(body).data;
const errorIn = ({ body }: Answered) => JSON.parse(body).error;
const hasOnly = (value: object, ...names: string[]) =>
  Object.keys(value).every((name) => names.includes(name));
const lacks =
  (...names: string[]): SloppyClient =>
  (answer) =>
    names.every((name) => headerOf(answer, name) === undefined);

/** For each row of the table a client that relies on what `minimal` does there, and on nothing else that is open. */
export const sloppyClients: Readonly<Record<string, readonly [asked: Asked, client: SloppyClient]>> = {
  rate_limit_code: [limited, (answer) => errorIn(answer).code === "rate_limited"],
  request_id_on_errors: [rejected, lacks("x-request-id")],
  error_details: [limited, (answer) => errorIn(answer).details === undefined],
  retry_after: [limited, (answer) => Number(headerOf(answer, "retry-after") ?? 60) >= 1],
  rate_limit_headers: [limited, lacks("ratelimit", "x-ratelimit-limit")],
  www_authenticate: [rejected, lacks("www-authenticate")],
  request_id_form: [good, (answer) => /^req_[0-9a-f]{24}$/.test(headerOf(answer, "x-request-id") ?? "")],
  data_members: [
    good,
    (answer) => hasOnly(dataIn(answer), "organization", "environment", "scopes", "limits", "usage"),
  ],
  limits_members: [good, (answer) => hasOnly(dataIn(answer).limits, "per_minute", "per_day")],
  usage_members: [good, (answer) => hasOnly(dataIn(answer).usage, "today")],
  scope_order: [good, (answer) => dataIn(answer).scopes[0] === "attestations:read"],
  error_members: [rejected, (answer) => hasOnly(errorIn(answer), "code", "message", "details")],
  details_without_reason: [rejected, (answer) => errorIn(answer).details === undefined],
  message: [rejected, (answer) => errorIn(answer).message === "A valid API key is required."],
  member_order: [good, (answer) => Object.keys(dataIn(answer))[0] === "organization"],
  whitespace: [good, ({ body }) => body.startsWith('{"') && body.endsWith("}}") && !body.includes('": ')],
  escapes: [good, ({ body }) => body.includes('"environment"')],
  content_type: [good, (answer) => headerOf(answer, "content-type") === "application/json"],
  allow: [wrongMethod, (answer) => headerOf(answer, "allow") === "GET, HEAD"],
  cache_control: [good, lacks("cache-control")],
  vary: [good, lacks("vary")],
  server: [good, lacks("server")],
  via: [good, lacks("via")],
  security_headers: [good, lacks("strict-transport-security", "content-security-policy")],
  unknown_headers: [good, lacks("server-timing", "x_upstream.name", "x-debug")],
  header_order: [good, ({ headers }) => headers[0]?.[0].toLowerCase() === "content-type"],
  header_casing: [good, ({ headers }) => headers.some(([name]) => name === "X-Request-Id")],
};
