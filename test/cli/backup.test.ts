import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { findKeys } from "../../src/spec/redact.js";
import { control } from "../support/call-control.js";
import { baseUrl, runCli, serve } from "../support/run-cli.js";
import { mePath } from "../support/send.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const bank = (keys: string, more = "") =>
  `version: 1\nclock: { now: "2026-03-02T09:00:00Z", frozen: true }\norganizations:\n  a-bank: { type: bank, keys: { ${keys} } }\n${more}`;
const one = "one: { environment: test, limits: { per_minute: 5, per_day: 50 } }";
const two = "two: { environment: test }";

const statusOf = async (url: string, key: string) =>
  (await fetch(url + mePath, { headers: { "x-api-key": key } })).status;

/** A sandbox with a run-time key, a revoked one, some usage, and an instance. */
async function used(cwd: string, ...argv: string[]) {
  const running = serve(["a.yaml", "--state", "state.json", ...argv], { cwd });
  const url = await baseUrl(running);
  const call = (route: string, body?: object) => control(`${url}/__sandbox`, route, body);
  const creation = { organization: "a-bank", environment: "test", name: "Made", ref: "made" };
  const made = (await call("POST /keys", creation)).body.data.secret as string;
  const instance = (await call("POST /instances", { label: "partner" })).body.data;
  await statusOf(url, made);
  await statusOf(instance.base_url, instance.keys.one);
  return { running, url, made, instance, stop: () => running.stop() };
}

test("export and --import move a sandbox with its run-time keys, journal and instances, and no key", async () => {
  const cwd = temporaryFolder({ "a.yaml": bank(one) });
  const first = await used(cwd);
  const wrote = await runCli(["export", first.url, "-o", "backup.json"], { cwd });
  expect([wrote.code, wrote.stderr]).toEqual([0, expect.stringContaining("Wrote backup.json")]);
  const text = readFileSync(join(cwd, "backup.json"), "utf8");
  expect(findKeys(text)).toEqual([]);
  expect((await runCli(["export", first.url], { cwd })).stdout).toContain('"svc_sandbox_state":3');
  const inside = await runCli(["export", first.instance.base_url], { cwd });
  expect([inside.code, inside.stderr]).toEqual([2, expect.stringContaining("only its server")]);
  await first.stop();

  const next = serve(["a.yaml", "--state", "other.json", "--import", "backup.json"], { cwd });
  const url = await baseUrl(next);
  expect(next.stderr.text()).toMatch(/^Continuing from "backup\.json", saved \S+Z\.\n$/);
  expect(await statusOf(url, first.made)).toBe(200);
  const id = first.instance.id as string;
  expect(await statusOf(`${url}/i/${id}`, first.instance.keys.one)).toBe(200);
  const { body } = await control(`${url}/__sandbox`, "GET /instances");
  expect(body.data).toMatchObject([{ id, label: "partner" }]);
  expect((await control(`${url}/__sandbox`, "GET /report")).body.data.requests).toBe(4);
  await next.stop();
  const again = await serve(["a.yaml", "--state", "other.json", "--import", "backup.json"], { cwd }).done;
  expect([again.code, again.stderr]).toEqual([2, expect.stringContaining("already contains a sandbox")]);
});

test("--import and --migrate need a place where the sandbox is kept", async () => {
  const cwd = temporaryFolder({ "a.yaml": bank(one), "backup.json": "{}" });
  for (const flag of [["--import", "backup.json"], ["--migrate"]]) {
    const { code, stderr } = await serve(["a.yaml", ...flag], { cwd }).done;
    expect([code, stderr]).toEqual([2, expect.stringContaining("Add --state")]);
  }
  const broken = await serve(["a.yaml", "--state", "new.json", "--import", "backup.json"], { cwd }).done;
  expect([broken.code, broken.stderr]).toEqual([2, expect.stringContaining('the state "backup.json"')]);
});

test("--migrate continues a state with added organizations and keys, after a backup that can be put back", async () => {
  const cwd = temporaryFolder({ "a.yaml": bank(one) });
  const file = join(cwd, "state.json");
  const first = await used(cwd);
  await first.stop();
  const before = readFileSync(file, "utf8");

  writeFileSync(
    join(cwd, "a.yaml"),
    bank(`${two}, ${one}`, "  b-bank: { type: bank, keys: { three: { environment: test } } }"),
  );
  const argv = ["a.yaml", "--state", "state.json"];
  const rejected = await serve(argv, { cwd }).done;
  expect([rejected.code, rejected.stderr]).toEqual([2, expect.stringContaining("Add --migrate")]);
  expect(readFileSync(file, "utf8")).toBe(before);

  const next = serve([...argv, "--migrate", "--json"], { cwd });
  const { base_url: url, keys } = JSON.parse((await next.stdout.shows(/.*\n/))[0]);
  expect(next.stderr.text()).toContain('The previous state is in "state.json.backup-1.0.0-next.1".\n');
  for (const key of [keys.two, keys.three, first.made]) expect(await statusOf(url, key)).toBe(200);
  expect(await statusOf(`${url}/i/${first.instance.id}`, first.instance.keys.one)).toBe(200);
  await control(`${url}/__sandbox`, "POST /reset");
  for (const key of [keys.two, keys.three]) expect(await statusOf(url, key)).toBe(200);
  await next.stop();

  expect(readFileSync(join(cwd, "state.json.backup-1.0.0-next.1"), "utf8")).toBe(before);
  writeFileSync(file, before);
  writeFileSync(join(cwd, "a.yaml"), bank(one));
  const back = serve(argv, { cwd });
  expect(await statusOf(await baseUrl(back), first.made)).toBe(200);
});

test.each([
  ["has lost a key", bank(two), '"organizations.a-bank.keys.one" differs'],
  ["has another start", `${bank(one)}seed: 4\n`, '"seed" differs'],
  ["has a key of a name that was given", bank(`${one}, made: { environment: test }`), "given at run time"],
  [
    "has more active keys than an organization may have (R32)",
    bank([one, ...[2, 3, 4, 5].map((n) => `k${n}: { environment: test }`)].join(", ")),
    '"a-bank" has 6 active test keys',
  ],
])("--migrate rejects a scenario that %s, and leaves the state unchanged", async (_title, text, why) => {
  const cwd = temporaryFolder({ "a.yaml": bank(one) });
  await (await used(cwd)).stop();
  const before = readFileSync(join(cwd, "state.json"), "utf8");
  writeFileSync(join(cwd, "a.yaml"), text);
  const { code, stderr } = await serve(["a.yaml", "--state", "state.json", "--migrate"], { cwd }).done;
  expect([code, stderr]).toEqual([2, expect.stringContaining(why)]);
  expect(readFileSync(join(cwd, "state.json"), "utf8")).toBe(before);
});

test("--migrate converts a state of svc-sandbox 0.2, with its instances, after a backup that can be put back", async () => {
  const cwd = temporaryFolder({ "a.yaml": bank(one) });
  const file = join(cwd, "state.json");
  const first = await used(cwd);
  // An export has the form of the one file of 0.2.
  await runCli(["export", first.url, "-o", "export.json"], { cwd });
  await first.stop();
  const earlier = readFileSync(join(cwd, "export.json"), "utf8");
  writeFileSync(file, earlier);
  const argv = ["a.yaml", "--state", "state.json"];
  const rejected = await serve(argv, { cwd }).done;
  expect(rejected.code).toBe(2);
  expect(rejected.stderr.replaceAll(/\s+/g, " ")).toContain(
    "svc-sandbox start a.yaml --state state.json --migrate",
  );
  expect(readFileSync(file, "utf8")).toBe(earlier);

  const next = serve([...argv, "--migrate"], { cwd });
  const url = await baseUrl(next);
  expect(next.stderr.text()).toContain(
    'Each instance has its own file now. The previous state is in "state.json.backup-1.0.0-next.1".\n',
  );
  expect(readFileSync(`${file}.backup-1.0.0-next.1`, "utf8")).toBe(earlier);
  expect(readdirSync(`${file}.instances`)).toEqual([`${first.instance.id}.json`]);
  expect(await statusOf(url, first.made)).toBe(200);
  await next.stop();
  const again = serve([...argv, "--migrate"], { cwd });
  expect(await statusOf(`${await baseUrl(again)}/i/${first.instance.id}`, first.instance.keys.one)).toBe(200);
  expect(again.stderr.text()).not.toContain("previous state");
});

test("--migrate reports an update from another version and keeps a backup; another major version and a later minor one are rejected", async () => {
  const cwd = temporaryFolder({ "a.yaml": bank(one) });
  await (await used(cwd)).stop();
  const file = join(cwd, "state.json");
  const text = readFileSync(file, "utf8");
  const of = (version: string) => text.replace('"version":"1.0.0-next.1"', `"version":"${version}"`);
  writeFileSync(file, of("1.0.0-next.0"));
  const updated = serve(["a.yaml", "--state", "state.json", "--migrate"], { cwd });
  await baseUrl(updated);
  expect(updated.stderr.text()).toContain(
    'Migrated from version "1.0.0-next.0" to version "1.0.0-next.1". The previous state is in "state.json.backup-1.0.0-next.0".\n',
  );
  await updated.stop();
  for (const version of ["2.0.0", "1.99.0"]) {
    writeFileSync(file, of(version));
    for (const more of [[], ["--migrate"]]) {
      const { code, stderr } = await serve(["a.yaml", "--state", "state.json", ...more], { cwd }).done;
      expect([code, stderr]).toEqual([2, expect.stringContaining(`started with version "${version}"`)]);
    }
    expect(readFileSync(file, "utf8")).toBe(of(version));
  }
});
