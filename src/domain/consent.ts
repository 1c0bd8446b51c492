/** Where a consent request stands. */
export const consentStatuses = ["pending", "granted", "rejected", "revoked", "cancelled", "expired"] as const;
export type ConsentStatus = (typeof consentStatuses)[number];

/** Who brought a consent request to where it stands. */
export type ConsentParty = "relying_party" | "farmer" | "system";

/** What somebody can do about a consent request, and where it leads. */
export const consentActions = {
  grant: { by: "farmer", from: ["pending"], to: "granted" },
  reject: { by: "farmer", from: ["pending"], to: "rejected" },
  revoke: { by: "farmer", from: ["granted"], to: "revoked" },
  cancel: { by: "relying_party", from: ["pending", "granted"], to: "cancelled" },
} as const satisfies Readonly<Record<string, ConsentActionRow>>;
export type ConsentAction = keyof typeof consentActions;

interface ConsentActionRow {
  readonly by: ConsentParty;
  readonly from: readonly ConsentStatus[];
  readonly to: ConsentStatus;
}

/** What a relying party can want the data for. */
export const purposeCodes = [
  "credit_assessment",
  "insurance_underwriting",
  "claim_assessment",
  "monitoring",
] as const;
export type PurposeCode = (typeof purposeCodes)[number];

/** How a farmer treats the consent requests that come in. */
export const personas = ["grants", "refuses", "silent", "grants_then_revokes"] as const;
export type Persona = (typeof personas)[number];

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

/** How long after a request a farmer answers, in milliseconds. */
export const answerDelay = 2 * hour;
/** How long after granting a farmer revokes who does, in milliseconds. */
export const revokeDelay = 30 * day;
/** How long a farmer has to answer, in milliseconds. */
export const timeToAnswer = 7 * day;
/** How long a consent lasts when its request does not say, and at most; in milliseconds. */
export const defaultConsentTime = 90 * day;
export const maximumConsentTime = 365 * day;

/** What has been done about a consent request. */
export interface ConsentDeed {
  /** Epoch milliseconds. */
  readonly at: number;
  readonly action: ConsentAction;
}

/** A consent request as it is kept: where it stands at an instant is worked out, see {@link consentAt}. Times are epoch milliseconds. */
export interface ConsentRecord {
  readonly createdAt: number;
  /** The end of the consent, whoever answers. */
  readonly expiresAt: number;
  readonly persona: Persona;
  /** In the order in which they were done. */
  readonly deeds: readonly ConsentDeed[];
}

/** A station in the life of a consent request. */
export interface ConsentStation {
  readonly status: ConsentStatus;
  readonly at: number;
  readonly by: ConsentParty;
}

/**
 * The life of a consent request up to and with an instant, station by station; the last one is where it stands.
 *
 * Nothing runs while nobody looks: what farmers do of their own accord, and what time does, follows from the record. At
 * the instant at which it expires a consent has expired. A deed that is not allowed when its time comes changes nothing.
 */
export function consentAt(record: ConsentRecord, now: number): readonly ConsentStation[] {
  return livedUntil(record, now).life;
}

/** What of that which was done about a request has changed something. */
export function effectiveDeeds(record: ConsentRecord): readonly ConsentDeed[] {
  return livedUntil(record, Number.POSITIVE_INFINITY).effective;
}

function livedUntil(
  record: ConsentRecord,
  now: number,
): { readonly life: readonly ConsentStation[]; readonly effective: readonly ConsentDeed[] } {
  const life: ConsentStation[] = [{ status: "pending", at: record.createdAt, by: "relying_party" }];
  const effective: ConsentDeed[] = [];
  let done = 0;
  for (;;) {
    const deed = record.deeds[done];
    const byItself = nextByItself(record, life);
    // What happens by itself had happened when the deed was done, also in the same instant.
    const next = byItself !== undefined && byItself.at <= (deed?.at ?? now) ? byItself : stationOf(deed);
    if (next === undefined || next.at > now) return { life, effective };
    if (next !== byItself) {
      done += 1;
      if (!isDoable(deed, life)) continue;
      effective.push(deed as ConsentDeed);
    }
    life.push(next);
  }
}

/** Whether this can be done about a request that stands there. */
export function isAllowed(action: ConsentAction, status: ConsentStatus): boolean {
  return (consentActions[action].from as readonly ConsentStatus[]).includes(status);
}

/** When a request that nobody has answered expires. */
export function respondBy({ createdAt, expiresAt }: ConsentRecord): number {
  return Math.min(createdAt + timeToAnswer, expiresAt);
}

function isDoable(deed: ConsentDeed | undefined, life: readonly ConsentStation[]): boolean {
  return deed !== undefined && isAllowed(deed.action, (life.at(-1) as ConsentStation).status);
}

function stationOf(deed: ConsentDeed | undefined): ConsentStation | undefined {
  if (deed === undefined) return undefined;
  const { to, by } = consentActions[deed.action];
  return { status: to, at: deed.at, by };
}

function nextByItself(record: ConsentRecord, life: readonly ConsentStation[]): ConsentStation | undefined {
  const { status, at } = life.at(-1) as ConsentStation;
  if (status === "pending") {
    return earlier({ status: "expired", at: respondBy(record), by: "system" }, answerOf(record));
  }
  if (status !== "granted") return undefined;
  const expiry: ConsentStation = { status: "expired", at: record.expiresAt, by: "system" };
  // Who grants of his own accord may take it back so; who was made to grant by hand does as the hand does.
  const regrets = record.persona === "grants_then_revokes" && at === record.createdAt + answerDelay;
  return earlier(expiry, regrets ? { status: "revoked", at: at + revokeDelay, by: "farmer" } : undefined);
}

function answerOf({ persona, createdAt }: ConsentRecord): ConsentStation | undefined {
  if (persona === "silent") return undefined;
  const status = persona === "refuses" ? "rejected" : "granted";
  return { status, at: createdAt + answerDelay, by: "farmer" };
}

// Of two in the same instant the first: what has expired cannot be granted any more.
function earlier(one: ConsentStation, other: ConsentStation | undefined): ConsentStation {
  return other !== undefined && other.at < one.at ? other : one;
}
