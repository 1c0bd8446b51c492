import { adviceIds } from "../rules/advice.js";
import { keyStates } from "../rules/key-state.js";
import { environments } from "../rules/key-text.js";
import { organizationViewFields } from "../rules/organization.js";
import { faultOutcomeIds, outcomeShape } from "../rules/outcomes.js";
import { requestSources } from "../rules/request.js";
import * as s from "../schema/shape.js";

// These shapes are not with the views, since pages leave them out.

/** A key's ref from a sandbox, which may be in no scenario: a compiler cannot check it. */
export type ListedKeyRef = string & { readonly listedKeyRef: true };

const listedRef = () => s.text() as s.Shape<ListedKeyRef>;

const keyShape = s.mapping({
  ref: listedRef(),
  organization: s.text(),
  name: s.text(),
  scopes: s.list(s.text()),
  limits: s.mapping({ perMinute: s.integer(), perDay: s.integer() }),
  environment: s.choice(environments),
  legacy: s.flag(),
  /** The first 12 hex digits of the key's SHA-256. */
  fingerprint: s.text({ pattern: /^[0-9a-f]{12}$/ }),
  state: s.choice(keyStates),
  usage: s.mapping({ thisMinute: s.integer(), today: s.integer() }),
  /** When it was created; `null` for a key that the scenario starts with. */
  createdAt: s.orNull(s.instant()),
  revokedAt: s.orNull(s.instant()),
  expiresAt: s.orNull(s.instant()),
  overlapEndsAt: s.orNull(s.instant()),
  replacedBy: s.orNull(listedRef()),
  replaces: s.orNull(listedRef()),
});
/** A key in lists; never contains the key itself (R34). Times are ISO 8601. */
export interface KeyView extends s.ValueOf<typeof keyShape> {}

const organizationShape = s.mapping({
  ref: s.text(),
  name: s.text(),
  /** UUID. */
  id: s.uuid(),
  ...organizationViewFields,
});
/** An organization in lists, with all its members. */
export interface OrganizationView extends s.ValueOf<typeof organizationShape> {}

const clockShape = s.mapping({ now: s.instant(), frozen: s.flag() });
/** The clock for display; `now` is ISO 8601. */
export interface ClockView extends s.ValueOf<typeof clockShape> {}

export const requestShape = s.mapping({
  /** The request id, whether or not the response carried it. */
  id: s.text(),
  method: s.text(),
  /** The path without its query; everything that looks like a key is shortened. */
  path: s.text(),
  /** A time of the sandbox's clock, in ISO 8601. */
  at: s.instant(),
  /** The ref of the key, if it is known. */
  key: s.orNull(listedRef()),
  /** The first 12 hex digits of the presented key's SHA-256. */
  fingerprint: s.orNull(s.text()),
  /** 0 when a fault left the request without a response. */
  status: s.integer(),
  /** The API's error code. */
  code: s.orNull(s.text()),
  outcome: outcomeShape(),
  /** The fault that affected the request. If it only delayed the response, `outcome` is the response's. */
  fault: s.orNull(s.choice(faultOutcomeIds)),
  /** Whether the client did not wait for a delayed response. Default: false. */
  unread: s.optional(s.flag()),
  /** The advice that it caused; nearly always none. */
  advice: s.list(s.choice(adviceIds)),
  /** Milliseconds until the response, including a fault's latency. */
  durationMs: s.number({ min: 0 }),
  /** Who sent it: a client, or `story` for the story and `POST /send`. */
  source: s.choice(requestSources),
});
/** A request in the journal. Contains no key, only its ref and fingerprint (R46). */
export interface RequestView extends s.ValueOf<typeof requestShape> {}

const upcomingKinds = [
  "overlap_ends",
  "key_expires",
  "minute_reset",
  "day_reset",
  "timeline_step",
  "fault_begins",
  "fault_ends",
] as const;

const upcomingShape = s.mapping({
  at: s.instant(),
  kind: s.choice(upcomingKinds),
  key: s.orNull(s.text()),
  organization: s.orNull(s.text()),
  step: s.orNull(s.integer()),
  text: s.text(),
});
/** An event that happens when the clock reaches it. */
export interface Upcoming extends s.ValueOf<typeof upcomingShape> {}
