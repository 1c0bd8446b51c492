import { METHODS } from "node:http";
import { expect, test } from "vitest";
import { expectUnchanged, serveControl } from "./support/control-client.js";
import { description } from "./support/control-description.js";
import { refusedWrites } from "./support/control-refused-writes.js";
import { validYaml } from "./support/control-writes.js";

const yaml = { "content-type": "application/yaml" };

test.each(refusedWrites)("$title is refused to $method $path, and nothing changes", async (row) => {
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
    if (method === "QUERY" && !METHODS.includes("QUERY")) continue;
    const { status, headers, body } = await expectUnchanged(control, () => control.ask(real, { method }));
    expect([method, status, headers.allow]).toEqual([method, 405, described.join(", ")]);
    if (method !== "HEAD") expect(body.error.code).toBe("method_not_allowed");
  }
});
