import type { Asking } from "./control-client.js";

/** A write that the world of `key-states` takes. */
export interface Write extends Asking {
  readonly method: "POST" | "PUT" | "PATCH" | "DELETE";
  readonly path: string;
  /** The path as the description has it. */
  readonly described: string;
}

export const validYaml = "version: 1\nname: Sent\norganizations: { bank: { type: bank } }\n";

/** Every writing call, as the world of `key-states` takes it. `instance` is the id of an instance that there is. */
export function writesFor(instance: string): readonly Write[] {
  const yaml = { "content-type": "application/yaml" };
  return [
    {
      method: "POST",
      path: "/keys",
      described: "/keys",
      json: { organization: "harvest-bank", environment: "test", name: "CI" },
    },
    {
      method: "POST",
      path: "/keys/active/rotate",
      described: "/keys/{ref}/rotate",
      json: { overlap_minutes: 5 },
    },
    {
      method: "POST",
      path: "/keys/active/revoke",
      described: "/keys/{ref}/revoke",
      json: {},
    },
    {
      method: "PATCH",
      path: "/organizations/harvest-bank",
      described: "/organizations/{ref}",
      json: { status: "inactive" },
    },
    {
      method: "PUT",
      path: "/clock",
      described: "/clock",
      json: { frozen: true },
    },
    {
      method: "POST",
      path: "/clock/advance",
      described: "/clock/advance",
      json: { by: "1m" },
    },
    {
      method: "PUT",
      path: "/assumptions",
      described: "/assumptions",
      json: { rate_limit_code: "slow_down" },
    },
    {
      method: "PUT",
      path: "/faults",
      described: "/faults",
      json: { faults: [{ when: { every: 10 }, then: { status: 503 } }] },
    },
    { method: "DELETE", path: "/requests", described: "/requests" },
    {
      method: "PUT",
      path: "/scenario",
      described: "/scenario",
      json: { name: "rotation" },
    },
    {
      method: "PUT",
      path: "/scenario",
      described: "/scenario",
      bytes: validYaml,
      headers: yaml,
    },
    { method: "POST", path: "/reset", described: "/reset", json: {} },
    { method: "POST", path: "/story/next", described: "/story/next", json: {} },
    {
      method: "POST",
      path: "/instances",
      described: "/instances",
      json: { scenario: "rotation" },
    },
    {
      method: "DELETE",
      path: `/instances/${instance}`,
      described: "/instances/{id}",
    },
  ];
}

/** Writes by their names, for tables. */
export const writeNames: readonly string[] = writesFor("").map(
  ({ method, described, headers }) => `${method} ${described}${headers === undefined ? "" : " (YAML)"}`,
);
