import { me } from "../api/endpoints/me.js";
import { evaluateKey } from "../api/foresee.js";
import { faultPathOf, matches, onlyDelays } from "../domain/fault.js";
import type { ApiPathId, PathId } from "../domain/outcomes.js";
import { announcedKeys } from "../sandbox/announced-keys.js";
import type { KeyEntry } from "../sandbox/registry.js";
import type { World } from "../sandbox/world.js";
import { surePreviewRequests } from "./sure-preview-requests.js";

/** A request of which it is sure how it ends. */
export interface SureRequest {
  readonly method: string;
  readonly path: string;
  /** A key of the scenario by its ref; or what stands in the header in its place. */
  readonly key: { readonly ref: string } | "none" | "malformed" | "unknown";
  /** More headers. Default: none. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** For each path the first request that would surely meet it now; paths that none meets are left out. */
export function sureRequests(world: World): ReadonlyMap<PathId, SureRequest> {
  const sure = new Map<PathId, SureRequest>();
  const add = (request: SureRequest, gatePath: ApiPathId, entry?: KeyEntry) => {
    for (const pathId of surelyMet(world, gatePath, entry)) {
      if (!sure.has(pathId)) sure.set(pathId, request);
    }
  };
  const get = { method: "GET", path: me.path };
  // Only keys whose secret clients find in their environment.
  for (const { ref } of announcedKeys(world).keys) {
    const { pathId } = evaluateKey(world, ref);
    const entry = world.registry.key(ref);
    add({ ...get, key: { ref } }, pathId as ApiPathId, entry);
    for (const [previewPath, request] of surePreviewRequests(world, ref)) add(request, previewPath, entry);
  }
  add({ ...get, key: "none" }, "401.missing");
  add({ ...get, key: "malformed" }, "401.malformed");
  add({ ...get, key: "unknown" }, "401.unknown");
  add({ method: "GET", path: "/v1/relying-party/nothing", key: "none" }, "404.unknown_path");
  add({ method: "DELETE", path: me.path, key: "none" }, "405.method");
  return sure;
}

// What the faults of the world make of a request that the gate would end on this path.
function surelyMet(world: World, gatePath: ApiPathId, entry: KeyEntry | undefined): PathId[] {
  const facts = {
    key: entry?.key.ref,
    organization: entry?.key.organization,
    now: world.clock.now(),
    foreseenPath: () => gatePath,
  };
  let isSure = true;
  for (const { when, effect } of world.faults.active) {
    if (!matches(when, facts)) continue;
    const isCertain =
      when.every === undefined && when.requests === undefined && when.probability === undefined;
    if (!isCertain) {
      if (!onlyDelays(effect)) return [];
      isSure = false;
    } else if (onlyDelays(effect)) {
      return isSure ? [gatePath, faultPathOf(effect)] : [gatePath];
    } else {
      return isSure ? [faultPathOf(effect)] : [];
    }
  }
  return [gatePath];
}
