import { createRequire } from "node:module";
import type { UsersPackage } from "../library/users-package.js";

/** Returns the installed version of a package if it is too old. */
export function olderVersion({ name, since }: UsersPackage): string | undefined {
  const version = installedVersion(name);
  return version?.localeCompare(since, "en", { numeric: true }) === -1 ? version : undefined;
}

function installedVersion(name: string): string | undefined {
  try {
    return createRequire(import.meta.url)(`${name}/package.json`).version;
  } catch {
    // A bundle contains the package.
    return undefined;
  }
}
