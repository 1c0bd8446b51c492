import type { Host } from "../sandbox/host.js";
import type { Instances } from "./control/instances.js";

const instancesPath = "/i/";

/** The instance that a path leads into, and the path inside it; `undefined` for every other path. */
export function enterInstance(
  path: string,
  instances: Instances | undefined,
): { readonly host: Host; readonly path: string } | undefined {
  if (instances === undefined || !path.startsWith(instancesPath)) return undefined;
  const end = path.indexOf("/", instancesPath.length);
  const id = end === -1 ? path.slice(instancesPath.length) : path.slice(instancesPath.length, end);
  const instance = instances.find(id);
  return instance && { host: instance.host, path: end === -1 ? "/" : path.slice(end) };
}
