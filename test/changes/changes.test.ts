import { setupServer } from "msw/node";
import { describe, expect, test } from "vitest";
import { requestDetails } from "../../src/api/request-details.js";
import type { Scenario } from "../../src/index.js";
import { createHandlers } from "../../src/integrations/msw.js";
import { clientReport } from "../../src/report/report.js";
import { snapshotWorld } from "../../src/sandbox/snapshot.js";
import { startSandbox } from "../../src/sandbox/start.js";
import { listUpcoming } from "../../src/sandbox/upcoming.js";
import { bundledScenarios } from "../../src/scenario/bundled.js";
import { checkScenario } from "../../src/scenario/parse-scenario.js";
import { openSandbox, openTestWorld } from "../support/doors.js";
import { ask } from "../support/varied.js";

const day = 24 * 60 * 60_000;
const june = Date.parse("2027-06-01T00:00:00Z");
const mePath = "/v1/relying-party/me";

type Change = NonNullable<Scenario["changes"]>[string];
const at = "2027-06-01";
const withChange = (change: Omit<Change, "at">): Scenario => ({
  ...bundledScenarios["key-states"],
  changes: { announced: { at, ...change } },
});

/** What two keys get at a time, and what they get there without any change. */
const some = ["active", "rate-limited", "wrong-scope", "revoked"];

function responses(scenario: Scenario, now: number, keys = some) {
  const open = (one: Scenario) => openTestWorld(one, { now });
  const read = (world: ReturnType<typeof open>) =>
    keys.map((key) => {
      const { status, headers, body } = ask(world, { key });
      return { status, headers, body, ...JSON.parse(body) };
    });
  const { changes: _, ...plain } = scenario;
  return { changed: read(open(scenario)), plain: read(open(plain)) };
}

const kinds: [
  string,
  Omit<Change, "at">,
  (all: ReturnType<typeof responses>["changed"]) => unknown,
  unknown,
][] = [
  [
    "assumptions",
    { assumptions: { error_details: true } },
    ([, limited]) => limited?.error.details.limit,
    "per_day",
  ],
  ["codes", { codes: { rate_limited: "quota" } }, ([, limited]) => limited?.error.code, "quota"],
  ["codes of a path", { codes: { "429.per_day": "day" } }, ([, limited]) => limited?.error.code, "day"],
  ["a code for all 401", { codes: { unauthorized: "no" } }, ([, , , revoked]) => revoked?.error.code, "no"],
  ["statuses", { statuses: { insufficient_scope: 404 } }, ([, , wrong]) => wrong?.status, 404],
  [
    "members",
    { members: { in: "data.usage", rename: { today: "day" }, add: { month: 7 } } },
    ([active]) => active?.data.usage,
    { day: 1, month: 7 },
  ],
  [
    "members of one status",
    { members: { in: "error", on: 429, remove: ["message"] } },
    ([, limited, wrong]) => [Object.keys(limited?.error), Object.keys(wrong?.error)],
    [["code"], ["code", "message"]],
  ],
  [
    "headers",
    { headers: { rename: { "x-request-id": "Request-Id" }, add: { "X-Version": "2" }, remove: ["x-none"] } },
    ([active]) => active?.headers.map(([name]: [string]) => name),
    ["Content-Type", "Request-Id", "Content-Length", "X-Version"],
  ],
  [
    "scopes",
    { scopes: { rename: { "attestations:read": "a.read" }, add: ["b.read"] } },
    ([active]) => active?.data.scopes,
    ["a.read", "b.read"],
  ],
];

describe("a change", () => {
  test.each(kinds)("of %s applies from its date on", (_, change, read, expected) => {
    expect(read(responses(withChange(change), june).changed)).toEqual(expected);
    expect(read(responses(withChange(change), june + day).changed)).toEqual(expected);
  });

  test.each(kinds)("of %s changes no byte before its date", (_, change) => {
    const { changed, plain } = responses(withChange(change), june - 1);
    expect(changed).toEqual(plain);
  });

  test("applies while the clock runs, before later steps, and sets the sandbox's assumptions", () => {
    const scenario = withChange({ assumptions: { rate_limit_code: "quota" } });
    const timeline = [{ at: "1m", revoke: { key: "active" } }];
    const world = openTestWorld({ ...scenario, timeline }, { now: june - 1000 });
    const code = () => JSON.parse(ask(world, { key: "rate-limited" }).body).error.code;
    expect(code()).toBe("rate_limited");
    world.clock.advance(1000);
    expect([code(), world.assumptions.rate_limit_code]).toEqual(["quota", "quota"]);
    const status = () => ask(world, { key: "active" }).status;
    expect(status()).toBe(200);
    world.clock.advance(59_000);
    expect(status()).toBe(401);
    const again = startSandbox(checkScenario(snapshotWorld(world)), { platform: world.platform });
    expect(again.assumptions.rate_limit_code).toBe("quota");
  });
});

describe("a path that moves", () => {
  const moved = withChange({ move: { to: "/v2/relying-party/me", sunset: "2027-12-01" } });
  const get = (now: number, path: string) => ask(openTestWorld(moved, { now }), { key: "active", path });
  const sunset = Date.parse("2027-12-01T00:00:00Z");

  test.each([
    ["before", june - 1, 200, 404],
    ["from its date on", june, 200, 200],
    ["until its sunset", sunset - 1, 200, 200],
    ["at its sunset", sunset, 404, 200],
  ])("responds %s", (_, now, old, fresh) => {
    expect([get(now, mePath).status, get(now, "/v2/relying-party/me").status]).toEqual([old, fresh]);
  });

  test("has Deprecation (RFC 9745), Sunset (RFC 8594) and Link, and the new path has none", () => {
    const headers = (path: string) => Object.fromEntries(get(june, path).headers);
    expect(headers(mePath)).toMatchObject({
      Deprecation: "@1811808000",
      Sunset: "Wed, 01 Dec 2027 00:00:00 GMT",
      Link: '</v2/relying-party/me>; rel="successor-version"',
    });
    expect(headers("/v2/relying-party/me").Deprecation).toBeUndefined();
    expect(Object.fromEntries(get(june - 1, mePath).headers).Deprecation).toBeUndefined();
  });

  test("shows in a request's details the scope that its endpoint requires", () => {
    const world = openTestWorld(moved, { now: june });
    ask(world, { key: "active", path: "/v2/relying-party/me" });
    const id = world.history.requests({ limit: 1 })[0]?.id ?? "";
    expect(requestDetails(world, id)).toMatchObject({ requiredScope: "attestations:read" });
  });

  test("is not suggested to those who call it after its sunset", () => {
    const world = openTestWorld(moved, { now: sunset });
    ask(world, { key: "active" });
    const examples = clientReport(world).advice.flatMap((one) => one.examples);
    expect(examples.map(({ path, didYouMean }) => [path, didYouMean])).toEqual([[mePath, null]]);
  });

  test("is among what comes, with its sunset", () => {
    const coming = listUpcoming(openTestWorld(moved, { now: june - day })).filter(
      ({ kind }) => kind === "api_changes",
    );
    expect(coming.map((one) => [one.at, one.text])).toEqual([
      ["2027-06-01T00:00:00.000Z", "Change announced"],
      ["2027-12-01T00:00:00.000Z", "Change announced: sunset of /v1/relying-party/me"],
    ]);
  });

  test("is reached through MSW on any host", async () => {
    const sandbox = openSandbox(moved, { now: new Date(june).toISOString() });
    const server = setupServer(...createHandlers(sandbox));
    server.listen();
    const response = await fetch("https://api.example/v2/relying-party/me", {
      headers: { "x-api-key": sandbox.secret("active") },
    }).finally(() => server.close());
    expect(response.status).toBe(200);
  });
});
