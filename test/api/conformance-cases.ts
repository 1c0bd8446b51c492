import { bundledScenarios, type ScenarioName } from "../../src/scenario/bundled.js";
import type { Scenario } from "../../src/scenario/scenario.generated.js";
import { mePath } from "../support/send.js";
import type { ConformanceCase, KeyedSent, Step } from "./conformance-script.js";

/** The bundled scenarios without faults: in these, every request gets the API's own response. */
export const respondingScenarios = (Object.entries(bundledScenarios) as [ScenarioName, Scenario][])
  .filter(([, { faults }]) => faults === undefined)
  .map(([name]) => name);

function keysOf(name: ScenarioName): string[] {
  const scenario: Scenario = bundledScenarios[name];
  return Object.values(scenario.organizations ?? {}).flatMap(({ keys = {} }) => Object.keys(keys));
}

const sent = (send: KeyedSent, times = 1): Step => ({ send, times });
const withKeys = (times: number, ...keys: string[]) => keys.map((key) => sent({ key }, times));
const withHeader = (...values: string[]) => sent({ headers: { "x-api-key": values } });
const at = (path: string) => sent({ path, key: "active" });
const by = (method: string, body?: string) =>
  sent({ method, key: "active", ...(body !== undefined && { body }) });

/** What every door has to respond with the same status, headers and bytes. */
export const conformanceCases: readonly ConformanceCase[] = [
  ...respondingScenarios.map((name) => ({
    title: `every key of ${name}, twice`,
    scenario: name,
    steps: withKeys(2, ...keysOf(name)),
  })),
  {
    title: "R9–R11 R14 a key that is missing, malformed or unknown",
    scenario: "key-states",
    steps: [
      sent({}),
      sent({ key: "unknown" }),
      ...["", "SVC_test_", "Bearer SVC_test_x", "clé", "x".repeat(8000)].map((value) => withHeader(value)),
      withHeader("a", "b"),
      sent({ headers: { "X-API-KEY": " \tSVC_test_x\t " } }),
      sent({ headers: { authorization: "Bearer SVC_test_x" } }),
    ],
  },
  {
    title: "R47 R49 paths that the API does not have",
    scenario: "key-states",
    steps: [
      "/V1/Relying-Party/me",
      ...["", "/", "/me/", "/ME", "/attestations/1?x=y", "/%6De", "/%zz", "/%E2%98%82", "//me"].map(
        (end) => `/v1/relying-party${end}`,
      ),
    ].map(at),
  },
  {
    title: "methods that the API does not have, with and without a body",
    scenario: "key-states",
    steps: [
      by("POST"),
      by("POST", '{"a":1}'),
      by("PUT", "x".repeat(200_000)),
      by("DELETE"),
      by("OPTIONS"),
      sent({ method: "POST" }),
      sent({ method: "POST", path: "/v1/relying-party/nothing", key: "active", body: "x" }),
    ],
  },
  {
    title: "HEAD, which counts as GET does",
    scenario: "rate-limited",
    steps: [
      sent({ method: "HEAD", key: "three-a-minute" }, 2),
      ...withKeys(2, "three-a-minute"),
      sent({ method: "HEAD", key: "three-a-minute" }),
      sent({ method: "HEAD" }),
      sent({ method: "HEAD", path: "/v1/relying-party/nothing" }),
    ],
  },
  {
    title: "R8 a query, and headers that the API does not read",
    scenario: "key-states",
    steps: [
      at(`${mePath}?`),
      at(`${mePath}?environment=live&x-api-key=SVC_live_x&%zz`),
      ...[
        { accept: "text/html", "content-type": "application/xml", range: "bytes=0-1" },
        { "if-none-match": "*", "accept-encoding": "br" },
      ].map((headers) => sent({ key: "active", headers })),
    ],
  },
  {
    title: "names of other letters than ASCII",
    scenario: {
      version: 1,
      organizations: {
        bank: { name: "Bänk ☂ 𝕏 الأرض", type: "bank", keys: { main: { environment: "test" } } },
        insurer: { name: '"\\ </script> \u2028', type: "insurer", keys: { other: { environment: "live" } } },
      },
    },
    steps: withKeys(1, "main", "other"),
  },
  {
    title: "R14 the headers and details of typical gateways",
    scenario: { ...bundledScenarios["key-states"], assumptions: { profile: "typical" } },
    steps: [...withKeys(2, ...keysOf("key-states")), sent({}), sent({ key: "unknown" })],
  },
  {
    title: "responses that vary in all that is left open",
    // The date of a Retry-After would be that of each door's own clock.
    scenario: {
      ...bundledScenarios["key-states"],
      assumptions: { profile: "varied", retry_after: "seconds" },
    },
    steps: [
      ...withKeys(3, ...keysOf("key-states")),
      by("POST"),
      sent({}, 5),
      at("/v1/relying-party/nothing"),
      by("HEAD"),
    ],
  },
  {
    title: "R6 R22 R23 R43 a clock that moves on between requests",
    scenario: {
      version: 1,
      clock: { now: "2026-03-02T23:58:30Z" },
      organizations: {
        bank: {
          type: "bank",
          keys: {
            main: { environment: "test", limits: { per_minute: 2, per_day: 3 } },
            ending: { environment: "test", expires: "1m" },
          },
        },
      },
    },
    steps: (["29s", "31s", "30s", "1m"] as const).flatMap((advance): Step[] => [
      ...withKeys(3, "main"),
      ...withKeys(1, "ending"),
      { advance },
    ]),
  },
  {
    title: "R37–R41 keys that are rotated and revoked between requests",
    scenario: "active",
    steps: [
      ...withKeys(1, "active"),
      { rotate: "active", as: "next", overlap: "10m" },
      ...withKeys(1, "active", "next"),
      { advance: "10m" },
      ...withKeys(1, "active", "next"),
      { rotate: "next", as: "last", overlap: "0s" },
      ...withKeys(1, "next", "last"),
      { revoke: "last" },
      ...withKeys(1, "last"),
    ],
  },
  {
    title: "a reset between requests, after which everything is as it was",
    scenario: "key-states",
    steps: [
      ...withKeys(2, "active"),
      { revoke: "active" },
      ...withKeys(1, "active"),
      { reset: true },
      ...withKeys(2, "active"),
    ],
  },
];
