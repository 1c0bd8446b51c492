import type { Asking } from "./client.js";

/** A write that the sandbox of `key-states` accepts. */
export interface Write extends Asking {
  readonly method: string;
  readonly path: string;
  /** The path as the description has it. */
  readonly described: string;
}

export const validYaml = "version: 1\nname: Sent\norganizations: { bank: { type: bank } }\n";
export const newKey = { organization: "harvest-bank", environment: "test", name: "CI" };

const calls: readonly (readonly [call: string, real: string, json?: object])[] = [
  ["POST /keys", "/keys", newKey],
  ["POST /keys/{ref}/rotate", "/keys/active/rotate", { overlap: "5m" }],
  ["POST /keys/{ref}/revoke", "/keys/active/revoke", {}],
  ["POST /keys/{ref}/expire", "/keys/active/expire", { expires: "30m" }],
  ["POST /keys/{ref}/secret", "/keys/active/secret", {}],
  ["PATCH /organizations/{ref}", "/organizations/harvest-bank", { status: "inactive" }],
  ["PUT /clock", "/clock", { frozen: true }],
  ["POST /clock/advance", "/clock/advance", { by: "1m" }],
  ["PUT /faults", "/faults", { faults: [{ when: { every: 10 }, then: { status: 503 } }] }],
  ["POST /send", "/send", { key: "active" }],
  ["DELETE /requests", "/requests"],
  ["PUT /scenario", "/scenario", { name: "rotation" }],
  ["POST /scenario/validate", "/scenario/validate", { text: "version: 1" }],
  ["POST /reset", "/reset", {}],
  ["POST /story/next", "/story/next", {}],
  ["POST /stop", "/stop"],
];

/** Every write, as the sandbox of `key-states` accepts it. */
export const acceptedWrites: readonly Write[] = [
  ...calls.map(([call, path, json]) => {
    const [method, described] = call.split(" ") as [string, string];
    return { method, path, described, ...(json !== undefined && { json }) };
  }),
  {
    ...{ method: "PUT", path: "/scenario", described: "/scenario" },
    ...{ bytes: validYaml, headers: { "content-type": "application/yaml" } },
  },
];

/** The names of the writes, for titles. */
export const writeNames: readonly string[] = acceptedWrites.map(
  ({ method, described, headers }) => `${method} ${described}${headers === undefined ? "" : " (YAML)"}`,
);
