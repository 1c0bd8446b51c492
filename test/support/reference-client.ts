import type { OpenDoor } from "./doors.js";

/** The keys of `key-states` in the order of a client that has kept up: the oldest of a rotation first. */
const refs = [
  "active",
  "live",
  "legacy",
  "rotated",
  "retiring",
  "replacement",
  "revoked",
  "expired",
  "organization-inactive",
  "live-not-approved",
  "live-suspended",
  "wrong-scope",
  "rate-limited-minute",
  "rate-limited",
];

/** Meets every promised path of `key-states` once, and does nothing that anyone could object to. */
export async function referenceClient({ me }: Pick<OpenDoor, "me">): Promise<void> {
  for (const ref of refs) await me({ ref });
  await me(undefined);
  await me({ header: "not-a-key" });
  await me({ header: "SVC_test_sbxNobodyHoldsThisOne" });
}
