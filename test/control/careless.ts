import type { Asking } from "./client.js";
import { validYaml } from "./writes.js";

/** What was in the keys that {@link aKey} has made, their prefixes aside. */
export const sentKeys: string[] = [];
/** A key that nobody else sends. */
export function aKey(prefix = "SVC_test_"): string {
  const number = String(sentKeys.length).padStart(3, "0");
  sentKeys.push(`${number}Kq7wZr2Xp9LmVb4Tn8Yc${number}`);
  return prefix + sentKeys.at(-1);
}

/** Keys in every place that a client can put one. */
export function careless(): readonly (Asking & { readonly path: string })[] {
  const post = { method: "POST" };
  const put = { method: "PUT" };
  const json = { "content-type": "application/json" };
  const yaml = { "content-type": "application/yaml" };
  const newKey = {
    organization: "harvest-bank",
    environment: "test",
    name: "CI",
  };
  const encoded = (times: number) => {
    let key = aKey().replaceAll("_", "%5F").replace("S", "%53");
    for (let i = 1; i < times; i++) key = encodeURIComponent(key);
    return key;
  };
  const inBodies = [newKey.organization, newKey.environment, newKey.name].map((_, index) => ({
    path: "/keys",
    ...post,
    json: { ...newKey, [Object.keys(newKey)[index] as string]: aKey() },
  }));
  return [
    { path: `/keys/${aKey()}` },
    { path: `/keys/${aKey("SVC_live_")}/rotate`, ...post },
    { path: `/keys/${aKey("legacysvc_test_")}/revoke`, ...post },
    { path: `/organizations/${aKey()}` },
    { path: `/instances/${aKey()}`, method: "DELETE" },
    { path: `/${aKey()}` },
    { path: `/health/${aKey()}?x=${aKey()}` },
    ...[1, 2, 3, 4].flatMap((times) => [
      { path: `/keys/${encoded(times)}` },
      { path: `/organizations/${encoded(times)}`, method: "PATCH" },
      { path: `/instances/${encoded(times)}`, method: "DELETE" },
      { path: `/${encoded(times)}` },
      { path: `/keys/active/${encoded(times)}` },
      { path: `/requests?${encoded(times)}=1` },
      { path: `/keys`, method: "DELETE", headers: { "x-key": encoded(times) } },
    ]),
    { path: `/keys/${aKey().toLowerCase()}` },
    { path: `/requests?key=${aKey()}` },
    { path: `/requests?path_id=${aKey()}` },
    { path: `/requests?limit=${aKey()}` },
    { path: `/requests?${aKey()}=${aKey()}` },
    {
      path: "/state",
      headers: { "x-api-key": aKey(), cookie: aKey(), referer: aKey() },
    },
    { path: "/state", headers: { "x-sandbox-actor": aKey() } },
    { path: "/state", headers: { host: aKey() } },
    { path: "/state", headers: { origin: `http://${aKey()}` } },
    { path: "/state", headers: { authorization: `Bearer ${aKey()}` } },
    {
      path: "/reset",
      ...post,
      bytes: "x",
      headers: { "content-type": aKey() },
    },
    {
      path: "/reset",
      ...post,
      bytes: "x",
      headers: { ...json, "content-encoding": aKey() },
    },
    {
      path: "/reset",
      ...post,
      bytes: "{}",
      headers: { "content-type": `application/json; charset=${aKey()}` },
    },
    { path: "/keys", ...post, bytes: `{"name":"${aKey()}"`, headers: json },
    { path: "/keys", ...post, bytes: aKey(), headers: json },
    { path: "/keys", ...post, bytes: `{"a":${aKey()}}`, headers: json },
    { path: "/keys", ...post, json: aKey() },
    { path: "/keys", ...post, json: [aKey()] },
    ...inBodies,
    { path: "/keys", ...post, json: { ...newKey, [aKey()]: aKey() } },
    { path: "/keys", ...post, json: { ...newKey, scopes: [aKey()] } },
    {
      path: "/keys",
      ...post,
      json: { ...newKey, limits: { [aKey()]: 1, per_day: aKey() } },
    },
    {
      path: "/keys",
      ...post,
      json: { ...newKey, ref: aKey(), expires: aKey() },
    },
    {
      path: "/keys",
      ...post,
      json: { ...newKey, name: `the key is ${aKey().replaceAll("_", "%5f")}` },
    },
    {
      path: "/keys/active/rotate",
      ...post,
      json: { as: aKey(), overlap_minutes: aKey() },
    },
    {
      path: "/organizations/harvest-bank",
      method: "PATCH",
      json: { status: aKey(), sandbox_access: aKey() },
    },
    { path: "/clock", ...put, json: { now: aKey(), frozen: aKey() } },
    { path: "/clock/advance", ...post, json: { by: aKey() } },
    { path: "/assumptions", ...put, json: { rate_limit_code: aKey() } },
    {
      path: "/assumptions",
      ...put,
      json: { me_scope: aKey(), scopes: [aKey()], profile: aKey() },
    },
    { path: "/scenario", ...put, json: { name: aKey() } },
    {
      path: "/scenario",
      ...put,
      bytes: `version: 1\n${aKey()}: [\n`,
      headers: yaml,
    },
    {
      path: "/scenario",
      ...put,
      bytes: `# ${aKey()}\nversion: 2 # ${aKey()}\n`,
      headers: yaml,
    },
    {
      path: "/scenario",
      ...put,
      bytes: `${validYaml}x:\n  secret: ${aKey()}\nsecret: ${aKey("")}\n`,
      headers: yaml,
    },
    {
      path: "/scenario",
      ...put,
      bytes: `version: 1\nextends: ${aKey()}\n`,
      headers: yaml,
    },
    { path: "/instances", ...post, json: { scenario: aKey() } },
    {
      path: "/instances",
      ...post,
      json: { seed: aKey(), now: aKey(), profile: aKey() },
    },
    {
      path: "/instances",
      ...post,
      json: {
        scenario: {
          version: 1,
          organizations: {
            bank: {
              type: aKey(),
              keys: {
                main: { environment: "live", secret: aKey() },
                [aKey()]: {},
              },
            },
          },
        },
      },
    },
  ];
}
