import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parseScenario } from "../../src/index.js";
import { profiles, resolveAssumptions } from "../../src/rules/assumptions.js";
import { scenarioNames } from "../../src/scenario/bundled.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { serveControl } from "./client.js";

const yaml = (bytes: string, method = "PUT") => ({
  ...{ method, bytes, headers: { "content-type": "application/yaml" } },
});
const bundled = (name: string) => readFileSync(`scenarios/${name}.yaml`, "utf8");
const secret = `SVC_test_sbx${"a".repeat(29)}`;
const own = `# My own
version: 1
organizations:
  bank: { type: bank, keys: { main: { environment: test } } } # the one
`;

interface Problem {
  readonly line: number;
  readonly column: number;
  readonly message: string;
  readonly hint: string;
  readonly level: string;
}

test("the running scenario is shown as it was written, comments included", async () => {
  const file = join(temporaryFolder(), "own.yaml");
  writeFileSync(file, own);
  const { ask } = await serveControl({ scenario: file });
  const text = async () => (await ask("/scenario")).text;
  expect(await text()).toBe(own);
  await ask("/scenario", { method: "PUT", json: { name: "rotation" } });
  expect(await text()).toBe(bundled("rotation"));
  await ask("/scenario", yaml(`${own}# sent\n`));
  await ask("/reset", { method: "POST" });
  expect(await text()).toBe(`${own}# sent\n`);
});

test("the scenario that a sandbox was started with stays the first of the list, and starts again by its name", async () => {
  const file = join(temporaryFolder(), "rotation.yaml");
  writeFileSync(file, own);
  const named = { version: 1, name: "Named", organizations: { bank: { type: "bank", keys: {} } } } as const;
  interface Listed {
    readonly name: string;
    readonly started_with: boolean;
    readonly running: boolean;
  }
  for (const [scenario, first] of [
    [file, file],
    [named, "Named"],
  ] as const) {
    const { ask } = await serveControl({ scenario });
    const list = async (): Promise<Listed[]> => (await ask("/scenarios")).body.data;
    const start = async (json: object) => {
      await ask("/scenario", { method: "PUT", json });
      return (await list()).filter(({ running }) => running).map(({ name }) => name);
    };
    const before = (await ask("/scenario")).text;
    expect((await list()).map(({ name }) => name)).toEqual([first, ...scenarioNames]);
    expect((await list()).findIndex((one) => one.started_with && one.running)).toBe(0);
    expect(await start({ name: "revoked" })).toEqual(["revoked"]);
    expect(await start({ name: "rotation" })).toEqual(["rotation"]);
    expect((await list())[0]).toMatchObject({ name: first, started_with: true, running: false });
    await ask("/scenario", yaml(`${own}# sent`));
    expect((await list()).filter(({ running }) => running)).toEqual([]);
    expect(await start({ name: first })).toEqual([first]);
    expect((await ask("/scenario")).text).toBe(before);
  }
  const { ask: bundledOnes } = await serveControl({ scenario: "rotation" });
  const names = (await bundledOnes("/scenarios")).body.data.map(({ name }: Listed) => name);
  expect(names).toEqual(["rotation", ...scenarioNames.filter((name) => name !== "rotation")]);
});

test("a sent scenario with the name of another one does not show that one as running", async () => {
  const { ask } = await serveControl({ scenario: "key-states" });
  const running = async () => {
    const { data } = (await ask("/scenarios")).body;
    return data.filter((one: { running: boolean }) => one.running).map(({ name }: { name: string }) => name);
  };
  await ask("/reset", { method: "POST", json: { seed: 9, frozen: true, profile: "typical" } });
  expect(await running()).toEqual(["key-states"]);

  for (const name of ["key-states", "rotation"]) {
    const scenario = { version: 1, name, organizations: { bank: { type: "bank", keys: {} } } };
    expect((await ask("/reset", { method: "POST", json: { scenario } })).status).toBe(200);
    expect(await running()).toEqual([]);
  }
  for (const name of ["rotation", "key-states"]) {
    await ask("/scenario", { method: "PUT", json: { name } });
    expect(await running()).toEqual([name]);
  }
});

test("a scenario that was never one text is rendered with the same meaning", async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "base.yaml"), own);
  const file = join(folder, "own.yaml");
  writeFileSync(file, "version: 1\nextends: base.yaml\nseed: 7\n");
  for (const scenario of [file, { ...parseScenario(own), name: "rotation", seed: 7 }]) {
    const { ask, sandbox } = await serveControl({ scenario });
    const { text } = await ask("/scenario");
    expect(parseScenario(text)).toEqual(sandbox.scenario);
  }
  // The options of the server are no part of the text of a bundled one.
  const { ask } = await serveControl({ scenario: "key-states", seed: 9 });
  expect((await ask("/scenario")).text).toBe(bundled("key-states"));
});

test("R46 a key that a scenario pins is cut, however it is spelled, and such a text does not start", async () => {
  const pinned = own.replace("environment: test", `environment: test, secret: ${secret}`);
  const hidden = pinned.replace(secret, `"${secret.replace("SVC", "\\x53VC")}"`);
  const { ask, heard } = await serveControl();
  const hiddenAndPlain = `# ${secret}\n${hidden}`;
  for (const text of [pinned, hidden, hiddenAndPlain]) {
    expect((await ask("/scenario", yaml(text))).status).toBe(200);
    const shown = (await ask("/scenario")).text;
    expect(shown).toMatch(/secret: "?SVC_test_…/);
    expect(shown).not.toContain(secret.slice("SVC_".length));
    const rejected = await ask("/scenario", yaml(shown));
    expect([rejected.status, Object.keys(rejected.body.error.details.fields)]).toEqual([
      422,
      ["organizations.bank.keys.main.secret"],
    ]);
  }
  expect(heard.join("\n")).not.toContain(secret.slice("SVC_".length));
});

test("a text is checked with places and hints, and nothing changes", async () => {
  const { ask, sandbox } = await serveControl();
  const { registry } = sandbox;
  const problems = async (text: string): Promise<Problem[]> =>
    (await ask("/scenario/validate", yaml(text, "POST"))).body.data.problems;
  expect(await problems(own)).toEqual([]);
  const wrong = own.replace("environment: test", "environment: tset");
  const [first, ...others] = await problems(wrong);
  const column = (wrong.split("\n")[3] as string).indexOf("tset") + 1;
  expect(first).toEqual({
    ...{ line: 4, column, level: "error" },
    ...{ message: expect.stringContaining("environment"), hint: expect.any(String) },
  });
  expect(others).toEqual([]);
  const json = { method: "POST", json: { text: wrong } };
  expect((await ask("/scenario/validate", json)).body.data.problems).toEqual([first]);
  const { fields } = (await ask("/scenario", yaml(wrong))).body.error.details;
  expect(Object.values(fields)).toEqual([`line 4, column ${column}: ${first?.message}: ${first?.hint}`]);
  expect(await problems("version: [")).toMatchObject([{ line: 1, level: "error" }]);
  const failing = `${own}story:\n  - request: { key: main }\n    expect: { status: 403 }\n`;
  expect(await problems(failing)).toMatchObject([{ line: 7, level: "warning" }]);
  const unknown = own.replace("environment: test", "environment: test, scopes: [x:read]");
  expect(await problems(unknown)).toMatchObject([{ line: 4, level: "error" }]);
  const unmarked = own.replace("environment: test", `environment: test, secret: SVC_test_${"b".repeat(32)}`);
  expect(await problems(unmarked)).toMatchObject([{ line: 4, level: "warning" }]);
  const endless = "version: 1\npopulation: { organizations: 100000, keys_per_organization: 10 }\n";
  expect(await problems(endless)).toMatchObject([{ line: 2, level: "error" }]);
  const max = "version: 1\npopulation: { organizations: 10000, keys_per_organization: 2 }\n";
  expect(await problems(max)).toEqual([]);
  expect(sandbox.registry).toBe(registry);
});

test("a scenario that starts has the warnings that its check has", async () => {
  const { ask } = await serveControl();
  const unmarked = own.replace("environment: test", `environment: test, secret: SVC_test_${"b".repeat(32)}`);
  const checked = (await ask("/scenario/validate", yaml(unmarked, "POST"))).body.data.problems as Problem[];
  const { warnings } = (await ask("/scenario", yaml(unmarked))).body.data;
  expect(warnings).toEqual(
    checked.map(({ line, column, message, hint }) => `line ${line}, column ${column}: ${message}: ${hint}`),
  );
  expect(warnings).toHaveLength(1);
});

test("organizations without keys count as much as keys in a sent scenario", async () => {
  const { ask } = await serveControl();
  const messageOf = async (text: string) => (await ask("/scenario", yaml(text))).body.error.message;
  const empty = (organizations: number) =>
    `version: 1\npopulation: { organizations: ${organizations}, keys_per_organization: 0 }\n`;
  expect(await messageOf(empty(30_000))).toMatch(/has 30000 keys and organizations .* at most 20000\./);
  const both = `${empty(20_000)}organizations: { bank: { type: bank, keys: { main: { environment: test } } } }\n`;
  expect(await messageOf(both)).toMatch(/has 20001 keys/);
});

test("a scenario that is sent makes no more keys than the server can make without a pause", async () => {
  const { ask } = await serveControl();
  const before = (await ask("/state")).text;
  const text = "version: 1\npopulation: { organizations: 4001, keys_per_organization: 5 }\n";
  const { status, body } = await ask("/scenario", yaml(text));
  expect([status, Object.keys(body.error.details.fields)]).toEqual([422, ["population"]]);
  expect((await ask("/state")).text).toBe(before);
});

test("the format's JSON Schema and the table of assumptions are shown", async () => {
  const { ask } = await serveControl();
  expect((await ask("/scenario.schema.json")).body).toMatchObject({
    ...{ type: "object", properties: { extends: expect.anything() } },
  });
  const { profiles: words, assumptions: data } = (await ask("/profiles")).body.data;
  expect(Object.keys(words)).toEqual(profiles);
  for (const profile of ["minimal", "typical"] as const) {
    const values = data.map((row: Record<string, unknown>) => [row.assumption, row[profile]]);
    expect(Object.fromEntries(values)).toEqual(resolveAssumptions(profile));
  }
  const row = (name: string) => data.find(({ assumption }: { assumption: string }) => assumption === name);
  expect(row("retry_after")).toMatchObject({ schema: { enum: ["none", "seconds", "date"] }, varied: true });
  expect(row("me_scope").varied).toBe(false);
});

test("keys and organizations come page by page, with their number", async () => {
  const scenario = { version: 1, population: { organizations: 30, keys_per_organization: 2 } } as const;
  const { ask } = await serveControl({ scenario });
  for (const [path, total] of [
    ["/keys", 60],
    ["/organizations", 30],
  ] as const) {
    const all = (await ask(path)).body;
    expect([all.data.length, all.total]).toEqual([total, total]);
    const page = (await ask(`${path}?offset=5&limit=10`)).body;
    expect(page).toEqual({ ...all, data: all.data.slice(5, 15) });
    expect((await ask(`${path}?offset=${total}`)).body).toEqual({ ...all, data: [] });
    expect((await ask(`${path}?limit=-1`)).status).toBe(422);
  }
});
