import type { Runtime } from "../sandbox/runtime.js";
import type { Instances } from "./control/instances.js";

const instancesPath = "/i/";

/** The instance that a path leads into, and the path inside it; `undefined` for every other path. */
export function enterInstance(
  path: string,
  instances: Instances | undefined,
): { readonly runtime: Runtime; readonly path: string } | undefined {
  if (instances === undefined || !path.startsWith(instancesPath)) return undefined;
  const end = path.indexOf("/", instancesPath.length);
  const id = end === -1 ? path.slice(instancesPath.length) : path.slice(instancesPath.length, end);
  const instance = instances.find(id);
  return instance && { runtime: instance.runtime, path: end === -1 ? "/" : path.slice(end) };
}
