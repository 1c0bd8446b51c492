import { createHash } from "node:crypto";
import { control } from "./call-control.js";

/** What writers know of a world: of each change only what was acknowledged. */
export interface Acknowledged {
  /** Fingerprints by ref: of keys that were created or that replaced others. */
  readonly made: Map<string, string>;
  /** The replacement by the ref of the key that was rotated. */
  readonly rotated: Map<string, string>;
  readonly revoked: Set<string>;
  /** Of each organization, what was acknowledged last, and what was asked for since. */
  readonly access: Map<string, { acknowledged: string; asked: string }>;
  /** What the frozen clock was acknowledged to show. */
  clock: string;
  /** How many writes were acknowledged. */
  count: number;
}

export const organizations = ["first", "second", "third", "fourth"] as const;

/** A world with an organization for each writer, so that the writers' keys do not use up each other's room. */
export const writersScenario = {
  version: 1,
  clock: { now: "2026-03-02T09:00:00Z", frozen: true },
  organizations: Object.fromEntries(organizations.map((ref) => [ref, { type: "bank" }])),
};

export function nothingAcknowledged(): Acknowledged {
  return {
    made: new Map(),
    rotated: new Map(),
    revoked: new Set(),
    access: new Map(
      organizations.map((ref) => [ref, { acknowledged: "not_approved", asked: "not_approved" }]),
    ),
    clock: "2026-03-02T09:00:00.000Z",
    count: 0,
  };
}

/** Writes with one writer for each organization until `most` writes are acknowledged or the server is gone. */
export async function writeUntilGone(controlUrl: string, known: Acknowledged, most: number): Promise<void> {
  const writer = async (organization: string) => {
    for (let round = 0; known.count < most; round++) {
      for (const write of writesOf(organization, round)) await write(controlUrl, known);
    }
  };
  await Promise.allSettled(organizations.map(writer));
}

// biome-ignore lint/suspicious/noExplicitAny: an answer as it came; what is read of it is what the test checks
type Answered = any;

type Write = (controlUrl: string, known: Acknowledged) => Promise<void>;

// A key is made, changed for another one and that one revoked, so that a round leaves no active key behind.
function writesOf(organization: string, round: number): Write[] {
  const [key, replacement] = [`${organization}-${round}`, `${organization}-${round}-b`];
  return [
    async (url, known) => {
      const body = { organization, environment: "test", name: "Kept", ref: key };
      noteMade(await written(url, known, 201, "POST /keys", body), known);
    },
    async (url, known) => {
      const data = await written(url, known, 201, `POST /keys/${key}/rotate`, {
        overlap_minutes: 0,
        as: replacement,
      });
      noteMade(data, known);
      known.rotated.set(key, replacement);
    },
    async (url, known) => {
      await written(url, known, 200, `POST /keys/${replacement}/revoke`, {});
      known.revoked.add(replacement);
    },
    async (url, known) => {
      const access = known.access.get(organization) as { acknowledged: string; asked: string };
      access.asked = ["approved", "suspended", "not_approved"][round % 3] as string;
      await written(url, known, 200, `PATCH /organizations/${organization}`, { live_access: access.asked });
      access.acknowledged = access.asked;
    },
    async (url, known) => {
      const { now } = await written(url, known, 200, "POST /clock/advance", { by: "1s" });
      if (now > known.clock) known.clock = now;
    },
  ];
}

async function written(
  url: string,
  known: Acknowledged,
  status: number,
  call: string,
  body: object,
): Promise<Answered> {
  const answer = await control(url, call, body);
  if (answer.status !== status) throw new Error(`${call} was answered with ${answer.status}`);
  known.count += 1;
  return answer.body.data;
}

function noteMade(
  data: { key: { ref: string; fingerprint: string }; secret: string },
  { made }: Acknowledged,
): void {
  made.set(data.key.ref, createHash("sha256").update(data.secret).digest("hex").slice(0, 12));
}

/** What of the acknowledged writes a world (`GET /state`) does not know. */
export function lostWrites(state: Answered, known: Acknowledged): string[] {
  const keys = new Map<string, Answered>(state.keys.map((key: { ref: string }) => [key.ref, key]));
  const lost: string[] = [];
  for (const [ref, fingerprint] of known.made) {
    if (keys.get(ref)?.fingerprint !== fingerprint) lost.push(`${ref} was made`);
  }
  for (const [ref, replacement] of known.rotated) {
    const { state: is, replaced_by } = keys.get(ref) ?? {};
    if (is !== "rotated" || replaced_by !== replacement) lost.push(`${ref} was rotated`);
  }
  for (const ref of known.revoked) if (keys.get(ref)?.state !== "revoked") lost.push(`${ref} was revoked`);
  for (const { ref, live_access } of state.organizations) {
    const { acknowledged, asked } = known.access.get(ref) as { acknowledged: string; asked: string };
    if (live_access !== acknowledged && live_access !== asked) lost.push(`${ref} got ${acknowledged}`);
  }
  if (state.clock.now < known.clock) lost.push(`the clock was moved to ${known.clock}`);
  return lost;
}
