import { type ConsentAction, isAllowed } from "../../domain/consent.js";
import { SandboxError } from "../../domain/errors.js";
import { viewConsent } from "../consent-views.js";
import { type ConsentEntry, standingAt, withDeed } from "../consents.js";
import type { World } from "../world.js";
import { requirePreview } from "./require-preview.js";

/** What a farmer decides about a consent request. */
export const decisions = ["grant", "reject", "revoke"] as const satisfies readonly ConsentAction[];
export type Decision = (typeof decisions)[number];

/**
 * Decides about a consent request in the farmer's place, whatever the farmer would have done.
 *
 * Throws `not_found` without the preview, `unknown_ref`, or `consent_not_open` where the request does not stand so that
 * a farmer could decide so; changes nothing then.
 */
export function decideConsent(world: World, id: string, decision: Decision): ConsentEntry {
  requirePreview(world);
  const entry = world.consents.find(id);
  if (entry === undefined) throw unknownRecord("consent request", id);
  const { status } = standingAt(entry, world.clock.now());
  if (!isAllowed(decision, status)) {
    throw new SandboxError(
      "consent_not_open",
      `Failed to ${decision} the consent request ${id}: it is ${status}.`,
      { id, status },
    );
  }
  changeConsent(world, entry, withDeed(entry, decision, world.clock.now()));
  return entry;
}

/**
 * Decides about the newest request to a farmer (by index) that allows it, of one organization (by ref) or of any.
 *
 * Throws as `decideConsent` does; `consent_not_open` also where there is no request to the farmer.
 */
export function decideNewestConsent(
  world: World,
  farmer: number,
  decision: Decision,
  organization?: string,
): ConsentEntry {
  requirePreview(world);
  const now = world.clock.now();
  const asked = world.consents.all.filter(
    (entry) => entry.farmer === farmer && (organization === undefined || entry.organization === organization),
  );
  const open = asked.findLast((entry) => isAllowed(decision, standingAt(entry, now).status));
  if (open !== undefined) return decideConsent(world, open.id, decision);
  const newest = asked.at(-1);
  const found =
    newest === undefined ? "nobody has asked" : `the newest request is ${standingAt(newest, now).status}`;
  throw new SandboxError(
    "consent_not_open",
    `Failed to ${decision} a consent request to the farmer ${farmer}: ${found}.`,
    { farmer },
  );
}

/** Puts another record in the place of a request's, and tells of it. */
export function changeConsent(world: World, entry: ConsentEntry, record: ConsentEntry["record"]): void {
  entry.record = record;
  world.events.announce({ type: "consent.changed", consent: viewConsent(entry, world) });
}

/** Refuses an id that no record of this world has. */
export function unknownRecord(kind: "consent request" | "attestation", id: string): SandboxError {
  return new SandboxError("unknown_ref", `Failed to find the ${kind} ${JSON.stringify(id)}: there is none.`, {
    kind,
    id,
  });
}
