import { expect } from "vitest";
import { routes } from "../../src/server/control/routes/routes.js";

/** The methods of each path of the control plane. */
export const methodsByPath: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
  routes.map(({ path }) => [path, routes.filter((one) => one.path === path).map(({ method }) => method)]),
);

/** A path of a route, its parts filled in for the sandbox of `key-states`. */
export function realPath(path: string): string {
  return path.replace("organizations/{ref}", "organizations/harvest-bank").replace("{ref}", "active");
}

interface Shown {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
}

/** No response may be read by other origins, be kept by a cache, or be shown in a frame. */
export function expectSafeHeaders({ headers, status }: Shown): void {
  expect(Object.keys(headers).filter((name) => name.startsWith("access-control-"))).toEqual([]);
  expect([headers.etag, headers["x-powered-by"]]).toEqual([undefined, undefined]);
  const safe = {
    "cache-control": "no-store",
    "x-frame-options": "DENY",
    "x-content-type-options": "nosniff",
  };
  expect(headers).toMatchObject(safe);
  if (status === 405) expect(headers.allow).toMatch(/^[A-Z]+(?:, [A-Z]+)*$/);
  if (status === 401) expect(headers["www-authenticate"]).toMatch(/^Bearer /);
}
