import { expect, test } from "vitest";
import {
  createSandbox,
  type Fault,
  parseScenario,
  type Sandbox,
  type Scenario,
  scenarioNames,
} from "../../src/index.js";
import type { ActionName } from "../../src/scenario/actions.js";
import { oneKey } from "../support/api-client.js";
import { frozenKeyStates } from "../support/faulty.js";
import { type ServedControl, serveControl } from "./client.js";

const mePath = "/v1/relying-party/me";
const callMe = (base: string, key: string) => fetch(base + mePath, { headers: { "x-api-key": key } });

// The state is read as a whole, without a dry run for each key.
const withoutVerdict = ({ explained, ends_at, next_request, ...key }: Record<string, unknown>) => key;

test("state has everything of its parts except a key's end and next request, and health has the version", async () => {
  const { ask, server } = await serveControl();
  const version = expect.stringMatching(/^\d+\.\d+\.\d+/);
  const now = "2026-03-02T09:00:00.000Z";
  const { started_at: startedAt, ...health } = (await ask("/health")).body;
  expect(health).toEqual({
    status: "ok",
    version,
    scenario: "key-states",
    seed: 1,
    now,
  });
  // Of the real clock.
  expect(Math.abs(Date.parse(startedAt) - Date.now())).toBeLessThan(600_000);
  const data = async (path: string) => (await ask(path)).body.data;
  const state = await data("/state");
  expect(state).toEqual({
    ...{
      scenario: "key-states",
      seed: 1,
      changed: false,
      clock: { now: "2026-03-02T09:00:00.000Z", frozen: true },
    },
    ...{ assumptions: await data("/assumptions"), faults: await data("/faults") },
    ...{ organizations: await data("/organizations"), keys: (await data("/keys")).map(withoutVerdict) },
  });
  expect(await data("/clock")).toEqual(state.clock);
  const states = server.sandbox.keys.list().map(({ ref, state: is }) => ({ ref, state: is }));
  expect(state.keys).toMatchObject(states);
  for (const key of state.keys) expect(withoutVerdict(await data(`/keys/${key.ref}`))).toEqual(key);
  for (const one of state.organizations) expect(await data(`/organizations/${one.ref}`)).toEqual(one);
});

test("the directory has each organization with its keys, up to a limit, and finds keys by words", async () => {
  const organizations = { empty: { type: "bank" as const } };
  const population = { organizations: 30, keys_per_organization: 4 };
  const { ask } = await serveControl({ scenario: { version: 1, organizations, population } });
  const read = async (query = "") => (await ask(`/directory${query}`)).body.data;
  const all = (await ask("/keys")).body.data;
  const keysOn = ({ sections }: { sections: { keys: object[] }[] }) => sections.flatMap(({ keys }) => keys);
  const whole = await read();
  expect(keysOn(whole)).toEqual(all);
  expect(whole.sections[0]).toMatchObject({ organization: { ref: "empty" }, keys: [] });
  const part = await read("?limit=7");
  expect([keysOn(part), part.matching, part.total, part.left]).toEqual([all.slice(0, 6), 120, 120, 114]);
  expect(part.sections.at(-1)).toMatchObject({ active: { test: 2, live: 2 } });
  const filtered = await read("?filter=ORGANIZATION-7+live+active");
  expect(keysOn(filtered)).toEqual(
    all.filter(({ ref }: { ref: string }) => /^organization-7-key-[24]$/.test(ref)),
  );
  expect(filtered).toMatchObject({ matching: 2, total: 120 });
  expect(await read("?filter=revoked")).toMatchObject({ sections: [], matching: 0 });
  await ask("/keys/organization-7-key-1/revoke", { method: "POST" });
  const [changed] = (await read("?filter=organization-7")).sections;
  expect(changed.active.test + changed.active.live).toBe(3);
  expect(await read("?filter=EMPTY")).toMatchObject({
    sections: [{ organization: { ref: "empty" }, keys: [] }],
    matching: 0,
  });
});

test("the directory says how many organizations without keys its limit leaves out", async () => {
  const population = { organizations: 30, keys_per_organization: 0 };
  const { ask } = await serveControl({ scenario: { version: 1, organizations: {}, population } });
  const read = async (query: string) => (await ask(`/directory?${query}`)).body.data;
  expect(await read("limit=20")).toMatchObject({ sections: { length: 20 }, left: 10 });
  expect(await read("limit=30")).toMatchObject({ sections: { length: 30 }, left: 0 });
  expect(await read("limit=5&filter=organization-1")).toMatchObject({ sections: { length: 5 }, left: 6 });
});

test("R32 the directory counts the keys that leave no room for another one, of which a retiring key is none", async () => {
  const scenario = parseScenario(`
version: 1
organizations:
  bank:
    type: bank
    live_access: approved
    keys:
      one: { environment: test }
      two: { environment: test }
      three: { environment: test }
      four: { environment: test }
      old: { environment: test, state: retiring, replaced_by: four }
      ended: { environment: test, state: expired }
      only-live: { environment: live }
`);
  const { ask } = await serveControl({ scenario });
  const active = async () => (await ask("/directory")).body.data.sections[0].active;
  const create = async () => {
    const json = { organization: "bank", environment: "test", name: "More" };
    return (await ask("/keys", { method: "POST", json })).status;
  };
  expect(await active()).toEqual({ test: 4, live: 1 });
  expect(await create()).toBe(201);
  expect(await active()).toEqual({ test: 5, live: 1 });
  expect(await create()).toBe(409);
});

test("a page of the directory reads no key that it does not list", async () => {
  const population = { organizations: 30, keys_per_organization: 4 };
  const { ask, sandbox } = await serveControl({ scenario: { version: 1, organizations: {}, population } });
  const last = sandbox.registry.key("organization-30-key-4");
  const { key } = last;
  let readings = 0;
  Object.defineProperty(last, "key", {
    get() {
      readings += 1;
      return key;
    },
  });
  const read = async (query: string) => (await ask(`/directory?limit=50${query}`)).body.data;
  expect([(await read("")).matching, readings]).toEqual([120, 0]);
  expect([(await read("&filter=organization-30")).matching, readings > 0]).toEqual([4, true]);
});

test("requests are listed by limit, outcome, fault, key and sender; R24 clearing them leaves the usage of the keys", async () => {
  const faults: Scenario["faults"] = [{ when: { requests: [3] }, then: { latency: "1ms" } }];
  const scenario = frozenKeyStates({ faults });
  const { server, ask } = await serveControl({ scenario });
  for (const ref of ["active", "revoked", "active"]) await callMe(server.url, server.sandbox.secret(ref));
  const all = (await ask("/requests")).body.data;
  expect(all).toHaveLength(3);
  const revoked = { key: "revoked", status: 401, code: "unauthorized", outcome: "401.revoked", fault: null };
  const fingerprint = expect.stringMatching(/^[0-9a-f]{12}$/);
  expect(all[1]).toMatchObject({ at: "2026-03-02T09:00:00.000Z", method: "GET", fingerprint, ...revoked });
  for (const [query, listed] of [
    ["key=active", [all[0], all[2]]],
    ["outcome=401.revoked", [all[1]]],
    ["outcome=fault.latency", [all[2]]],
    ["limit=1", [all[2]]],
    ["limit=1&key=active&outcome=200.test", [all[2]]],
    ["source=story", []],
  ] as const) {
    expect([query, (await ask(`/requests?${query}`)).body.data]).toEqual([query, listed]);
  }
  expect(await ask("/requests?key=nope")).toMatchObject({
    status: 404,
    body: { error: { code: "not_found" } },
  });
  expect((await ask("/requests", { method: "DELETE" })).status).toBe(204);
  expect((await ask("/requests")).body.data).toEqual([]);
  expect((await ask("/keys/active")).body.data.usage).toEqual({ this_minute: 2, today: 2 });
});

test.each([
  ["/requests?limit=1&limit=2", "limit"],
  ["/requests?outcome=401.revokd", "outcome"],
  ["/farmers?limit=1001", "limit"],
  ["/keys?limit=1001", "limit"],
  ["/organizations?limit=1001", "limit"],
  ["/directory?limit=1001", "limit"],
  ["/lifelines?limit=1001", "limit"],
  ["/report?format=yaml", "format"],
  ["/report?form=text", "form"],
])("%s is rejected with 422 and the field %s", async (path, field) => {
  const { ask } = await serveControl();
  const { status, body } = await ask(path);
  expect([status, body.error.code]).toEqual([422, "validation_failed"]);
  expect(Object.keys(body.error.details.fields)).toEqual([field]);
});

test("the clock is set, frozen and resumed", async () => {
  const { ask } = await serveControl();
  const put = async (json: object) => (await ask("/clock", { method: "PUT", json })).body.data;
  const midnight = { now: "2026-03-02T23:00:00.000Z", frozen: true };
  expect(await put({ now: "2026-03-03T00:00:00+01:00" })).toEqual(midnight);
  const frozen = [];
  for (const body of [{ frozen: false }, { frozen: true }, {}]) frozen.push((await put(body)).frozen);
  expect(frozen).toEqual([false, true, true]);
});

/** Sends calls such as `PUT /clock` in turn; returns whether the sandbox is then changed. */
async function isChangedBy({ ask }: ServedControl, calls: readonly Call[]): Promise<boolean> {
  for (const [line, json] of calls) {
    const [method, path] = line.split(" ") as [string, string];
    expect([line, (await ask(path, { method, json })).status]).toEqual([line, expect.toSatisfy(isSuccess)]);
  }
  return (await ask("/state")).body.data.changed;
}

type Call = readonly [line: string, json: object];
const isSuccess = (status: number) => status < 300;

const changes: Readonly<Record<ActionName | "clock", readonly Call[]>> = {
  create_key: [["POST /keys", { organization: "harvest-bank", environment: "test", name: "CI" }]],
  revoke: [["POST /keys/active/revoke", {}]],
  rotate: [["POST /keys/active/rotate", {}]],
  expire: [["POST /keys/active/expire", { expires: "1h" }]],
  organization: [["PATCH /organizations/harvest-bank", { status: "inactive" }]],
  faults: [["PUT /faults", { faults: [{ then: { status: 503 } }] }]],
  clock: [
    ["PUT /clock", { frozen: false }],
    ["PUT /clock", { now: "2026-03-02T09:00:00.001Z" }],
    ["POST /clock/advance", { by: "1s" }],
  ],
};

test.each(Object.values(changes).flat())(
  "after %s %j, the sandbox differs from its scenario's start, until a reset",
  async (...call) => {
    const control = await serveControl({ scenario: "key-states" });
    expect(await isChangedBy(control, [call])).toBe(true);
    expect(await isChangedBy(control, [["POST /reset", {}]])).toBe(false);
  },
);

test("requests, the steps of the story and of the timeline, and rejected changes are no difference from the start", async () => {
  const { ask, server } = await serveControl({ scenario: "rotation" });
  const post = (path: string, json = {}) => ask(path, { method: "POST", json });
  await callMe(server.url, server.sandbox.secret("replacement"));
  await post("/send", { key: "none" });
  await ask("/requests", { method: "DELETE" });
  expect((await post("/keys/none/revoke")).status).toBe(404);
  while (!(await ask("/story")).body.data.over) await post("/story/next");
  expect((await ask("/state")).body.data.changed).toBe(false);
});

test("faults are replaced with the next request, and GET's result can be PUT again", async () => {
  const busy: Fault = { when: { key: "active", every: 2 }, then: { status: 503 } };
  const { ask, server } = await serveControl({
    scenario: frozenKeyStates({ faults: [busy] }),
  });
  const call = async () => (await callMe(server.url, server.sandbox.secret("active"))).status;
  expect((await ask("/faults")).body).toEqual({ data: [{ ...busy, requests_matched: 0 }] });
  expect([await call(), await call()]).toEqual([200, 503]);
  const then = { latency: { min: "1ms", max: "2ms" }, status: 504 };
  const put = (faults: unknown) => ask("/faults", { method: "PUT", json: { faults } });
  const { body } = await put([{ when: { after: "10m" }, then }]);
  expect(body).toEqual({ data: [{ when: { after: "2026-03-02T09:10:00.000Z" }, then }] });
  expect((await put(body.data)).body).toEqual(body);
  expect(await call()).toBe(200);
  await ask("/clock/advance", { method: "POST", json: { by: "10m" } });
  expect(await call()).toBe(504);
  // The control plane is not affected.
  await put([{ then: { hang: true } }]);
  await put([]);
  expect(await call()).toBe(200);
});

test("a fault that can hit no later request is no active one: for /faults and for the lifelines", async () => {
  const { ask, server } = await serveControl({ scenario: "key-states", frozen: true });
  const once = { when: { key: "active", requests: [1] }, then: { status: 503 } };
  const untilLater = { when: { key: "live", until: "10m" }, then: { status: 503 } };
  await ask("/faults", { method: "PUT", json: { faults: [once, untilLater] } });
  expect((await ask("/faults")).body.data).toHaveLength(2);
  await callMe(server.url, server.sandbox.secret("active"));
  server.sandbox.clock.advance("10m");
  expect((await ask("/faults")).body.data).toEqual([]);
  const { lifelines } = (await ask("/lifelines?key=active")).body.data;
  expect(lifelines[0].phases.at(-1)).toMatchObject({ outcome: "200.test", may_fault: false });
});

test("every bundled scenario is started by its name, and reset starts the last one again", async () => {
  const { ask } = await serveControl();
  const names = (await ask("/scenarios")).body.data.map(({ name }: { name: string }) => name);
  expect(names.toSorted()).toEqual([...scenarioNames]);
  for (const name of [...names, "rotation"]) {
    const { body } = await ask("/scenario", { method: "PUT", json: { name } });
    expect([body.data.scenario, (await ask("/health")).body.scenario]).toEqual([name, name]);
  }
  await ask("/keys/replacement/revoke", { method: "POST" });
  expect((await ask("/reset", { method: "POST" })).body.data.scenario).toBe("rotation");
  expect((await ask("/keys/replacement")).body.data.state).toBe("active");
});

const other = `version: 1
seed: 3
clock: { now: 2026-05-01T00:00:00Z, frozen: false }
organizations: { a-bank: { type: bank, keys: { main: { environment: test } } } }
`;

test("the options of startServer hold for later scenarios and resets", async () => {
  const now = "2026-04-01T12:00:00.000Z";
  const { ask } = await serveControl({ seed: 7, now: new Date(now), profile: "varied" });
  const put = { method: "PUT", headers: { "content-type": "application/yaml" }, bytes: other };
  expect((await ask("/scenario", put)).body.data).toMatchObject({ seed: 7, now });
  expect((await ask("/reset", { method: "POST" })).body.data).toMatchObject({ seed: 7, now });
  const varied = { assumptions: { profile: "varied" }, clock: { frozen: true, now } };
  expect((await ask("/state")).body.data).toMatchObject(varied);
});

test("a later scenario has its own clock unless an option sets it", async () => {
  const { ask } = await serveControl({ scenario: "active", seed: 11, frozen: false });
  const put = { method: "PUT", headers: { "content-type": "application/yaml" }, bytes: other };
  const its = { seed: 11, now: expect.stringMatching(/^2026-05-01T00:0/) };
  expect((await ask("/scenario", put)).body.data).toMatchObject(its);
});

test("farmers come page by page and by id, of the sandbox's scenario and seed", async () => {
  const population = { organizations: 2, farmers: 1500, locale: "fr" } as const;
  const scenario = { version: 1, clock: { now: "2026-03-02T09:00:00Z" }, population } as const;
  const { farmers } = createSandbox({ scenario });
  const { ask } = await serveControl({ scenario });
  expect((await ask("/farmers")).body).toEqual({ data: farmers.list(), total: 1500 });
  const page = await ask("/farmers?offset=1490&limit=1000");
  expect(page.body).toEqual({ data: farmers.list({ offset: 1490 }), total: 1500 });
  expect((await ask("/farmers?offset=1500")).body).toEqual({ data: [], total: 1500 });
  const last = farmers.at(1499);
  expect((await ask(`/farmers/${last.farmer_id}`)).body).toEqual({ data: last });
  for (const id of ["farmer_0000000000000000", "x"]) expect((await ask(`/farmers/${id}`)).status).toBe(404);

  const { ask: askOther } = await serveControl({ scenario, seed: 5 });
  const own: Sandbox = createSandbox({ scenario, seed: 5 });
  expect((await askOther("/farmers?limit=2")).body.data).toEqual(own.farmers.list({ limit: 2 }));
  const { data } = (await askOther("/organizations")).body;
  expect(data.map(({ id }: { id: string }) => id)).toEqual(own.organizations.list().map(({ id }) => id));
});

test.each([
  "/nothing",
  "/state/x",
  "/Keys",
  "//state",
  "/%2e%2e/state",
  "/keys/%zz",
  "/keys/active%2Frevoke",
  "/keys/__proto__",
  `/keys/${"x".repeat(60_000)}`,
])("GET %s gets the API's error body", async (path) => {
  const { ask } = await serveControl();
  const { status, body } = await ask(path);
  expect([400, 404, 405]).toContain(status);
  expect(["bad_request", "not_found", "method_not_allowed"]).toContain(body.error.code);
});

test("a slash at the end makes no difference, and refs may be percent-encoded", async () => {
  const { ask } = await serveControl();
  expect((await ask("/keys/")).body).toEqual((await ask("/keys")).body);
  const encoded = [..."wrong-scope"].map((letter) => `%${letter.charCodeAt(0).toString(16)}`).join("");
  expect((await ask(`/keys/${encoded}/revoke`, { method: "POST" })).body.data.key.state).toBe("revoked");
  expect((await ask("/keys/wrong-scope/")).body.data.state).toBe("revoked");
});

test("without a control plane its paths are unknown paths of the API", async () => {
  const { server } = await serveControl({ control: false });
  expect(server.controlUrl).toBeUndefined();
  for (const path of ["/__sandbox/health", "/__sandbox", "/__sandbox/revision"]) {
    const response = await fetch(server.url + path);
    expect([path, response.status, (await response.json()).error.code]).toEqual([path, 404, "not_found"]);
  }
});

test("paths that only start like the control plane belong to the API", async () => {
  const { server } = await serveControl();
  for (const path of ["/__sandboxes", "/__sandbox-x/health", "/__SANDBOX/health", "/%5f_sandbox/health"]) {
    expect((await fetch(server.url + path)).headers.get("x-frame-options")).toBeNull();
  }
});

test("the Date of a response comes from the sandbox's clock", async () => {
  const { server } = await serveControl({
    scenario: oneKey({}, { clock: { now: "2031-05-06T07:08:09.900Z", frozen: true } }),
  });
  const dateOf = async () => (await callMe(server.url, "none")).headers.get("date");
  expect(await dateOf()).toBe("Tue, 06 May 2031 07:08:09 GMT");
  server.sandbox.clock.advance("51s");
  expect(await dateOf()).toBe("Tue, 06 May 2031 07:09:00 GMT");
});

test.each(["90000ms", "90s"])(
  "the clock moves by %s, as the first tests of init and the packages write it",
  async (by) => {
    const { ask } = await serveControl({ now: "2026-03-02T09:00:00Z", frozen: true });
    const { data } = (await ask("/clock/advance", { method: "POST", json: { by } })).body;
    expect(data.now).toBe("2026-03-02T09:01:30.000Z");
  },
);
