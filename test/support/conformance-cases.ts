import { bundledScenarios, type ScenarioName } from "../../src/scenario/bundled.js";
import type { Scenario } from "../../src/scenario/scenario.generated.js";
import { answeringScenarios } from "./answering-scenarios.js";
import type { ConformanceCase, Step } from "./conformance-script.js";
import { mePath } from "./send.js";

function keysOf(name: ScenarioName): string[] {
  const scenario: Scenario = bundledScenarios[name];
  return Object.values(scenario.organizations ?? {}).flatMap(({ keys = {} }) => Object.keys(keys));
}

const withHeader = (...values: string[]): Step => ({ send: { headers: { "x-api-key": values } } });
const at = (path: string): Step => ({ send: { path, key: "active" } });
const by = (method: string, body?: string): Step => ({
  send: { method, key: "active", ...(body !== undefined && { body }) },
});

/** What every door has to answer with the same status, headers and bytes. */
export const conformanceCases: readonly ConformanceCase[] = [
  ...answeringScenarios.map((name) => ({
    title: `every key of ${name}, twice`,
    scenario: name,
    steps: keysOf(name).map((key): Step => ({ send: { key }, times: 2 })),
  })),
  {
    title: "R9–R11 R14 a key that is missing, malformed or unknown",
    scenario: "key-states",
    steps: [
      { send: {} },
      { send: { key: "unknown" } },
      withHeader(""),
      withHeader("SVC_test_"),
      withHeader("Bearer SVC_test_x"),
      withHeader("clé"),
      withHeader("a", "b"),
      withHeader("x".repeat(8000)),
      { send: { headers: { "X-API-KEY": " \tSVC_test_x\t " } } },
      { send: { headers: { authorization: "Bearer SVC_test_x" } } },
    ],
  },
  {
    title: "R47 R49 paths that the API does not have",
    scenario: "key-states",
    steps: [
      "/v1/relying-party",
      "/v1/relying-party/",
      "/v1/relying-party/me/",
      "/v1/relying-party/ME",
      "/V1/Relying-Party/me",
      "/v1/relying-party/attestations/1?x=y",
      "/v1/relying-party/%6De",
      "/v1/relying-party/%zz",
      "/v1/relying-party/%E2%98%82",
      "/v1/relying-party//me",
    ].map(at),
  },
  {
    title: "methods that the API does not have, with and without a body",
    scenario: "key-states",
    steps: [
      by("POST"),
      by("POST", '{"a":1}'),
      by("PUT", "x".repeat(200_000)),
      by("PATCH", "☂"),
      by("DELETE"),
      by("OPTIONS"),
      { send: { method: "POST" } },
      { send: { method: "POST", path: "/v1/relying-party/nothing", key: "active", body: "x" } },
    ],
  },
  {
    title: "HEAD, which counts as GET does",
    scenario: "rate-limited",
    steps: [
      { send: { method: "HEAD", key: "three-a-minute" }, times: 2 },
      { send: { key: "three-a-minute" }, times: 2 },
      { send: { method: "HEAD", key: "three-a-minute" } },
      { send: { method: "HEAD" } },
      { send: { method: "HEAD", path: "/v1/relying-party/nothing" } },
    ],
  },
  {
    title: "R8 a query, and headers that the API does not read",
    scenario: "key-states",
    steps: [
      at(`${mePath}?`),
      at(`${mePath}?environment=live&x-api-key=SVC_live_x&%zz`),
      {
        send: {
          key: "active",
          headers: { accept: "text/html", "content-type": "application/xml", range: "bytes=0-1" },
        },
      },
      { send: { key: "active", headers: { "if-none-match": "*", "accept-encoding": "br" } } },
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
    steps: [{ send: { key: "main" } }, { send: { key: "other" } }],
  },
  {
    title: "R14 the headers and details of typical gateways",
    scenario: { ...bundledScenarios["key-states"], assumptions: { profile: "typical" } },
    steps: [
      ...keysOf("key-states").map((key): Step => ({ send: { key }, times: 2 })),
      ...[{}, { key: "unknown" }].map((send): Step => ({ send })),
    ],
  },
  {
    title: "answers that vary in all that is left open",
    // The date of a Retry-After would be that of each door's own clock.
    scenario: {
      ...bundledScenarios["key-states"],
      assumptions: { profile: "varied", retry_after: "seconds" },
    },
    steps: [
      ...keysOf("key-states").map((key): Step => ({ send: { key }, times: 3 })),
      by("POST"),
      { send: {}, times: 5 },
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
    steps: ["29s", "31s", "30s", "1m"].flatMap((advance): Step[] => [
      { send: { key: "main" }, times: 3 },
      { send: { key: "ending" } },
      { advance },
    ]),
  },
  {
    title: "R37–R41 keys that are rotated and revoked between requests",
    scenario: "active",
    steps: [
      { send: { key: "active" } },
      { rotate: "active", as: "next", overlap: "10m" },
      { send: { key: "active" } },
      { send: { key: "next" } },
      { advance: "10m" },
      { send: { key: "active" } },
      { send: { key: "next" } },
      { rotate: "next", as: "last", overlap: "0s" },
      { send: { key: "next" } },
      { revoke: "last" },
      { send: { key: "last" } },
    ],
  },
  {
    title: "R18 an organization that is switched off and on",
    scenario: "key-states",
    steps: [
      { update: "harvest-bank", status: "inactive" },
      { send: { key: "active" } },
      { update: "harvest-bank", status: "active" },
      { send: { key: "active" } },
    ],
  },
  {
    title: "a reset between requests, after which everything is as it was",
    scenario: "key-states",
    steps: [
      { send: { key: "active" }, times: 2 },
      { revoke: "active" },
      { send: { key: "active" } },
      { reset: true },
      { send: { key: "active" }, times: 2 },
    ],
  },
];
