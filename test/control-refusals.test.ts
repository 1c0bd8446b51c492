import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { type Asking, expectUnchanged, serveControl } from "./support/control-client.js";
import { description } from "./support/control-description.js";
import { validYaml, type Write, writeNames, writesFor } from "./support/control-writes.js";

const newKey = {
  organization: "harvest-bank",
  environment: "test",
  name: "CI",
};
const yaml = { "content-type": "application/yaml" };
const megabyte = 1024 * 1024;

interface Refused {
  readonly title: string;
  readonly method: string;
  readonly path: string;
  readonly asking: Asking;
  readonly status: number;
  readonly code: string;
  /** Fields by their paths, and what is said of each. */
  readonly fields?: Readonly<Record<string, RegExp>>;
}

function invalid(
  title: string,
  call: string,
  json: unknown,
  fields: Readonly<Record<string, RegExp>>,
): Refused {
  const [method, path] = call.split(" ") as [string, string];
  return {
    title,
    method,
    path,
    asking: { json },
    status: 422,
    code: "validation_failed",
    fields,
  };
}

function refused(title: string, call: string, json: unknown, status: number, code: string): Refused {
  const [method, path] = call.split(" ") as [string, string];
  return { title, method, path, asking: { json }, status, code };
}

const create = "POST /keys";
const rotate = "POST /keys/active/rotate";
const scenario = "PUT /scenario";
const instance = "POST /instances";

const bodies: readonly Refused[] = [
  invalid("a misspelt field", create, { ...newKey, scope: [] }, { scope: /did you mean "scopes"/ }),
  invalid(
    "a field in camelCase",
    rotate,
    { overlapMinutes: 5 },
    { overlapMinutes: /did you mean "overlap_minutes"/ },
  ),
  invalid(
    "a misspelt field inside another",
    create,
    { ...newKey, limits: { per_minuet: 5 } },
    { "limits.per_minuet": /did you mean "per_minute"/ },
  ),
  invalid(
    "a misspelt field that is required",
    create,
    { ...newKey, name: undefined, naem: "CI" },
    { naem: /did you mean "name"/ },
  ),
  invalid(
    "a field that nothing resembles",
    rotate,
    { colour: "blue" },
    { colour: /known: overlap_minutes and as/ },
  ),
  invalid("a field where none is known", "POST /reset", { seed: 1 }, { seed: /no fields are known/ }),
  invalid(
    "a field where no body is taken",
    "DELETE /requests",
    { key: "active" },
    { key: /no fields are known/ },
  ),
  invalid(
    "a field named as what JavaScript objects have",
    "PUT /clock",
    JSON.parse('{"__proto__":{"now":1},"constructor":1}'),
    {
      ["__proto__"]: /unknown field/,
      constructor: /unknown field/,
    },
  ),
  invalid(
    "several mistakes",
    create,
    { organization: 7, environment: "sandbox", name: "" },
    {
      organization: /text, not 7/,
      environment: /did you mean test/,
      name: /empty/,
    },
  ),
  invalid("nothing", create, {}, { organization: /missing/, environment: /missing/, name: /missing/ }),
  invalid("null in a field", create, { ...newKey, limits: null }, { limits: /empty/ }),
  invalid("null in a text", create, { ...newKey, name: null }, { name: /empty/ }),
  invalid("a list where a text goes", create, { ...newKey, name: ["CI"] }, { name: /not a list/ }),
  invalid(
    "a text where a list goes",
    create,
    { ...newKey, scopes: "attestations:read" },
    { scopes: /list, not the text/ },
  ),
  invalid("a number in a list of texts", create, { ...newKey, scopes: [7] }, { "scopes.0": /not 7/ }),
  invalid(
    "a text where a number goes",
    create,
    { ...newKey, limits: { per_day: "5" } },
    { "limits.per_day": /without quotes/ },
  ),
  invalid(
    "a fraction where a whole number goes",
    create,
    { ...newKey, limits: { per_day: 1.5 } },
    { "limits.per_day": /whole number/ },
  ),
  invalid(
    "an organization that there is not",
    create,
    { ...newKey, organization: "harvest-bnk" },
    { organization: /Did you mean "harvest-bank"/ },
  ),
  invalid(
    "a text for an overlap",
    rotate,
    { overlap_minutes: "60" },
    { overlap_minutes: /is a number, not the text "60"/ },
  ),
  invalid(
    "a switch for an overlap",
    rotate,
    { overlap_minutes: true },
    { overlap_minutes: /is a number, not true/ },
  ),
  invalid("null for an overlap", rotate, { overlap_minutes: null }, { overlap_minutes: /empty/ }),
  invalid(
    "an API key for a name",
    create,
    { ...newKey, name: "SVC_test_sbx0" },
    { name: /must not hold an API key/ },
  ),
  invalid(
    "a status that there is not",
    "PATCH /organizations/harvest-bank",
    { status: "suspended" },
    { status: /inactive/ },
  ),
  invalid(
    "a text for a switch",
    "PATCH /organizations/harvest-bank",
    { sandbox_access: "no" },
    { sandbox_access: /write false/ },
  ),
  invalid("a time without a zone", "PUT /clock", { now: "2027-01-01T00:00:00" }, { now: /zone/ }),
  invalid("a day that there is not", "PUT /clock", { now: "2027-02-30T00:00:00Z" }, { now: /./ }),
  invalid(
    "a time that no clock shows",
    "PUT /clock",
    { now: "9999-12-31T23:59:59Z" },
    { now: /goes no further/ },
  ),
  invalid("a length of time in words", "POST /clock/advance", { by: "an hour" }, { by: /90s, 10m/ }),
  invalid(
    "a length of time beyond all numbers",
    "POST /clock/advance",
    { by: `${"9".repeat(30)}d` },
    { by: /./ },
  ),
  invalid(
    "a length of time beyond the clock",
    "POST /clock/advance",
    { by: "9000000d" },
    { by: /goes no further/ },
  ),
  invalid("no length of time", "POST /clock/advance", {}, { by: /missing/ }),
  invalid(
    "an assumption that there is not",
    "PUT /assumptions",
    { rate_limit: "x" },
    { rate_limit: /unknown field/ },
  ),
  invalid(
    "a profile that there is not",
    "PUT /assumptions",
    { profile: "minimum" },
    { profile: /did you mean minimal/ },
  ),
  invalid(
    "a needed scope that is none",
    "PUT /assumptions",
    { me_scope: "farms:read" },
    { me_scope: /not one of scopes/ },
  ),
  invalid("no scenario", scenario, {}, { name: /missing/ }),
  invalid("a YAML text sent as JSON", scenario, validYaml, {
    body: /not the text/,
  }),
  invalid(
    "an instance of a scenario that there is not",
    instance,
    { scenario: "key-state" },
    { scenario: /Did you mean "key-states"/ },
  ),
  invalid(
    "an instance of a scenario that is none",
    instance,
    { scenario: { version: 1, organizations: { bank: { tpye: "bank" } } } },
    {
      "scenario.organizations.bank.tpye": /did you mean "type"/,
    },
  ),
  invalid("an instance of a number", instance, { scenario: 5 }, { scenario: /not 5/ }),
  invalid("an instance with a seed below zero", instance, { seed: -1 }, { seed: /0 or more/ }),
  invalid(
    "an instance with a profile that there is not",
    instance,
    { profile: "typcal" },
    { profile: /did you mean typical/ },
  ),
  invalid("an instance that starts at no time", instance, { now: "tomorrow" }, { now: /./ }),
  refused("R29 no scopes", create, { ...newKey, scopes: [] }, 422, "scopes_required"),
  refused(
    "R29 a scope that there is not",
    create,
    { ...newKey, scopes: ["farms:read"] },
    422,
    "unknown_scope",
  ),
  refused("a ref that is taken", create, { ...newKey, ref: "active" }, 409, "name_taken"),
  refused(
    "R31 a live key without approval",
    create,
    { ...newKey, organization: "amberfield-mutual", environment: "live" },
    403,
    "live_access_not_approved",
  ),
  refused(
    "R39 an overlap that is too long",
    rotate,
    { overlap_minutes: 10_081 },
    422,
    "overlap_out_of_range",
  ),
  refused("R39 an overlap below zero", rotate, { overlap_minutes: -1 }, 422, "overlap_out_of_range"),
  refused("a replacement's ref that is taken", rotate, { as: "live" }, 409, "name_taken"),
  refused("R42 rotating a revoked key", "POST /keys/revoked/rotate", {}, 409, "key_not_active"),
  refused("R42 revoking an expired key", "POST /keys/expired/revoke", {}, 409, "key_not_active"),
  refused("a key that there is not", "POST /keys/actve/revoke", {}, 404, "not_found"),
  refused(
    "an organization that there is not in the path",
    "PATCH /organizations/nobody",
    {},
    404,
    "not_found",
  ),
  refused("the past", "PUT /clock", { now: "2020-01-01T00:00:00Z", frozen: false }, 422, "clock_backwards"),
  refused("going backwards", "POST /clock/advance", { by: "-1m" }, 422, "clock_backwards"),
  refused("a scenario that there is not", scenario, { name: "key-state" }, 404, "not_found"),
  refused("a file", scenario, { name: "./package.json" }, 404, "not_found"),
  refused("an instance that there is not", "DELETE /instances/nothing", undefined, 404, "not_found"),
];

test.each(bodies)("$title is refused to $method $path, and nothing changes", async (row) => {
  const control = await serveControl();
  const { status, body } = await expectUnchanged(control, () =>
    control.ask(row.path, { ...row.asking, method: row.method }),
  );
  expect([status, body.error.code]).toEqual([row.status, row.code]);
  if (row.fields === undefined) return;
  expect(Object.keys(body.error.details.fields).sort()).toEqual(Object.keys(row.fields).sort());
  for (const [path, said] of Object.entries(row.fields))
    expect(body.error.details.fields[path]).toMatch(said);
});

test("what was probably meant is said of refs and scenarios in the path", async () => {
  const { ask } = await serveControl();
  expect((await ask("/keys/actve")).body.error).toMatchObject({
    message: expect.stringContaining('Did you mean "active"?'),
    details: {
      kind: "key",
      ref: "actve",
      known: expect.arrayContaining(["active"]),
    },
  });
  const { error } = (await ask("/scenario", { method: "PUT", json: { name: "rotaton" } })).body;
  expect(error).toMatchObject({
    message: expect.stringContaining('Did you mean "rotation"?'),
    details: { known: expect.arrayContaining(["rotation"]) },
  });
});

test("a scenario with mistakes is refused with line and column of each, and the world goes on", async () => {
  const control = await serveControl();
  const put = (bytes: string) =>
    expectUnchanged(control, () => control.ask("/scenario", { method: "PUT", bytes, headers: yaml }));
  const { status, body } = await put(
    "version: 1\norganizations:\n  bank:\n    tpye: bank\n    keys:\n      main: { environment: prod }\n",
  );
  expect([status, body.error.code]).toEqual([422, "validation_failed"]);
  expect(body.error.details.fields).toEqual({
    "organizations.bank.tpye": expect.stringMatching(/^line 4, column 5: .*did you mean "type"/),
    "organizations.bank.keys.main.environment": expect.stringMatching(/^line 6, column 28: .*live/),
  });
  for (const [bytes, said] of [
    ["version: 1\norganizations: [", /^line \d+, column \d+: /],
    ["", /./],
    ["- 1", /^line 1, column 1: /],
    ["version: 1\nextends: ../package.json\n", /^line 2, column \d+: /],
    ["version: 1\n\u0000", /^line 2, column 1: /],
  ] as const) {
    const answer = await put(bytes);
    expect([answer.status, answer.body.error.code]).toEqual([422, "validation_failed"]);
    expect(Object.values(answer.body.error.details.fields)[0]).toMatch(said);
  }
});

test("several mistakes at one place are all told", async () => {
  const { ask } = await serveControl();
  const bytes =
    "version: 1\norganizations: { bank: { type: bank } }\norganizations: { bank: { type: bnak } }\n";
  const { body } = await ask("/scenario", {
    method: "PUT",
    bytes,
    headers: yaml,
  });
  const told = Object.values(body.error.details.fields as Record<string, string>).join("; ");
  const shown = [...(body.error.message as string).matchAll(/^request body:(\d+):(\d+): /gm)];
  expect(shown.length).toBeGreaterThan(0);
  for (const [, line, column] of shown) expect(told).toContain(`line ${line}, column ${column}: `);
});

test("YAML is taken where a scenario goes, whichever of its types it has", async () => {
  const { ask } = await serveControl();
  for (const type of ["application/yaml", "application/x-yaml", "text/yaml; charset=utf-8", "TEXT/X-YAML"]) {
    const { status, body } = await ask("/scenario", {
      method: "PUT",
      bytes: validYaml,
      headers: { "content-type": type },
    });
    expect([status, body.data.scenario]).toEqual([200, "Sent"]);
  }
  expect((await ask("/organizations")).body.data).toMatchObject([{ ref: "bank", type: "bank" }]);
  await ask("/reset", { method: "POST" });
  expect((await ask("/health")).body.scenario).toBe("Sent");
});

describe.each(writeNames.map((name, index) => ({ name, index })))("$name", ({ index }) => {
  const open = async () => {
    const control = await serveControl();
    const { id } = (await control.ask("/instances", { method: "POST" })).body.data;
    return { control, write: writesFor(id)[index] as Write };
  };
  const takesBody = writesFor("")[index]?.method !== "DELETE";

  test.each([
    "text/plain",
    "text/plain;charset=UTF-8",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "application/octet-stream",
    "application/json, text/plain",
    "application/jsonx",
    "text/json",
  ])("a body of the type %s gets 415, and nothing changes", async (type) => {
    const { control, write } = await open();
    const bytes = JSON.stringify(write.json ?? {});
    const { status, body } = await expectUnchanged(control, () =>
      control.ask(write.path, {
        method: write.method,
        bytes,
        headers: { "content-type": type },
      }),
    );
    expect([status, body.error.code]).toEqual([415, "unsupported_media_type"]);
  });

  test("a body of no type gets 415, and so does one in another charset or compressed in a way nobody knows", async () => {
    const { control, write } = await open();
    const bytes = JSON.stringify(write.json ?? {});
    const json = { "content-type": "application/json" };
    for (const headers of [
      {},
      { "content-type": "" },
      { "content-type": "application/json; charset=latin1" },
      { ...json, "content-encoding": "zip" },
    ]) {
      const { status, body } = await expectUnchanged(control, () =>
        control.ask(write.path, { method: write.method, bytes, headers }),
      );
      expect([status, body.error.code]).toEqual([415, "unsupported_media_type"]);
    }
  });

  test("no JSON gets 400, and nothing changes", async () => {
    const { control, write } = await open();
    const headers = { "content-type": "application/json" };
    for (const bytes of ["{", "{]", '{"a":1}}', "undefined", "{'a':1}", '{"a":1,}', "\uFEFF{", "NaN"]) {
      const { status, body } = await expectUnchanged(control, () =>
        control.ask(write.path, { method: write.method, bytes, headers }),
      );
      expect([bytes, status, body.error.code]).toEqual([bytes, 400, "bad_request"]);
    }
  });

  test("JSON that is no object gets 422, and nothing changes", async () => {
    const { control, write } = await open();
    const headers = { "content-type": "application/json" };
    for (const bytes of ["null", "[]", "5", "true", '"text"', JSON.stringify(validYaml), "[{}]"]) {
      const { status, body } = await expectUnchanged(control, () =>
        control.ask(write.path, { method: write.method, bytes, headers }),
      );
      expect([bytes, status, body.error.code]).toEqual([bytes, 422, "validation_failed"]);
      expect(Object.keys(body.error.details.fields)).toEqual(["body"]);
    }
  });

  test("more than a megabyte gets 413, also when it comes compressed, and nothing changes", async () => {
    const { control, write } = await open();
    const headers = write.headers ?? { "content-type": "application/json" };
    const long = `{"name":"${"x".repeat(megabyte)}"}`;
    const compressed = { ...headers, "content-encoding": "gzip" };
    for (const sent of [
      { bytes: long, headers },
      { bytes: gzipSync(long.repeat(20)), headers: compressed },
    ]) {
      const { status, body } = await expectUnchanged(control, () =>
        control.ask(write.path, { method: write.method, ...sent }),
      );
      expect([status, body.error.code]).toEqual([413, "bad_request"]);
    }
  });

  test("a body of a megabyte is read", async () => {
    const { control, write } = await open();
    const bytes = `{"x":"${"x".repeat(megabyte - 8)}"}`;
    const headers = { "content-type": "application/json" };
    const { status } = await control.ask(write.path, {
      method: write.method,
      bytes,
      headers,
    });
    expect(status).toBe(422);
  });

  test.runIf(takesBody)("nothing at all is an empty object", async () => {
    const { control, write } = await open();
    const { status } = await control.ask(write.path, { method: write.method });
    const asEmpty = await (await open()).control.ask(write.path, {
      method: write.method,
      json: {},
    });
    expect(status).toBe(asEmpty.status);
    expect([200, 201, 422]).toContain(status);
  });
});

test("a write without a body needs no type", async () => {
  const { ask } = await serveControl();
  for (const [method, path, status] of [
    ["POST", "/keys/active/rotate", 201],
    ["POST", "/keys/live/revoke", 200],
    ["DELETE", "/requests", 204],
    ["POST", "/reset", 200],
    ["POST", "/instances", 201],
  ] as const) {
    expect([path, (await ask(path, { method })).status]).toEqual([path, status]);
  }
});

const methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND", "QUERY"];

test.each(
  Object.keys(description.paths),
)("%s takes the methods that are described and no other", async (path) => {
  const control = await serveControl();
  const { id } = (await control.ask("/instances", { method: "POST" })).body.data;
  const described = Object.keys(description.paths[path] ?? {}).flatMap((verb) =>
    verb === "get" ? ["GET", "HEAD"] : [verb.toUpperCase()],
  );
  const real = path
    .replace("/__sandbox", "")
    .replace("organizations/{ref}", "organizations/harvest-bank")
    .replace("{ref}", "active")
    .replace("{id}", id);
  for (const method of methods.filter((one) => !described.includes(one))) {
    // Node 20 does not know QUERY and does not send it.
    if (method === "QUERY" && !(await import("node:http")).METHODS.includes("QUERY")) continue;
    const { status, headers, body } = await expectUnchanged(control, () => control.ask(real, { method }));
    expect([method, status, headers.allow]).toEqual([method, 405, described.join(", ")]);
    if (method !== "HEAD") expect(body.error.code).toBe("method_not_allowed");
  }
});
