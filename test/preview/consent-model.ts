/** A model of a consent request, written from docs/preview.md and apart from the code: it lives as the clock moves. */
export interface ModelConsent {
  readonly farmer: number;
  readonly created: number;
  readonly expires: number;
  readonly history: { status: string; at: number; by: string }[];
  /** Permission → since when it is suspended, or not any more. */
  readonly suspended: Map<string, boolean>;
  readonly permissions: readonly string[];
  /** Whether the farmer granted without anybody's help. */
  ownWill: boolean;
}

const hour = 3_600_000;
const day = 24 * hour;

/** What the first five farmers do; the model is tested with no others. */
const answers = ["granted", "rejected", undefined, "granted", "granted"] as const;

export function modelConsent(
  farmer: number,
  created: number,
  expires: number,
  permissions: readonly string[],
): ModelConsent {
  return {
    farmer,
    created,
    expires,
    permissions,
    history: [{ status: "pending", at: created, by: "relying_party" }],
    suspended: new Map(),
    ownWill: false,
  };
}

export function statusOf({ history }: ModelConsent): string {
  return history.at(-1)?.status ?? "";
}

/** Lets everything happen that is due by now. */
export function live(consent: ModelConsent, now: number): void {
  for (;;) {
    const due = nextOf(consent);
    if (due === undefined || due.at > now) return;
    consent.history.push(due);
    if (due.status === "granted") consent.ownWill = true;
  }
}

function nextOf({ farmer, created, expires, history, ownWill }: ModelConsent) {
  const { status, at } = history.at(-1) as ModelConsent["history"][number];
  if (status === "pending") {
    const late = Math.min(created + 7 * day, expires);
    const answer = answers[farmer];
    if (answer !== undefined && created + 2 * hour < late) {
      return { status: answer, at: created + 2 * hour, by: "farmer" };
    }
    return { status: "expired", at: late, by: "system" };
  }
  if (status !== "granted") return undefined;
  if (farmer === 3 && ownWill && at + 30 * day < expires) {
    return { status: "revoked", at: at + 30 * day, by: "farmer" };
  }
  return { status: "expired", at: expires, by: "system" };
}

const moves: Readonly<Record<string, Readonly<Record<string, readonly [to: string, by: string]>>>> = {
  grant: { pending: ["granted", "farmer"] },
  reject: { pending: ["rejected", "farmer"] },
  revoke: { granted: ["revoked", "farmer"] },
  cancel: { pending: ["cancelled", "relying_party"], granted: ["cancelled", "relying_party"] },
};

/** Does it if it can be done; answers whether it could. */
export function move(consent: ModelConsent, action: string, now: number): boolean {
  live(consent, now);
  const [to, by] = moves[action]?.[statusOf(consent)] ?? [];
  if (to === undefined || by === undefined) return false;
  consent.history.push({ status: to, at: now, by });
  return true;
}

/** How an attestation stands: `none`, `processing`, `failed`, or its validity. */
export function attestationOf(consent: ModelConsent, permission: string, now: number): string {
  const granted = consent.history.find(({ status }) => status === "granted");
  if (granted === undefined) return "none";
  const end = consent.history[consent.history.indexOf(granted) + 1];
  if (end !== undefined && end.at - granted.at < 60_000) return "failed";
  if (now - granted.at < 60_000) return "processing";
  if (consent.farmer === 4) return "failed";
  if (end !== undefined) return end.status === "expired" ? "expired" : "revoked";
  return consent.suspended.get(permission) === true ? "suspended" : "active";
}
