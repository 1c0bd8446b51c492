import { explainedRequestShape } from "../../report/request-text.js";
import { outcomeShape } from "../../rules/outcomes.js";
import { oneSafeLine } from "../../rules/terminal-text.js";
import { requestShape } from "../../sandbox/journal/exchange.js";
import { findMismatches } from "../../schema/check.js";
import { isTooDeep, tryParseJson } from "../../schema/json-text.js";
import type { Shape, ValueOf } from "../../schema/shape.js";
import * as s from "../../schema/shape.js";
import { type InJson, tolerantJsonShape } from "../../schema/spelling.js";

// What a control plane replies. Any program may listen at its address, so that nothing without these shapes is read.

const versionText = s.text({ max: 40, pattern: /^\d+\.\d+\.\d+[\w.+-]*$/ });
const timeText = s.text({ max: 40, pattern: /^\d{4}-\d\d-\d\dT[\d:.]+Z$/ });

/** The health of a sandbox; one that requires a control token hides everything but its version. */
export const healthShape = s.openMapping({
  status: s.choice(["ok"]),
  version: versionText,
  scenario: s.optional(s.text()),
  started_at: s.optional(timeText),
  now: s.optional(timeText),
});

/** The reply of a sandbox that is about to stop. */
export const stoppingShape = s.openMapping({ scenario: s.text(), started_at: timeText });

export const controlErrorShape = s.openMapping({
  code: s.text(),
  message: s.text(),
  details: s.optional(s.openMapping({ request: s.optional(s.text()), ref: s.optional(s.text()) })),
});

/** A key of a running sandbox, with what its next request gets. */
export const runningKeyShape = s.openMapping({
  ref: s.text(),
  /** `null` for `none`. */
  fingerprint: s.orNull(s.text()),
  next_request: s.openMapping({
    outcome: outcomeShape(),
    code: s.orNull(s.text()),
    why: s.orNull(s.text()),
    until: s.orNull(s.text()),
    fault_outcomes: s.list(outcomeShape()),
  }),
});
export const runningKeysShape = s.list(runningKeyShape);
export type RunningKey = ValueOf<typeof runningKeyShape>;

const detailsShape = tolerantJsonShape(explainedRequestShape);
/** A request with its details. */
export type DetailsInJson = InJson<ValueOf<typeof explainedRequestShape>>;

/** The details of a request, from a sandbox of any version; `undefined` if the data is something else. */
export function readJournaledRequest(data: unknown): DetailsInJson | undefined {
  const details = readAs(detailsShape, data);
  return details as DetailsInJson | undefined; // the shape is of this type
}

const requestsShape = tolerantJsonShape(s.list(requestShape));
/** A request of the journal. */
export type RequestInJson = InJson<ValueOf<typeof requestShape>>;

/** The requests of a journal, from a sandbox of any version; `undefined` if the data is something else. */
export function readRequests(data: unknown): readonly RequestInJson[] | undefined {
  const requests = readAs(requestsShape, data);
  return requests as readonly RequestInJson[] | undefined; // the shape is of this type
}

/** A value of another program; `undefined` if it does not have the shape. */
export function readAs<Of extends Shape>(shape: Of, value: unknown): ValueOf<Of> | undefined {
  return findMismatches(shape, value).length === 0 ? (value as ValueOf<Of>) : undefined;
}

/** The JSON object in a body; an empty one if the body is anything else. */
export function jsonObjectIn(body: Uint8Array): object {
  const json = tryParseJson(new TextDecoder().decode(body));
  const isReadable = typeof json === "object" && json !== null && !isTooDeep(json);
  return isReadable ? json : {};
}

/** A text of another program, as the terminal may show it. */
export function printableText(text: string): string {
  return oneSafeLine(text.slice(0, 500));
}
