import type { Asking } from "./client.js";
import { newKey, validYaml } from "./writes.js";

/** The random parts of the keys that {@link aKey} has made. */
export const sentKeys: string[] = [];

/** A key that was not sent before. */
export function aKey(prefix = "SVC_test_"): string {
  const number = String(sentKeys.length).padStart(3, "0");
  sentKeys.push(`${number}Kq7wZr2Xp9LmVb4Tn8Yc${number}`);
  return prefix + sentKeys.at(-1);
}

/** A key, percent-encoded so many times. */
function encoded(times: number): string {
  let key = aKey().replaceAll("_", "%5F").replace("S", "%53");
  for (let i = 1; i < times; i++) key = encodeURIComponent(key);
  return key;
}

const call = (text: string, json?: unknown) => {
  const [method, path] = text.split(" ") as [string, string];
  return { method, path, ...(json !== undefined && { json }) };
};
const raw = (text: string, bytes: string, headers: Asking["headers"] = {}) => ({
  ...call(text),
  bytes,
  headers: { "content-type": "application/json", ...headers },
});
const yaml = (bytes: string) => raw("PUT /scenario", bytes, { "content-type": "application/yaml" });

/** Requests with a key in every place where a client can put one. */
export const careless = (): readonly (Asking & { readonly path: string })[] => [
  ...inPaths(),
  ...inHeaders(),
  ...inBodies(),
  ...inScenarios(),
];

const inPaths = () => [
  call(`GET /keys/${aKey()}`),
  call(`POST /keys/${aKey("legacysvc_test_")}/revoke`),
  call(`GET /health/${aKey()}?x=${aKey()}`),
  ...[1, 4].flatMap((times) => [
    call(`GET /keys/${encoded(times)}`),
    call(`PATCH /organizations/${encoded(times)}`),
    call(`GET /keys/active/${encoded(times)}`),
    call(`GET /requests?${encoded(times)}=1`),
  ]),
  call(`GET /keys/${aKey().toLowerCase()}`),
  ...["key", "outcome", "limit", aKey()].map((name) => call(`GET /requests?${name}=${aKey()}`)),
  call(`GET /report?format=${aKey("SVC_live_")}`),
  call(`GET /requests/${aKey()}`),
];

const inHeaders = () => [
  ...[
    { "x-api-key": aKey(), cookie: aKey(), referer: aKey() },
    { "x-sandbox-actor": aKey() },
    { host: aKey() },
    { origin: `http://${aKey()}` },
    { authorization: `Bearer ${aKey()}` },
  ].map((headers) => ({ ...call("GET /state"), headers })),
  raw("POST /reset", "x", { "content-type": aKey() }),
  raw("POST /reset", "{}", { "content-type": `application/json; charset=${aKey()}` }),
];

const inBodies = () => [
  raw("POST /keys", `{"name":"${aKey()}"`),
  raw("POST /keys", aKey()),
  ...[
    aKey(),
    { ...newKey, environment: aKey() },
    { ...newKey, name: `the key is ${aKey().replaceAll("_", "%5f")}` },
    { ...newKey, [aKey()]: aKey() },
    { ...newKey, scopes: [aKey()] },
    { ...newKey, limits: { [aKey()]: 1, per_day: aKey() } },
    { ...newKey, ref: aKey(), expires: aKey() },
  ].map((json) => call("POST /keys", json)),
  call("POST /keys/active/rotate", { as: aKey(), overlap: aKey() }),
  call("PATCH /organizations/harvest-bank", { status: aKey(), sandbox_access: aKey() }),
  call("PUT /clock", { now: aKey(), frozen: aKey() }),
  call("POST /clock/advance", { by: aKey() }),
  call("PUT /faults", { faults: [{ when: { key: aKey() }, then: { [aKey()]: aKey() } }] }),
  call("POST /send", { key: aKey(), path: aKey() }),
  call("POST /send", { key: "active", path: `/${aKey()}`, headers: { Cookie: aKey() }, body: aKey() }),
];

const inScenarios = () => {
  const keys = { main: { environment: "live", secret: aKey() }, [aKey()]: {} };
  return [
    call("PUT /scenario", { name: aKey() }),
    yaml(`version: 1\n${aKey()}: [\n`),
    yaml(`# ${aKey()}\nversion: 2 # ${aKey()}\n`),
    yaml(`${validYaml}x:\n  secret: ${aKey()}\nsecret: ${aKey("")}\n`),
    yaml(`version: 1\nextends: ${aKey()}\n`),
    call("POST /scenario/validate", { text: `version: 1\n${aKey()}: ${aKey()}\n` }),
    raw("POST /scenario/validate", `secret: ${aKey()}\n`, { "content-type": "application/yaml" }),
    yaml(JSON.stringify({ version: 1, organizations: { bank: { type: aKey(), keys } } })),
  ];
};
