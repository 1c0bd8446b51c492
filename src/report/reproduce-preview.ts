import type { Endpoint } from "../api/endpoint.js";
import { listAttestations } from "../api/endpoints/attestations.js";
import {
  cancelConsentRequest,
  createConsentRequest,
  getConsentRequest,
} from "../api/endpoints/consent-requests.js";
import { evaluateKey } from "../api/evaluate.js";
import { type ConsentEntry, statusAt } from "../sandbox/preview/consents.js";
import type { KeyEntry } from "../sandbox/registry.js";
import type { World } from "../sandbox/world.js";
import { isAllowed } from "../spec/consent.js";
import type { ApiPathId } from "../spec/outcomes.js";

/** A request without its key. */
export interface KeylessRequest {
  /** Default: GET. */
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Returns the requests with a key that cover paths of the preview, in a sandbox with the preview. */
export function previewRequests(world: World, { key }: KeyEntry) {
  const found: [ApiPathId, KeylessRequest][] = [];
  const add = (pathId: ApiPathId, endpoint: Endpoint, path = endpoint.path, more = {}) => {
    if (!evaluateKey(world, key.ref, endpoint).pathId.startsWith("200")) return;
    const method = endpoint.method === "GET" ? {} : { method: endpoint.method };
    found.push([pathId, { ...method, path, ...more }]);
  };
  const withId = ({ path }: Endpoint, id: string) => path.replace("{id}", id);
  add("400.bad_request", createConsentRequest);
  add("404.unknown_record", getConsentRequest, withId(getConsentRequest, "consent_nothing"));
  add("422.validation", listAttestations, `${listAttestations.path}?limit=0`);
  if (key.environment === "live") return found;
  const own = world.consents.all.filter(({ organization }) => organization === key.organization);
  const ended = own.find((entry) => !isAllowed("cancel", statusAt(entry, world.clock.now())));
  if (ended !== undefined) add("409.conflict", cancelConsentRequest, withId(cancelConsentRequest, ended.id));
  const earlier = own.find(({ idempotency }) => idempotency !== undefined);
  if (earlier !== undefined) {
    const { path } = createConsentRequest;
    add("422.idempotency_key", createConsentRequest, path, reuse(earlier, world));
  }
  return found;
}

/** Returns a different request with the idempotency key of an earlier one. */
function reuse({ idempotency, farmer }: ConsentEntry, { farmers }: World) {
  const purpose = { code: "monitoring", text: "Another purpose than before." };
  const body = { farmer_id: farmers.idOf(farmer), purpose, permissions: ["identity"] };
  const headers = {
    "Content-Type": "application/json",
    "Idempotency-Key": JSON.stringify(idempotency?.key),
  };
  return { headers, body: JSON.stringify(body) };
}
