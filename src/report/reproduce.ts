import type { Endpoint } from "../api/endpoint.js";
import { listAttestations } from "../api/endpoints/attestations.js";
import {
  cancelConsentRequest,
  createConsentRequest,
  getConsentRequest,
} from "../api/endpoints/consent-requests.js";
import { me } from "../api/endpoints/me.js";
import { evaluateKey } from "../api/evaluate.js";
import { variableOf } from "../domain/api-key.js";
import { isAllowed } from "../domain/consent.js";
import { faultPathOf, matches, onlyDelays } from "../domain/fault.js";
import { type ApiPathId, outcomeOf, type PathId } from "../domain/outcomes.js";
import { createWorld } from "../sandbox/create-world.js";
import { type ConsentEntry, statusAt } from "../sandbox/preview/consents.js";
import type { KeyEntry } from "../sandbox/registry.js";
import { announcedKeys } from "../sandbox/secrets.js";
import type { World } from "../sandbox/world.js";
import { bundledScenarios, type ScenarioName } from "../scenario/bundled.js";

/** A request that certainly ends on a path. */
interface Reproduction {
  readonly method: string;
  readonly path: string;
  /** The ref of a key of the scenario, or what to send instead of one. */
  readonly key: { readonly ref: string } | "none" | "malformed" | "unknown";
  /** More headers. Default: none. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

type Reproductions = ReadonlyMap<PathId, Reproduction>;

/** The bundled scenarios to try for a path that the running world cannot end on. */
const fallbackScenarios: readonly ScenarioName[] = ["key-states", "bad-day", "announced-endpoints"];

/**
 * Tells for each path how to cover it now: by one request to the running world, else by one to a bundled scenario. A path
 * that the running scenario offers at its start only is brought back by a reset. `curlOptions` reach the sandbox.
 *
 * Counts nothing and changes nothing.
 */
export function howToCover(world: World, curlOptions = ""): (pathId: PathId) => string | null {
  let here: Reproductions | undefined;
  let elsewhere: readonly { name: ScenarioName; requests: Reproductions }[] | undefined;
  const requestsIn = (name: ScenarioName) =>
    reproductionsIn(createWorld(bundledScenarios[name], { platform: world.platform, name }));
  return (pathId) => {
    here ??= reproductionsIn(world);
    const request = here.get(pathId);
    if (request !== undefined) return instruction(pathId, request, curlOptions);
    elsewhere ??= fallbackScenarios.map((name) => ({ name, requests: requestsIn(name) }));
    const other = elsewhere.find(({ requests }) => requests.has(pathId));
    if (other === undefined) return null;
    const line = instruction(pathId, other.requests.get(pathId) as Reproduction, curlOptions);
    if (other.name === world.name) return `reset the sandbox (POST $SVC_CONTROL_URL/reset), then ${line}`;
    const needs = outcomeOf(pathId).preview === true ? " (it has preview: true)" : "";
    return `start svc-sandbox ${other.name}${needs}, then ${line}`;
  };
}

/** Splits an instruction before its command: `text` ends with the colon, `code` is the line for a shell. */
export function splitInstruction(text: string): string | { readonly text: string; readonly code: string } {
  const cut = text.indexOf(": curl ");
  return cut === -1 ? text : { text: text.slice(0, cut + 1), code: text.slice(cut + 2) };
}

/** Returns for each path the first request that certainly ends on it now. */
function reproductionsIn(world: World): Reproductions {
  const found = new Map<PathId, Reproduction>();
  const add = (request: Reproduction, apiPath: ApiPathId, entry?: KeyEntry) => {
    for (const pathId of pathsBehindFaults(world, apiPath, entry)) {
      if (!found.has(pathId)) found.set(pathId, request);
    }
  };
  const get = { method: "GET", path: me.path };
  // Only keys whose secret clients find in their environment.
  for (const { ref } of announcedKeys(world).keys) {
    const entry = world.registry.key(ref);
    add({ ...get, key: { ref } }, evaluateKey(world, ref).pathId, entry);
    for (const [pathId, request] of previewReproductions(world, ref)) add(request, pathId, entry);
  }
  add({ ...get, key: "none" }, "401.missing");
  add({ ...get, key: "malformed" }, "401.malformed");
  add({ ...get, key: "unknown" }, "401.unknown");
  add({ method: "GET", path: "/v1/relying-party/nothing", key: "none" }, "404.unknown_path");
  add({ method: "DELETE", path: me.path, key: "none" }, "405.method");
  return found;
}

/** Returns the paths that a request certainly ends on, with the world's faults, when the checks alone end it on this one. */
function pathsBehindFaults(world: World, apiPath: ApiPathId, entry: KeyEntry | undefined): PathId[] {
  const facts = {
    key: entry?.key.ref,
    organization: entry?.key.organization,
    now: world.clock.now(),
    expectedPath: () => apiPath,
  };
  let isFirst = true;
  for (const { when, effect } of world.faults.active) {
    if (!matches(when, facts)) continue;
    const isCertain =
      when.every === undefined && when.requests === undefined && when.probability === undefined;
    if (isCertain && onlyDelays(effect)) return isFirst ? [apiPath, faultPathOf(effect)] : [apiPath];
    if (isCertain) return isFirst ? [faultPathOf(effect)] : [];
    if (!onlyDelays(effect)) return [];
    isFirst = false;
  }
  return [apiPath];
}

/** Returns the requests with a key that end on the paths of the preview; none without a preview. */
function previewReproductions(world: World, ref: string): [ApiPathId, Reproduction][] {
  if (!world.preview) return [];
  const found: [ApiPathId, Reproduction][] = [];
  const add = (pathId: ApiPathId, endpoint: Endpoint, more: Partial<Reproduction> = {}) => {
    if (!evaluateKey(world, ref, endpoint).pathId.startsWith("200")) return;
    found.push([pathId, { method: endpoint.method, path: endpoint.path, key: { ref }, ...more }]);
  };
  const withId = ({ path }: Endpoint, id: string) => ({ path: path.replace("{id}", id) });
  add("400.bad_request", createConsentRequest);
  add("404.unknown_record", getConsentRequest, withId(getConsentRequest, "consent_nothing"));
  add("422.validation", listAttestations, { path: `${listAttestations.path}?limit=0` });
  const { key } = world.registry.key(ref);
  if (key.environment === "live") return found;
  const own = world.consents.all.filter(({ organization }) => organization === key.organization);
  const ended = own.find((entry) => !isAllowed("cancel", statusAt(entry, world.clock.now())));
  if (ended !== undefined) add("409.conflict", cancelConsentRequest, withId(cancelConsentRequest, ended.id));
  const kept = own.find(({ idempotency }) => idempotency !== undefined);
  if (kept !== undefined) add("422.idempotency_key", createConsentRequest, reusedKey(kept, world));
  return found;
}

/** Another request under the idempotency key of an earlier one. */
function reusedKey({ idempotency, farmer }: ConsentEntry, { farmers }: World): Partial<Reproduction> {
  const purpose = { code: "monitoring", text: "Another purpose than before." };
  return {
    headers: { "Content-Type": "application/json", "Idempotency-Key": JSON.stringify(idempotency?.key) },
    body: JSON.stringify({ farmer_id: farmers.idOf(farmer), purpose, permissions: ["identity"] }),
  };
}

/** Returns words and, after a colon, a line for a shell that has the environment for clients. */
function instruction(pathId: PathId, request: Reproduction, curlOptions: string): string {
  const { method, path, key, headers = {}, body } = request;
  const { words, header } = presentedKey(key);
  const options = [
    curlOptions,
    // Without a timeout curl waits for ever.
    pathId === "fault.hang" ? "-m 5" : "",
    method === "GET" ? "" : `-X ${method}`,
    header === undefined ? "" : `-H ${header}`,
    ...Object.entries(headers).map(([name, value]) => `-H ${shellQuoted(`${name}: ${value}`)}`),
    body === undefined ? "" : `-d ${shellQuoted(body)}`,
    `"$SVC_BASE_URL${path}"`,
  ];
  return `${words}: curl ${options.filter((option) => option !== "").join(" ")}`;
}

function presentedKey(key: Reproduction["key"]): { words: string; header?: string } {
  if (typeof key === "object") {
    const variable = variableOf(key.ref);
    return { words: `send ${variable} (ref ${key.ref})`, header: `"x-api-key: $${variable}"` };
  }
  if (key === "malformed") return { words: "send a malformed key", header: '"x-api-key: not-a-key"' };
  if (key === "none") return { words: "send no key" };
  // In two pieces, which the shell puts together: a report holds nothing that looks like a key.
  return { words: "send an unknown key", header: "'x-api-key: SVC_test_''sbx-nobody-holds-this'" };
}

function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
