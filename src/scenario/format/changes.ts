import { errorCodePattern } from "../../spec/assumptions.js";
import { mePath, outcomes } from "../../spec/outcomes.js";
import {
  anything,
  choice,
  count,
  fieldsOf,
  list,
  mapping,
  optional,
  record,
  type Shape,
  type TextKind,
  type Traits,
  text,
} from "../../spec/schema/shape.js";
import { assumptionsSchema } from "./assumptions.js";
import { ref, scope, shortText } from "./fields.js";
import { parseTime, timeHint, timePattern } from "./time.js";

// Announced changes of the API: data only. Each edits a response, moves a path or sets an assumption.

/** Epoch milliseconds of a time, or of a date, which starts at midnight UTC. */
export function parseDate(text: string): number | undefined {
  return parseTime(/^[\d-]{10}$/.test(text) ? `${text}T00:00:00Z` : text);
}

const date = () =>
  text({
    noun: "a date or a time",
    example: "2027-06-01",
    code: "bad_time",
    pattern: new RegExp(`^\\d{4}-\\d{2}-\\d{2}$|${timePattern.source}`),
    isAllowed: (given) => parseDate(given) !== undefined,
    hint: timeHint,
  });

/**
 * The assumptions that a change can set: each is visible in a single response, so none contradicts the sandbox's state.
 */
const openNames = [
  "rate_limit_code",
  "request_id_on_errors",
  "retry_after",
  "rate_limit_headers",
  "error_details",
  "me_scope",
  "count_refused",
  "www_authenticate",
] as const;
/** An assumption that a change can set. */
export type AnnouncedAssumption = (typeof openNames)[number];

const known = Object.entries(fieldsOf(assumptionsSchema) ?? {});
const assumptions = mapping(
  Object.fromEntries(known.filter(([name]) => (openNames as readonly string[]).includes(name))),
);

// A 401 has one code for all causes, so a change cannot reveal the cause (R14).
const errors = outcomes.filter(({ promised, code }) => promised && code !== null);
const errorNames = [
  ...new Set(errors.map(({ code }) => code as string)),
  ...errors.flatMap(({ path, status }) => (status === 401 ? [] : [path])),
];
const errorName = () =>
  text({
    noun: "an error code of the API, or a path id of a 403 or 429",
    example: "rate_limited",
    pattern: new RegExp(`^(?:${errorNames.join("|").replaceAll(".", "\\.")})$`),
  });
const errorCode = text({ noun: "an error code", example: "quota_exceeded", pattern: errorCodePattern });

const edits = <Value>(name: () => TextKind & Traits<string>, value: Shape<Value>) => ({
  add: optional(record(value, name())),
  rename: optional(record(name(), name())),
  remove: optional(list(name())),
});
const on = () => optional(choice([200, 401, 403, 429]));
const memberName = () => text({ noun: "the name of a member", pattern: /^[A-Za-z]\w{0,99}$/ });
// Headers for the delivery of a response cannot change.
const headerName = () =>
  text({
    noun: "the name of a header that the API can change",
    example: "X-Request-Id",
    pattern:
      /^(?!(?:connection|content-(?:length|encoding)|date|keep-alive|te|trailer|transfer-encoding|upgrade)$)[!#$%&'*+.^_`|~0-9A-Za-z-]+$/i,
  });
const headerValue = text({ noun: "one line of ASCII", pattern: /^[\x20-\x7e]{0,1000}$/ });

/** The objects of a body whose members can change. */
const places = ["error", "data", "data.organization", "data.limits", "data.usage"] as const;

const path = (example: string) =>
  text({
    noun: "a path with its version",
    example,
    pattern: /^\/v\d{1,3}\/relying-party\/[a-z0-9/_-]{1,100}$/,
  });

const change = mapping({
  at: date(),
  say: optional(shortText()),
  assumptions: optional(assumptions),
  move: optional(mapping({ from: optional(path(mePath)), to: path("/v2/relying-party/me"), sunset: date() })),
  members: optional(mapping({ in: choice(places), on: on(), ...edits(memberName, anything()) })),
  headers: optional(mapping({ on: on(), ...edits(headerName, headerValue) })),
  scopes: optional(
    mapping({
      rename: optional(record(scope(), scope())),
      add: optional(list(scope())),
      remove: optional(list(scope())),
    }),
  ),
  codes: optional(record(errorCode, errorName())),
  statuses: optional(record(count({ least: 400, most: 599 }), errorName())),
});

export const changesSchema = record(change, ref());
