import { expect, test } from "vitest";
import { authorizationChecks } from "../../src/api/authorize.js";
import { endpointsIn } from "../../src/api/endpoints.js";
import { allOutcomesOf } from "../../src/report/report.js";
import { isFault } from "../../src/rules/fault-effects.js";
import { faultOutcomeIds } from "../../src/rules/outcomes.js";
import { bundledScenarios } from "../../src/scenario/bundled.js";
import { serveControl } from "./client.js";

const names = ["path", "method", ...authorizationChecks.map(({ name }) => name)];

interface Check {
  readonly name: string;
  readonly exits: readonly string[];
}

test("the request checks have each outcome of the API once, as an exit of a check or as a success", async () => {
  for (const scenario of ["key-states", "announced-endpoints"] as const) {
    const { ask } = await serveControl({ scenario });
    const { checks, successes, faults } = (await ask("/request-checks")).body.data;
    expect(checks.map(({ name }: Check) => name)).toEqual(names);
    const outcomes = checks.flatMap(({ exits }: Check) => exits).concat(successes);
    const listed = allOutcomesOf(endpointsIn(bundledScenarios[scenario])).map(({ id }) => id);
    expect(outcomes.toSorted()).toEqual(listed.filter((outcome) => !isFault(outcome)).toSorted());
    expect(faults).toEqual(faultOutcomeIds);
  }
});

test("a key is listed with what its next request gets, and why", async () => {
  const { ask, server } = await serveControl({ scenario: "key-states", frozen: true });
  const { data } = (await ask("/keys")).body;
  const sentences = data.map(({ ref, next_request }: Listed) => [ref, next_request.sentence]);
  expect(Object.fromEntries(sentences)).toMatchObject({
    ...{ active: "200", expired: "401 expired since 2026-03-01T09:00:00Z" },
    "wrong-scope": "403 insufficient_scope: needs attestations:read, has consents:read",
    "live-not-approved": "403 live_access_not_approved: live access is not approved",
    "organization-inactive": "403 access_denied: organization is inactive",
    ...{ "rate-limited": "429 always: allows 0 requests a day", "rate-limited-minute": "429 until 09:01:00" },
  });
  for (const { ref, next_request } of data) {
    expect((await ask(`/keys/${ref}`)).body.data.next_request).toEqual(next_request);
    expect(next_request.until, ref).toBe(ref === "rate-limited-minute" ? "2026-03-02T09:01:00.000Z" : null);
    const headers = { "x-api-key": server.sandbox.secret(ref) };
    const { status } = await fetch(`${server.url}/v1/relying-party/me`, { headers });
    expect(status, ref).toBe(next_request.status);
  }
  const when = { key: "active" };
  await ask("/faults", { method: "PUT", json: { faults: [{ when, then: { status: 503 } }] } });
  expect((await ask("/keys/active")).body.data.next_request.sentence).toBe("200, or a fault");
});

test("a key is shown with what its next request to an endpoint gets", async () => {
  const { ask } = await serveControl({ scenario: "announced-endpoints" });
  const next = async (endpoint: string) => (await ask(`/keys/statistics?endpoint=${endpoint}`)).body;
  expect((await next("listAttestations")).data.next_request.outcome).toBe("200.listAttestations");
  expect((await next("createConsentRequest")).data.next_request.outcome).toBe("403.insufficient_scope");
  expect((await next("createConsent")).error.code).toBe("not_found");
});

test("R22 a date in Retry-After is the second after the reset that the list of keys has", async () => {
  const scenario = { ...bundledScenarios["key-states"], assumptions: { retry_after: "date" } } as const;
  const { ask, server } = await serveControl({ scenario, now: "2026-03-02T09:00:00.250Z" });
  const { next_request } = (await ask("/keys/rate-limited-minute")).body.data;
  expect(next_request.until).toBe("2026-03-02T09:01:00.000Z");
  const headers = { "x-api-key": server.sandbox.secret("rate-limited-minute") };
  const rejected = await fetch(`${server.url}/v1/relying-party/me`, { headers });
  expect(rejected.headers.get("retry-after")).toBe("Mon, 02 Mar 2026 09:01:01 GMT");
});

interface Listed {
  readonly ref: string;
  readonly next_request: {
    readonly status: number;
    readonly sentence: string;
    readonly until: string | null;
  };
}
