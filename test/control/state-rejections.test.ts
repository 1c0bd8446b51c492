import { execFileSync } from "node:child_process";
import { readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startServer } from "../../src/server/index.js";
import { signedText } from "../../src/store/state-format.js";
import { oneKey } from "../support/api-client.js";
import { temporaryFolder } from "../support/temporary-folder.js";

/** Leaves behind the state of the bundled `rotation`. */
async function soundState(): Promise<Record<string, unknown>> {
  const file = join(temporaryFolder(), "state.json");
  await (await startServer({ scenario: "rotation", state: file })).close(0);
  const { sum: _, ...state } = JSON.parse(readFileSync(file, "utf8"));
  return state;
}

// biome-ignore lint/suspicious/noExplicitAny: the tests break it in ways that no type allows
type Breaking = (state: any) => unknown;
const of =
  (change: object | Breaking): Breaking =>
  ({ own, ...state }) => ({
    ...state,
    own: { ...own, ...(typeof change === "function" ? (change(own) as object) : change) },
  });

const brokenScenarios = (scenarios: Record<string, { scenario: object }>) =>
  Object.fromEntries(
    Object.entries(scenarios).map(([id, one]) => [
      id,
      { ...one, scenario: { ...one.scenario, populace: 1 } },
    ]),
  );

test.each<[string, Breaking]>([
  ["half of a file", (state) => JSON.stringify(state).slice(0, 900)],
  ["another format", (state) => ({ ...state, svc_sandbox_state: 9, version: "0.9.0" })],
  ["no sandbox", (state) => ({ ...state, own: undefined })],
  ["no clock", of(({ snapshot }) => ({ snapshot: { ...snapshot, clock: {} } }))],
  ["a broken snapshot", of((own) => ({ snapshot: { ...own.snapshot, organizations: { b: { type: 1 } } } }))],
  ["no scenario", (state) => ({ ...state, scenarios: {} })],
  ["a broken scenario", (state) => ({ ...state, scenarios: brokenScenarios(state.scenarios) })],
  ["something after it", (state) => `${signedText(state)}{}\n`],
  ["no checksum", (state) => JSON.stringify(state)],
])("a state file with %s is rejected and stays unchanged", async (_title, breaking) => {
  const broken = breaking(await soundState());
  const text = typeof broken === "string" ? broken : signedText(broken as object);
  const state = join(temporaryFolder({ "state.json": text }), "state.json");
  await expect(startServer({ scenario: "rotation", state })).rejects.toMatchObject({
    code: "state_unreadable",
  });
  expect(readFileSync(state, "utf8")).toBe(text);
});

test("a state of another scenario is rejected, by content and not by name", async () => {
  const state = join(temporaryFolder(), "state.json");
  const [one, other] = [oneKey({}, { name: "one" }), oneKey({ legacy: true }, { name: "one" })];
  for (const scenario of [one, one]) await (await startServer({ scenario, state })).close(0);
  await expect(startServer({ scenario: other, state })).rejects.toMatchObject({ code: "state_mismatch" });
});

test("a state makes its folder, once the server listens", async () => {
  const file = join(temporaryFolder(), "a/b/state.json");
  await (await startServer({ state: file })).close(0);
  expect(JSON.parse(readFileSync(file, "utf8")).own.name).toBe("key-states");
});

test("a place where no state can be is rejected at the start", async () => {
  const cwd = temporaryFolder({ "a-file": "" });
  const rejected = async (file: string) =>
    (await startServer({ state: join(cwd, file) }).catch(({ code }) => code)) as string;
  expect(await rejected("a-file/state.json")).toMatch(/^state_un(?:readable|writable)$/);
  expect(await rejected(".")).toBe("state_unreadable");
});

test("a state that a running server uses is rejected, under any name, until that server is closed", async () => {
  const cwd = temporaryFolder();
  const state = join(cwd, "state.json");
  symlinkSync(cwd, join(cwd, "same-folder"));
  const first = await startServer({ state });
  for (const file of [state, join(cwd, "same-folder/state.json")])
    await expect(startServer({ state: file })).rejects.toMatchObject({ code: "state_in_use" });
  await first.close(0);
  await expect(startServer({ state, host: "192.0.2.1", port: 7 })).rejects.toMatchObject({
    code: "address_unavailable",
    details: { host: "192.0.2.1", port: 7 },
  });
  await (await startServer({ state })).close(0);
});

test.runIf(process.platform !== "win32")("a state must not be a pipe, a device or a dead link", async () => {
  const cwd = temporaryFolder();
  execFileSync("mkfifo", [join(cwd, "pipe")]);
  symlinkSync("nothing", join(cwd, "link"));
  for (const state of ["/dev/null", join(cwd, "pipe"), join(cwd, "link")])
    await expect(startServer({ state })).rejects.toMatchObject({ code: "state_unreadable" });
});
