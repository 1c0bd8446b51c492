import type { Endpoint } from "../api/endpoint.js";
import { cancelConsentRequest } from "../api/endpoints/cancel-consent-request.js";
import { createConsentRequest } from "../api/endpoints/create-consent-request.js";
import { getConsentRequest } from "../api/endpoints/get-consent-request.js";
import { listAttestations } from "../api/endpoints/list-attestations.js";
import { evaluateKey } from "../api/foresee.js";
import { isAllowed } from "../domain/consent.js";
import type { ApiPathId } from "../domain/outcomes.js";
import { type ConsentEntry, standingAt } from "../sandbox/consents.js";
import type { World } from "../sandbox/world.js";
import type { SureRequest } from "./sure-requests.js";

/** The requests with a key that surely end on the paths of the preview; none where there is no preview. */
export function surePreviewRequests(world: World, ref: string): [ApiPathId, SureRequest][] {
  if (!world.preview) return [];
  const sure: [ApiPathId, SureRequest][] = [];
  const isLetIn = (endpoint: Endpoint) => evaluateKey(world, ref, endpoint).pathId.startsWith("200");
  const add = (pathId: ApiPathId, endpoint: Endpoint, more: Partial<SureRequest> = {}) => {
    if (isLetIn(endpoint))
      sure.push([pathId, { method: endpoint.method, path: endpoint.path, key: { ref }, ...more }]);
  };
  add("400.bad_request", createConsentRequest);
  add("404.unknown_record", getConsentRequest, {
    path: getConsentRequest.path.replace("{id}", "consent_nothing"),
  });
  add("422.validation", listAttestations, { path: `${listAttestations.path}?limit=0` });
  const { key } = world.registry.key(ref);
  if (key.environment === "live") return sure;
  const own = world.consents.all.filter(({ organization }) => organization === key.organization);
  const ended = own.find((entry) => !isAllowed("cancel", standingAt(entry, world.clock.now()).status));
  if (ended !== undefined) {
    add("409.conflict", cancelConsentRequest, { path: cancelConsentRequest.path.replace("{id}", ended.id) });
  }
  const kept = own.find(({ idempotency }) => idempotency !== undefined);
  if (kept !== undefined) add("422.idempotency_key", createConsentRequest, repeated(kept, world));
  return sure;
}

/** Another request under the same key. */
function repeated({ idempotency, farmer }: ConsentEntry, { farmers }: World): Partial<SureRequest> {
  const purpose = { code: "monitoring", text: "Another purpose than before." };
  return {
    headers: { "Content-Type": "application/json", "Idempotency-Key": JSON.stringify(idempotency?.key) },
    body: JSON.stringify({ farmer_id: farmers.idOf(farmer), purpose, permissions: ["identity"] }),
  };
}
