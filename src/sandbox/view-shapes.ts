import { adviceIds } from "../spec/advice.js";
import {
  environments,
  keyStates,
  liveAccessStates,
  organizationStatuses,
  organizationTypes,
} from "../spec/api-key.js";
import { faultPathIds, pathIdShape } from "../spec/outcomes.js";
import { requestSources } from "../spec/request-traits.js";
import {
  anything,
  choice,
  count,
  flag,
  instant,
  list,
  mapping,
  nullable,
  number,
  optional,
  orNull,
  record,
  type Shape,
  text,
  uuid,
  type ValueOf,
} from "../spec/schema/shape.js";

// Apart from the views: pages leave these out.

/** A key's ref from a sandbox, which may be in no scenario: a compiler cannot check it. */
export type ListedKeyRef = string & { readonly listedKeyRef: true };

const ref = () => text() as Shape<ListedKeyRef>;

export const keyShape = mapping({
  ref: ref(),
  organization: text(),
  name: text(),
  scopes: list(text()),
  limits: mapping({ perMinute: count(), perDay: count() }),
  environment: choice(environments),
  legacy: flag(),
  /** The first 12 hex digits of the key's SHA-256. */
  fingerprint: text({ pattern: /^[0-9a-f]{12}$/ }),
  state: choice(keyStates),
  usage: mapping({ thisMinute: count(), today: count() }),
  revokedAt: nullable(instant()),
  expiresAt: nullable(instant()),
  overlapEndsAt: nullable(instant()),
  replacedBy: nullable(ref()),
  replaces: nullable(ref()),
});
/** A key in lists; never contains the key itself (R34). Times are ISO 8601. */
export interface KeyView extends ValueOf<typeof keyShape> {}

export const organizationShape = mapping({
  ref: text(),
  name: text(),
  /** UUID. */
  id: uuid(),
  type: choice(organizationTypes),
  status: choice(organizationStatuses),
  sandboxAccess: flag(),
  liveAccess: choice(liveAccessStates),
});
/** An organization in lists, with all its members. */
export interface OrganizationView extends ValueOf<typeof organizationShape> {}

export const clockShape = mapping({ now: instant(), frozen: flag() });
/** The clock for display; `now` is ISO 8601. */
export interface ClockView extends ValueOf<typeof clockShape> {}

export const requestShape = mapping({
  /** The request id, whether or not the response carried it. */
  id: text(),
  method: text(),
  /** Without its query; everything that looks like a key is shortened. */
  path: text(),
  /** On the sandbox's clock; ISO 8601. */
  at: instant(),
  /** The ref of the key, if it is known. */
  key: nullable(ref()),
  /** The first 12 hex digits of the presented key's SHA-256. */
  fingerprint: nullable(text()),
  /** 0 when a fault left the request without a response. */
  status: count(),
  /** The API's error code. */
  code: nullable(text()),
  pathId: pathIdShape(),
  /** Why it was rejected, if the path id does not show it; never in the response. */
  note: optional(text()),
  /** The fault that affected the request. If it only delayed the response, `pathId` is the response's. */
  fault: nullable(choice(faultPathIds)),
  /** Whether the client did not wait for a delayed response. Default: false. */
  unread: optional(flag()),
  /** The advice that it caused; nearly always none. */
  advice: list(choice(adviceIds)),
  /** Milliseconds until the response, including a fault's latency. */
  durationMs: number({ min: 0 }),
  /** Who sent it: a client, or `story` for the story and `POST /send`. */
  source: choice(requestSources),
});
/** A request in the journal. Contains no key, only its ref and fingerprint (R46). */
export interface RequestView extends ValueOf<typeof requestShape> {}

export const recordShape = mapping({
  collection: text(),
  id: text(),
  /** Counted from 1, in the order of creation. */
  number: count(),
  organization: text(),
  environment: choice(environments),
  createdAt: instant(),
  updatedAt: instant(),
  /** What a rule will change by itself, and when. */
  next: orNull(mapping({ at: instant(), set: record(anything()) })),
  /** The moves that it allows now. */
  moves: list(mapping({ operation: text(), set: record(anything()) })),
  /** As in responses. */
  members: record(anything()),
});
/** A record of a documented endpoint. Times are ISO 8601. */
export interface RecordView extends ValueOf<typeof recordShape> {}

const upcomingKinds = [
  "overlap_ends",
  "key_expires",
  "minute_reset",
  "day_reset",
  "timeline_step",
  "fault_begins",
  "fault_ends",
  "record_changes",
] as const;

export const upcomingShape = mapping({
  at: instant(),
  kind: choice(upcomingKinds),
  key: nullable(text()),
  organization: nullable(text()),
  step: nullable(count()),
  text: text(),
});
/** An event that happens when the clock reaches it. */
export interface Upcoming extends ValueOf<typeof upcomingShape> {}

export interface Coming extends Partial<Pick<Upcoming, "key" | "organization" | "step">> {
  readonly at: number | undefined;
  readonly kind: Upcoming["kind"];
  readonly text: string;
}
