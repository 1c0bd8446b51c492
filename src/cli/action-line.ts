import { defaultOverlap } from "../domain/key.js";
import type { Action, Performed } from "../sandbox/operations/perform-action.js";

/** What an action does, in a few words: `rotate active → active-2, overlap 60m`. */
export function actionLine(action: Action, performed: Performed | null): string {
  const { create_key: created, rotate, revoke, organization, consent, faults } = action;
  if (created !== undefined) {
    const ref = performed?.key?.ref ?? created.ref ?? created.name;
    return `create_key ${ref} for ${created.organization}, ${created.environment}${actorOf(created)}`;
  }
  if (rotate !== undefined) {
    const to = performed?.replacement?.ref ?? rotate.as;
    const keys = to === undefined ? rotate.key : `${rotate.key} → ${to}`;
    return `rotate ${keys}, overlap ${overlapOf(rotate)}${actorOf(rotate)}`;
  }
  if (revoke !== undefined) return `revoke ${revoke.key}${actorOf(revoke)}`;
  if (organization !== undefined) {
    const { ref, ...changes } = organization;
    const words = Object.entries(changes).map(([name, value]) => `${name} ${value}`);
    return `organization ${ref}: ${words.join(", ")}`;
  }
  if (consent !== undefined) {
    const asked = consent.organization === undefined ? "" : ` of ${consent.organization}`;
    return `consent: the farmer ${consent.farmer} ${farmerDoes[consent.do]} the request${asked}`;
  }
  return `faults: ${faults === undefined || faults.length === 0 ? "none" : effectsOf(faults)}`;
}

/** What a farmer does about a consent request, in words. */
export const farmerDoes = { grant: "grants", reject: "rejects", revoke: "revokes" } as const;

/** How long the replaced key goes on working, as durations are written. */
export function overlapOf({ overlap }: { readonly overlap?: string }): string {
  return overlap ?? `${defaultOverlap / 60_000}m`;
}

/** What may befall requests from now on: `latency, status 503`. */
export function effectsOf(faults: NonNullable<Action["faults"]>): string {
  const effects = faults.map(({ then }) =>
    Object.entries(then)
      .filter(([name, value]) => name !== "body" && value !== false)
      .map(([name, value]) => (name === "status" ? `status ${value}` : name))
      .join(" and "),
  );
  return effects.join(", ");
}

function actorOf({ actor }: { readonly actor?: string }): string {
  return actor === "member" ? ", as a member" : "";
}
