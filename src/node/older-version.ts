import { createRequire } from "node:module";
import type { UsersPackage } from "../library/users-package.js";

/** The installed version of a package if it is older than what is wanted. */
export function olderVersion({ name, since }: UsersPackage): string | undefined {
  const version = installedVersion(name);
  return version?.localeCompare(since, "en", { numeric: true }) === -1 ? version : undefined;
}

function installedVersion(name: string): string | undefined {
  try {
    return createRequire(import.meta.url)(`${name}/package.json`).version;
  } catch {
    // A bundle has the package in it.
    return undefined;
  }
}
