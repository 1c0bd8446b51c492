import { type ConsentAction, isAllowed } from "../../domain/consent.js";
import { SandboxError } from "../../domain/errors.js";
import {
  type AttestationView,
  type ConsentView,
  stateOf,
  viewAttestation,
  viewConsent,
} from "../preview/consent-views.js";
import { type ConsentEntry, statusAt, withDecision } from "../preview/consents.js";
import type { World } from "../world.js";
import { requirePreview } from "./input.js";

const decisions = ["grant", "reject", "revoke"] as const satisfies readonly ConsentAction[];
export type Decision = (typeof decisions)[number];

/** A decision about one request, or about the newest request to a farmer that allows it. */
type ConsentInput = { readonly do: Decision } & (
  | { readonly id: string }
  | {
      /** Index of the farmer. */
      readonly farmer: number;
      /** Ref of the organization that asked. Default: any. */
      readonly organization?: string | undefined;
    }
);

/**
 * Decides about a consent request for the farmer, whatever the farmer's persona would do.
 *
 * Throws `not_found` without the preview, `unknown_ref`, or `consent_not_open` when the status of the request does not
 * allow the decision or the farmer has no request; changes nothing then.
 */
export function decideConsent(world: World, input: ConsentInput): { readonly consent: ConsentView } {
  requirePreview(world);
  const now = world.clock.now();
  const entry = "id" in input ? requireConsent(world, input.id) : newestConsent(world, input);
  const status = statusAt(entry, now);
  if (!isAllowed(input.do, status)) {
    throw new SandboxError(
      "consent_not_open",
      `Failed to ${input.do} the consent request ${entry.id}: it is ${status}.`,
      { id: entry.id, status },
    );
  }
  changeConsent(world, entry, withDecision(entry, input.do, now));
  return { consent: viewConsent(entry, world) };
}

/** Replaces the record of a request, and announces it. */
export function changeConsent(world: World, entry: ConsentEntry, record: ConsentEntry["record"]): void {
  entry.record = record;
  world.events.announce({ type: "consent.changed", consent: viewConsent(entry, world) });
}

interface AttestationInput {
  readonly id: string;
  readonly do: "suspend" | "resume";
}

/**
 * Suspends an active attestation, or ends its suspension.
 *
 * Throws `not_found` without the preview, `unknown_ref`, or `attestation_not_open` for one that is not active (or not
 * suspended); changes nothing then.
 */
export function suspendAttestation(
  world: World,
  input: AttestationInput,
): { readonly attestation: AttestationView } {
  requirePreview(world);
  const { id } = input;
  const suspended = input.do === "suspend";
  const place = world.consents.attestation(id);
  const now = world.clock.now();
  const state = place && stateOf(place, world, now);
  if (place === undefined || state === undefined) throw unknownRecord("attestation", id);
  if (state.validity !== (suspended ? "active" : "suspended")) {
    throw new SandboxError(
      "attestation_not_open",
      `Failed to ${input.do} the attestation ${id}: it is ${state.validity ?? state.production}.`,
      { id, production: state.production, validity: state.validity },
    );
  }
  const { consent, permission } = place;
  const at = Math.max(now, consent.suspensions.at(-1)?.at ?? now);
  consent.suspensions = [...consent.suspensions, { at, permission, suspended }];
  world.events.announce({ type: "consent.changed", consent: viewConsent(consent, world) });
  return { attestation: viewAttestation(place, world) as AttestationView };
}

function requireConsent(world: World, id: string): ConsentEntry {
  const entry = world.consents.find(id);
  if (entry === undefined) throw unknownRecord("consent request", id);
  return entry;
}

// The newest one that allows the decision, else the newest one, which is refused then.
function newestConsent(
  world: World,
  input: Extract<ConsentInput, { readonly farmer: number }>,
): ConsentEntry {
  const { farmer, organization } = input;
  const requests = world.consents.all.filter(
    (entry) => entry.farmer === farmer && (organization === undefined || entry.organization === organization),
  );
  const now = world.clock.now();
  const entry = requests.findLast((one) => isAllowed(input.do, statusAt(one, now))) ?? requests.at(-1);
  if (entry !== undefined) return entry;
  throw new SandboxError(
    "consent_not_open",
    `Failed to ${input.do} a consent request to the farmer ${farmer}: there is none.`,
    { farmer },
  );
}

function unknownRecord(kind: "consent request" | "attestation", id: string): SandboxError {
  return new SandboxError("unknown_ref", `Failed to find the ${kind} ${JSON.stringify(id)}: there is none.`, {
    kind,
    id,
  });
}
