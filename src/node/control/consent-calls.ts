import { snakeCase } from "../../api/snake-case.js";
import { requirePreview } from "../../sandbox/operations/check-input.js";
import type { Decision } from "../../sandbox/operations/decide-consent.js";
import { operations } from "../../sandbox/operations/operations.js";
import { viewConsent } from "../../sandbox/preview/consent-views.js";
import { inData } from "./answer-schemas.js";
import { type ControlCall, controlCall } from "./call.js";

/** What happens to consent requests and attestations elsewhere: what farmers decide, and suspensions. */
export const consentCalls: readonly ControlCall[] = [
  controlCall({
    method: "GET",
    path: "/consents",
    summary: "All consent requests, in the order in which they were made",
    preview: true,
    status: 200,
    answer: inData.list("Consent"),
    run({ runtime }) {
      const world = runtime.world();
      requirePreview(world);
      return { data: world.consents.all.map((entry) => snakeCase(viewConsent(entry, world))) };
    },
  }),
  decision("grant", "Grants a consent request in the farmer's place"),
  decision("reject", "Rejects a consent request in the farmer's place"),
  decision("revoke", "Revokes a consent in the farmer's place"),
  suspension("suspend", "Suspends an active attestation"),
  suspension("resume", "Ends the suspension of an attestation"),
];

function decision(decided: Decision, summary: string): ControlCall {
  return controlCall({
    method: "POST",
    path: `/consents/{id}/${decided}`,
    summary,
    preview: true,
    body: "nothing",
    status: 200,
    answer: inData.one("Consent"),
    run({ runtime, params }) {
      const world = runtime.world();
      const { consent } = operations.consent(world, { id: params.id as string, do: decided });
      return { data: snakeCase(consent) };
    },
  });
}

function suspension(name: "suspend" | "resume", summary: string): ControlCall {
  return controlCall({
    method: "POST",
    path: `/attestations/{id}/${name}`,
    summary,
    preview: true,
    body: "nothing",
    status: 200,
    answer: inData.one("Attestation"),
    run({ runtime, params }) {
      const world = runtime.world();
      const { attestation } = operations.attestation(world, { id: params.id as string, do: name });
      return { data: snakeCase(attestation) };
    },
  });
}
