import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { findKeys } from "../../src/rules/redact.js";
import { signedText } from "../../src/store/state-format.js";
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
  expect((await runCli(["export", first.url], { cwd })).stdout).toMatch(/^\{"svc_sandbox_state":\d/);
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

test("a state of another scenario is an error that names both ways out, and stays unchanged", async () => {
  const cwd = temporaryFolder({ "a.yaml": bank(one) });
  await (await used(cwd)).stop();
  const before = readFileSync(join(cwd, "state.json"), "utf8");
  writeFileSync(join(cwd, "a.yaml"), bank(`${one}, ${two}`));
  const { code, stderr } = await serve(["a.yaml", "--state", "state.json"], { cwd }).done;
  const text = stderr.replaceAll(/\s+/g, " ");
  expect([code, text]).toEqual([2, expect.stringContaining("started with content of the scenario")]);
  expect(text).toContain("Start this one with the same, or name another file, or remove this one");
  expect(readFileSync(join(cwd, "state.json"), "utf8")).toBe(before);
});

test("another version continues a state, says so once, and keeps one copy, with which the earlier version continues", async () => {
  const cwd = temporaryFolder({ "a.yaml": bank(one) });
  const first = await used(cwd);
  await first.stop();
  const file = join(cwd, "state.json");
  const { sum: _, ...state } = JSON.parse(readFileSync(file, "utf8"));
  writeFileSync(file, signedText({ ...state, version: "0.0.9" }));
  const before = readFileSync(file, "utf8");
  const argv = ["a.yaml", "--state", "state.json", "--instance-ttl", "30d"];
  const updated = serve(argv, { cwd });
  const url = await baseUrl(updated);
  expect(updated.stderr.text().replaceAll(/\s+/g, " ")).toContain(
    'Version 1.0.0-next.1 continues a state of version 0.0.9. A copy of it is in "state.json.backup-0.0.9".',
  );
  expect(await statusOf(url, first.made)).toBe(200);
  const instance = first.instance.id as string;
  expect((await control(`${url}/__sandbox`, `DELETE /instances/${instance}`)).status).toBe(204);
  await updated.stop();
  const again = serve(argv, { cwd });
  await baseUrl(again);
  expect(again.stderr.text()).not.toContain("A copy");
  await again.stop();

  expect(readFileSync(`${file}.backup-0.0.9`, "utf8")).toBe(before);
  const back = serve(["a.yaml", "--state", "state.json.backup-0.0.9"], { cwd });
  const backUrl = await baseUrl(back);
  expect(await statusOf(backUrl, first.made)).toBe(200);
  expect(await statusOf(`${backUrl}/i/${instance}`, first.instance.keys.one)).toBe(200);
});

test("an export names an instance whose file is broken, exits with 1, and has the others; list names it as well", async () => {
  const cwd = temporaryFolder({ "a.yaml": bank(one) });
  const first = await used(cwd);
  const { id } = (await control(`${first.url}/__sandbox`, "POST /instances", {})).body.data;
  await first.stop();
  writeFileSync(join(cwd, `state.json.instances/${first.instance.id}.json`), "{");
  const next = serve(["a.yaml", "--state", "state.json"], { cwd });
  const url = await baseUrl(next);
  const wrote = await runCli(["export", url, "-o", "backup.json"], { cwd });
  const shown = await runCli(["instance", "list", "--url", url], { cwd });
  await next.stop();
  expect([shown.stdout.includes(id), shown.stderr]).toEqual([
    true,
    expect.stringContaining(first.instance.id),
  ]);
  expect([wrote.code, wrote.stderr]).toEqual([1, expect.stringContaining(first.instance.id)]);
  const { without, instances } = JSON.parse(readFileSync(join(cwd, "backup.json"), "utf8"));
  expect([without, instances.map((one: { id: string }) => one.id)]).toEqual([[first.instance.id], [id]]);
});

test("an export in the place of a file restores the whole state, or one instance", async () => {
  const cwd = temporaryFolder({ "a.yaml": bank(one) });
  const first = await used(cwd);
  await runCli(["export", first.url, "-o", "backup.json"], { cwd });
  await first.stop();
  const { id, keys } = first.instance;
  const file = join(cwd, `state.json.instances/${id}.json`);
  const backup = readFileSync(join(cwd, "backup.json"), "utf8");
  writeFileSync(file, backup);
  writeFileSync(join(cwd, "whole.json"), backup);
  for (const state of ["state.json", "whole.json"]) {
    const next = serve(["a.yaml", "--state", state], { cwd });
    const url = await baseUrl(next);
    expect(await statusOf(`${url}/i/${id}`, keys.one)).toBe(200);
    expect(await statusOf(url, first.made)).toBe(200);
    await next.stop();
    expect(readFileSync(join(cwd, `${state}.instances/${id}.json`), "utf8")).not.toContain("started_with");
  }
});
