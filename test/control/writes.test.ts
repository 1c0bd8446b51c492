import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { controlBodies } from "../../src/scenario/format/inputs.js";
import { fieldsOf } from "../../src/schema/shape.js";
import { httpErrors } from "../../src/server/control/control-errors.js";
import { continued, snapshot } from "../support/continued.js";
import { runs } from "../support/property-seed.js";
import { methodsByPath, realPath } from "./calls.js";
import { expectUnchanged, type ServedControl, serveControl } from "./client.js";
import { acceptedWrites, newKey, validYaml, type Write, writeNames } from "./writes.js";

const json = { "content-type": "application/json" };

test.each(writeNames.map((name, index) => [name, index] as const))(
  "R33 %s is accepted only from an administrator, and only as JSON",
  async (_name, index) => {
    const control = await serveControl();
    const { path, ...write } = acceptedWrites[index] as Write;
    const rejected = async (headers: object, code: string) => {
      const send = () => control.ask(path, { ...write, headers: { ...write.headers, ...headers } });
      expect((await expectUnchanged(control, send)).body.error.code).toBe(code);
    };
    await rejected({ "x-sandbox-actor": "member" }, "not_an_administrator");
    await rejected({ "x-sandbox-actor": "owner" }, "validation_failed");
    const plain = { method: write.method, bytes: "{}", headers: { "content-type": "text/plain" } };
    const { status } = await expectUnchanged(control, () => control.ask(path, plain));
    expect(status).toBe(415);
    expect((await control.ask(path, write)).status).toBeLessThan(300);
  },
);

describe("R33 the actor", () => {
  test("a member is rejected whatever he sends, before anything is read", async () => {
    const control = await serveControl();
    const headers = { "x-sandbox-actor": "member" };
    for (const asking of [{ json: { seeds: 1 } }, { bytes: "{" }, { bytes: "x", type: "text/plain" }]) {
      const { type = "application/json", ...body } = asking as { type?: string };
      const sent = { method: "POST", headers: { ...headers, "content-type": type }, ...body };
      const { status, body: shown } = await control.ask("/reset", sent);
      expect([status, shown.error.code]).toEqual([403, "not_an_administrator"]);
    }
  });

  test("is administrator or member, once, and a member may read", async () => {
    const control = await serveControl();
    expect((await control.ask("/state", { headers: { "x-sandbox-actor": "member" } })).status).toBe(200);
    for (const actor of ["Administrator", "", ["administrator", "member"]]) {
      const headers = { "x-sandbox-actor": actor };
      const { status, body } = await control.ask("/reset", { method: "POST", headers });
      expect([status, Object.keys(body.error.details.fields)]).toEqual([422, ["X-Sandbox-Actor"]]);
    }
  });
});

describe("the form of a body", () => {
  const path = "/organizations/harvest-bank";
  const patch = (control: ServedControl, bytes: string | Buffer, headers: Record<string, string>) =>
    expectUnchanged(control, () => control.ask(path, { method: "PATCH", headers, bytes }));

  test("415 for every other type, charset or encoding", async () => {
    const control = await serveControl();
    for (const headers of [
      "text/plain;charset=UTF-8",
      "application/x-www-form-urlencoded",
      "application/json, text/a",
      "",
      "application/jsonx",
      "application/json; charset=latin1",
      "application/yaml",
    ].map((type) => ({ "content-type": type }))) {
      const { status, body } = await patch(control, '{"status":"inactive"}', headers);
      expect([headers, status, body.error.code]).toEqual([headers, 415, "unsupported_media_type"]);
      expect(body.error.message).not.toContain("yaml");
    }
    expect((await patch(control, "{}", {})).status).toBe(415);
    expect((await control.ask("/requests", { method: "DELETE", bytes: "{}" })).status).toBe(415);
    expect((await fetch(`${control.server.controlUrl}/reset`, { method: "POST" })).status).toBe(415);
    expect((await patch(control, "{}", { ...json, "content-encoding": "zip" })).status).toBe(415);
  });

  test("400 for broken JSON, 422 for JSON that is not an object, 413 above 256 kB", async () => {
    const control = await serveControl();
    for (const bytes of ["{", '{"a":1}}', "\uFEFF{"]) {
      const { status, body } = await patch(control, bytes, json);
      expect([bytes, status, body.error.code]).toEqual([bytes, 400, "bad_request"]);
    }
    const deep = `{"status":${"[".repeat(100_000)}${"]".repeat(100_000)}}`;
    const nested = await patch(control, deep, json);
    expect([nested.status, nested.body.error.code]).toEqual([400, "bad_request"]);
    for (const bytes of ["null", "[]", "5"]) {
      const { status, body } = await patch(control, bytes, json);
      expect([bytes, status, Object.keys(body.error.details.fields)]).toEqual([bytes, 422, ["body"]]);
    }
    const longest = 256_000;
    const long = `{"name":"${"x".repeat(longest)}"}`;
    const { status, body } = await patch(control, long, json);
    expect([status, body.error.message]).toEqual([413, expect.stringContaining("longer than 256 kB")]);
    // The page of errors has what the table has.
    expect(httpErrors[body.error.code as "bad_request"].join(" ")).toMatch(/^400 .*\b413\b/);
    const compressed = gzipSync(long.repeat(20));
    expect((await patch(control, compressed, { ...json, "content-encoding": "gzip" })).status).toBe(413);
    expect((await patch(control, `{"x":"${"x".repeat(longest - 8)}"}`, json)).status).toBe(422);
  });

  test("YAML is accepted for a scenario, in each of its types", async () => {
    const { ask } = await serveControl();
    for (const type of ["application/yaml", "text/yaml; charset=utf-8", "TEXT/X-YAML"]) {
      const put = { method: "PUT", bytes: validYaml, headers: { "content-type": type } };
      expect((await ask("/scenario", put)).body.data.scenario).toBe("Sent");
    }
    await ask("/reset", { method: "POST" });
    expect((await ask("/health")).body.scenario).toBe("Sent");
  });
});

const create = "POST /keys";
const rotate = "POST /keys/active/rotate";
const organization = "PATCH /organizations/harvest-bank";

/** Writes that are rejected: with a code, or for the fields that are wrong. */
const rejected: readonly [call: string, json: unknown, ...says: string[]][] = [
  [create, { organization: 7, environment: "sandbox", name: "" }, "organization", "environment", "name"],
  [create, { ...newKey, name: undefined, naem: "CI" }, "naem"],
  [create, { ...newKey, limits: { per_minuet: 5, per_day: "5" } }, "limits.per_minuet", "limits.per_day"],
  [create, { ...newKey, scopes: [7] }, "scopes[0]"],
  [create, { ...newKey, organization: "harvest-bnk" }, "organization"],
  [rotate, { overlap: 5 }, "overlap"],
  [rotate, { overlap: "1.5h" }, "overlap"],
  [rotate, { overlap: null, overlapMinutes: 5 }, "overlap", "overlapMinutes"],
  ["POST /reset", { seed: "1", scenari: "rotation" }, "seed", "scenari"],
  ["DELETE /requests", { key: "active" }, "key"],
  [organization, { status: "suspended", sandbox_access: "no" }, "status", "sandbox_access"],
  ["PUT /clock", JSON.parse('{"__proto__":{"now":1},"constructor":1}'), "__proto__", "constructor"],
  ["PUT /clock", { now: "2027-01-01T00:00:00" }, "now"],
  ["PUT /clock", { now: "9999-12-31T23:59:59Z" }, "now"],
  ["POST /clock/advance", { by: "9000000d" }, "by"],
  ["POST /reset", { profile: "minimum" }, "profile"],
  ["PUT /faults", {}, "faults"],
  ["PUT /faults", { faults: [{ when: { key: "actve" }, then: { reset: true } }] }, "faults[0].when.key"],
  ["PUT /scenario", {}, "name"],
  ["PUT /scenario", validYaml, "body"],
  [create, { ...newKey, scopes: [] }, "422 scopes_required"],
  [create, { ...newKey, ref: "active" }, "409 name_taken"],
  [rotate, { overlap: "-1s" }, "422 overlap_out_of_range"],
  ["POST /keys/revoked/rotate", {}, "409 key_not_active"],
  ["POST /keys/actve/revoke", {}, "404 not_found"],
  ["PATCH /organizations/nowhere", {}, "404 not_found"],
  ["PUT /clock", { now: "2020-01-01T00:00:00Z", frozen: false }, "422 clock_backwards"],
  ["POST /clock/advance", { by: "-1m" }, "422 clock_backwards"],
  ["PUT /scenario", { name: "key-state" }, "404 not_found"],
];

test.each(rejected.map(([call, sent, ...says]) => [call, sent, says] as const))(
  "%s %j is rejected, and changes nothing: %j",
  async (call, sent, says) => {
    const control = await serveControl();
    const [method, path] = call.split(" ") as [string, string];
    const { status, body } = await expectUnchanged(control, () => control.ask(path, { method, json: sent }));
    const { code, details } = body.error;
    const isOfFields = `${status} ${code}` === "422 validation_failed";
    expect(isOfFields ? Object.keys(details.fields).sort() : [`${status} ${code}`]).toEqual([...says].sort());
  },
);

test("every path accepts its methods and no other", async () => {
  const control = await serveControl();
  const methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND"];
  await expectUnchanged(control, async () => {
    for (const [path, own] of Object.entries(methodsByPath)) {
      const described = own.flatMap((method) => (method === "GET" ? ["GET", "HEAD"] : [method]));
      for (const method of methods.filter((one) => !described.includes(one))) {
        const { status, headers } = await control.ask(realPath(path), { method });
        expect([path, method, status, headers.allow]).toEqual([path, method, 405, described.join(", ")]);
      }
    }
  });
});

// Values of fields: valid ones, nearly valid ones, and nonsense.
const value = fc.oneof(
  fc.constantFrom<unknown>(
    ..."harvest-bank test live CI active inactive approved none 1m -1m 0s 36500d key-states".split(" "),
    ..."2027-01-01T00:00:00Z 9999-12-24T00:00:00Z 06:00 minimal varied attestations:read farms:read".split(
      " ",
    ),
    ...["", " ", "x".repeat(300), "SVC_test_x", "__proto__", "\u0000", "\ud800", "💧"],
    ...[0, 1, -1, 0.5, 10_080, 10_081, 1e21, true, false, null],
    ["attestations:read"],
    ["consents:read", "consents:read"],
    [],
    [[]],
    {},
    { per_minute: 3 },
  ),
  fc.jsonValue({ maxDepth: 3 }),
);
const field = fc.constantFrom(
  ...new Set(Object.values(controlBodies).flatMap((shape) => Object.keys(fieldsOf(shape) ?? {}))),
  "__proto__",
  "constructor",
  "nonsense",
);
const changes = fc.array(fc.tuple(field, value), { maxLength: 3 }).map(Object.fromEntries);

test("any body is accepted as described, or rejected with nothing changed", async () => {
  const control = await serveControl();
  const write = fc.constantFrom(...acceptedWrites.filter((one) => one.json !== undefined));
  const nearlyValid = fc
    .tuple(write, changes)
    .map(([one, more]) => [one, { ...(one.json as object), ...more }] as const);
  const body = fc.oneof(
    { weight: 3, arbitrary: nearlyValid },
    fc.tuple(write, changes),
    fc.tuple(write, fc.jsonValue({ maxDepth: 4 })),
  );
  const outcomes = [0, 0] as [accepted: number, rejected: number];
  await fc.assert(
    fc.asyncProperty(body, async ([{ path, method }, sent]) => {
      const before = snapshot(control.server.sandbox);
      const { status } = await control.ask(path, { method, json: sent });
      expect(status).toBeLessThan(500);
      const after = snapshot(control.server.sandbox);
      expect(snapshot(continued(control.server.sandbox)).keys).toEqual(after.keys);
      outcomes[status < 300 ? 0 : 1] += 1;
      if (status >= 300) expect(after).toEqual(before);
      control.server.sandbox.reset();
      control.server.sandbox.clock.freeze();
    }),
    runs(150),
  );
  expect(Math.min(...outcomes)).toBeGreaterThan(runs(15).numRuns);
});
