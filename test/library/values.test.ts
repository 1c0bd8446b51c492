import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { createSandbox, parseScenario, SandboxError } from "../../src/index.js";
import { createHandlers } from "../../src/integrations/msw.js";
import { loadScenario, setPackageReader, startServer } from "../../src/server/index.js";
import { temporaryFolder } from "../support/temporary-folder.js";

// Users of JavaScript have no compiler: each value is used, or refused with a code.

const text = "version: 1\norganizations: { bank: { type: bank, keys: { main: { environment: test } } } }\n";

/** What users pass by mistake. No operation accepts one, unless its row names it. */
const values = {
  null: null,
  number: 30,
  text: "none/no such thing",
  true: true,
  list: [7],
  mapping: { nope: 1 },
  Date: new Date(),
  URL: new URL("none/none.yaml", import.meta.url),
  Buffer: Buffer.from(text),
  function: () => 1,
  symbol: Symbol("none"),
  bigint: 7n,
  // Of another library, such as Luxon.
  "foreign time": new (class DateTime {
    readonly ts = 0;
  })(),
  // `Temporal.Instant`, which few runtimes have.
  instant: new (class Instant {
    readonly zone = "UTC";
    get epochMilliseconds() {
      return Date.now();
    }
  })(),
};
type ValueName = keyof typeof values;
const nameOf = (value: unknown) => Object.entries(values).find(([, one]) => one === value)?.[0] ?? "";
// biome-ignore lint/suspicious/noExplicitAny: what no compiler checks
type Any = any;
type Row = readonly [call: string, run: (value: Any) => unknown, ...accepted: ValueName[]];

const sandbox = () => createSandbox({ scenario: "key-states" }) as Any;
const newKey = { organization: "harvest-bank", environment: "test", name: "CI" };
const served = async (options: Any) => (await startServer(options)).close(0);
// Other tests read the package, too.
const readPackage = (path: string) => readFile(new URL(`../../${path}`, import.meta.url));
/** An operation that takes one of these options. */
const options = (
  call: string,
  run: (given: object) => unknown,
  names: Readonly<Record<string, ValueName[]>>,
) =>
  Object.entries(names).map(
    ([name, accepted]): Row => [`${call}({ ${name} })`, (value) => run({ [name]: value }), ...accepted],
  );

const rows: readonly Row[] = [
  ["createSandbox", (value) => createSandbox(value)],
  ...options("createSandbox", (given) => createSandbox(given), {
    scenario: [],
    seed: ["number"],
    now: ["number", "Date", "instant"],
    frozen: ["true"],
    profile: [],
  }),
  ["parseScenario", (value) => parseScenario(value)],
  ["parseScenario(text, …)", (value) => parseScenario(text, value)],
  ...options("parseScenario", (given) => parseScenario(text, given), { file: ["text"], load: ["function"] }),
  ["secret", (value) => sandbox().secret(value)],
  ["clock.advance", (value) => sandbox().clock.advance(value), "number"],
  ["clock.set", (value) => sandbox().clock.set(value), "Date", "instant"],
  ["keys.get", (value) => sandbox().keys.get(value)],
  ["keys.create", (value) => sandbox().keys.create(value)],
  ["keys.create(key, …)", (value) => sandbox().keys.create(newKey, value)],
  ...options("keys.create", (given) => sandbox().keys.create({ ...newKey, ...given }), {
    organization: [],
    environment: [],
    name: ["text"],
    scopes: [],
    limits: [],
    ref: [],
    expires: ["number", "Date", "instant"],
  }),
  ["keys.rotate", (value) => sandbox().keys.rotate(value)],
  ["keys.rotate(key, …)", (value) => sandbox().keys.rotate("active", value)],
  ["keys.rotate(key, {}, …)", (value) => sandbox().keys.rotate("active", {}, value)],
  ...options("keys.rotate", (given) => sandbox().keys.rotate("active", given), { overlap: [], as: [] }),
  ["keys.revoke", (value) => sandbox().keys.revoke(value)],
  ["keys.revoke(key, …)", (value) => sandbox().keys.revoke("active", value)],
  ["keys.revoke(key, { actor })", (actor) => sandbox().keys.revoke("active", { actor })],
  ["keys.expire", (value) => sandbox().keys.expire(value, { expires: "1m" })],
  ["keys.expire(key, …)", (value) => sandbox().keys.expire("active", value)],
  [
    "keys.expire(key, { expires })",
    (expires) => sandbox().keys.expire("active", { expires }),
    "number",
    "Date",
    "instant",
  ],
  ["keys.expire(key, end, …)", (value) => sandbox().keys.expire("active", { expires: "1m" }, value)],
  ["organizations.get", (value) => sandbox().organizations.get(value)],
  ["organizations.update", (value) => sandbox().organizations.update(value, { status: "inactive" })],
  ["organizations.update(ref, …)", (value) => sandbox().organizations.update("harvest-bank", value)],
  [
    "organizations.update(ref, change, …)",
    (value) => sandbox().organizations.update("harvest-bank", { status: "inactive" }, value),
  ],
  ["farmers.at", (value) => sandbox().farmers.at(value), "number"],
  ["farmers.get", (value) => sandbox().farmers.get(value)],
  ["farmers.list", (value) => sandbox().farmers.list(value)],
  ...options("farmers.list", (given) => sandbox().farmers.list(given), {
    offset: ["number"],
    limit: ["number"],
  }),
  ["faults.set", (value) => sandbox().faults.set(value)],
  ["requests.list", (value) => sandbox().requests.list(value)],
  ...options("requests.list", (given) => sandbox().requests.list(given), {
    limit: ["number"],
    outcome: [],
    key: [],
    probes: ["true"],
    faults: ["true"],
  }),
  ["createHandlers", (value) => createHandlers(value)],
  ["createHandlers(sandbox, …)", (value) => createHandlers(sandbox(), value)],
  ["createHandlers({ baseUrl })", (baseUrl) => createHandlers(sandbox(), { baseUrl })],
  ["loadScenario", (value) => loadScenario(value)],
  ["loadScenario(name, …)", (value) => loadScenario("active", value)],
  ...options("loadScenario", (given) => loadScenario("active", given), { cwd: ["text", "URL"] }),
  ["startServer", served],
  ...options("startServer", served, {
    scenario: [],
    seed: ["number"],
    now: ["number", "Date", "instant"],
    frozen: ["true"],
    profile: [],
    host: [],
    tls: ["true"],
    explain: ["true"],
    control: ["true"],
    controlToken: ["text"],
    publicUrl: [],
    allowHosts: [],
    onDefect: ["function"],
  }),
  // A name would be written.
  [
    "startServer({ state })",
    (state) => served({ state: /^(?:text|URL)$/.test(nameOf(state)) ? null : state }),
  ],
  [
    "setPackageReader",
    (value) => setPackageReader(typeof value === "function" ? readPackage : value),
    "function",
  ],
];

test.each(rows)("%s uses a value or refuses it with a code", async (call, run, ...accepted) => {
  for (const [name, value] of Object.entries(values)) {
    const result = await Promise.resolve(value as Any)
      .then(run as Row[1])
      .then(
        () => "accepted",
        (error) => (error instanceof SandboxError ? error.code : `${error}`),
      );
    const wanted = accepted.includes(name as ValueName) ? /^accepted$/ : /^(?!accepted)[a-z_]+$/;
    expect(result, `${call} of ${name}`).toMatch(wanted);
  }
});

test("an empty host is refused as empty", async () => {
  const rejection = {
    code: "validation_failed",
    details: { fields: { host: expect.stringContaining("empty") } },
  };
  await expect(served({ host: "" })).rejects.toMatchObject(rejection);
});

test("a promise is refused with its fix", () => {
  expect(() => createSandbox({ scenario: loadScenario("active") as Any })).toThrow(
    expect.objectContaining({ problems: [expect.objectContaining({ hint: "await it" })] }),
  );
});

test.each(["file://host/a.yaml", "file:///a%2Fb.yaml"])("%s is no file of this machine", async (address) => {
  const url = new URL(address);
  const rejection = (field: string) => ({
    code: "validation_failed",
    details: { fields: { [field]: expect.any(String) } },
  });
  await expect(loadScenario(url)).rejects.toMatchObject(rejection("file"));
  await expect(loadScenario("active", { cwd: url })).rejects.toMatchObject(rejection("cwd"));
  await expect(startServer({ state: url })).rejects.toMatchObject(rejection("state"));
  await expect(startServer({ scenario: url })).rejects.toMatchObject(rejection("scenario"));
});

test("a file may be a URL, and what loadScenario returns is a scenario", async () => {
  const folder = temporaryFolder({ "my.yaml": text });
  const file = join(folder, "my.yaml");
  const url = pathToFileURL(file);
  const loaded = await loadScenario(url);
  expect(loaded).toEqual(await loadScenario(file));
  expect(loaded.files).toEqual([file]);
  expect(createSandbox({ scenario: loaded }).secret("main")).toMatch(/^SVC_test_/);
  expect(createSandbox({ scenario: loaded }).name).toBe(file);
  expect(createSandbox({ scenario: await loadScenario("rotation") }).name).toBe("rotation");
  for (const scenario of [url, loaded]) {
    const state = pathToFileURL(join(folder, "state.json"));
    const server = await startServer({ scenario, state });
    expect(server.sandbox.keys.list().map(({ ref }) => ref)).toContain("main");
    const yaml = await fetch(`${server.controlUrl}/scenario`);
    expect(await yaml.text()).toBe(text);
    await server.close(0);
  }
});

test("createSandbox reads no file, and names what does", () => {
  for (const scenario of [pathToFileURL("/my.yaml"), "/my.yaml", "./my.yaml"]) {
    expect(() => createSandbox({ scenario: scenario as Any })).toThrow(
      expect.objectContaining({
        code: "scenario_not_found",
        message: expect.stringContaining("await loadScenario"),
      }),
    );
  }
});

test("what is loaded and then changed is checked again", async () => {
  const { scenario, ...loaded } = await loadScenario("active");
  const changed = { ...loaded, scenario: { ...scenario, sead: 7 } };
  expect(() => createSandbox({ scenario: changed as Any })).toThrow(/unknown field "sead"/);
});
