import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { startServer } from "../src/node/index.js";
import { baseUrl, runCli, startCli } from "./support/run-cli.js";
import { temporaryFolder } from "./support/temporary-folder.js";

/** What a server of the bundled `rotation` leaves behind. */
async function soundState(): Promise<Record<string, unknown>> {
  const file = join(temporaryFolder(), "state.json");
  const server = await startServer({ scenario: "rotation", state: file });
  await server.close(0);
  return JSON.parse(readFileSync(file, "utf8"));
}

// biome-ignore lint/suspicious/noExplicitAny: the tests break it in ways that no type allows
type Breaking = (state: any) => unknown;

const textOf = (broken: unknown) => (typeof broken === "string" ? broken : JSON.stringify(broken));

describe("a state that cannot be used", () => {
  it.each<[string, Breaking, RegExp]>([
    ["an empty file", () => "", /it is not JSON, or only a part of it\./],
    [
      "half of a file",
      (state) => JSON.stringify(state).slice(0, 900),
      /it is not JSON, or only a part of it\./,
    ],
    ["other JSON", () => ({ version: 1 }), /it is JSON, but not a state of svc-sandbox\./],
    ["a list", () => [], /it is JSON, but not a state of svc-sandbox\./],
    [
      "another format",
      (state) => ({ ...state, svc_sandbox_state: 2, version: "9.1.0" }),
      /it has format 2 of svc-sandbox "9\.1\.0", and svc-sandbox 0\.1\.0 reads format 1\./,
    ],
    ["no time", (state) => ({ ...state, saved_at: "yesterday" }), /its saved_at is not a time\./],
    ["no name", (state) => ({ ...state, name: 7 }), /its name is not a text\./],
    ["no world", (state) => ({ ...state, world: undefined }), /its world is broken: /],
    [
      "no clock",
      (state) => ({ ...state, world: { ...state.world, clock: {} } }),
      /its world\.clock\.now is missing\./,
    ],
    ["no identity", (state) => ({ ...state, started_with: null }), /its started_with\.name is not a text\./],
    [
      "a broken world",
      (state) => ({ ...state, world: { ...state.world, organizations: { b: { type: "shop" } } } }),
      /its world\.organizations\.b\.type is broken: /,
    ],
    [
      "a world without a key of its scenario",
      (state) => ({
        ...state,
        world: { ...state.world, default_key: undefined, organizations: { b: { type: "bank" } } },
      }),
      /its scenario has a key "[\w-]+" that its world lacks\./,
    ],
    [
      "a broken scenario",
      (state) => ({ ...state, scenario: { ...state.scenario, populace: 1 } }),
      /its scenario\.populace is broken: /,
    ],
  ])("%s is refused with 2 and left as it is", async (_name, breaking, says) => {
    const text = textOf(breaking(await soundState()));
    const cwd = temporaryFolder({ "state.json": text });
    const ran = await runCli(["rotation", "--state", "state.json", "--port", "0"], { cwd });
    expect(ran.stderr).toMatch(says);
    expect(ran.stderr).toMatch(
      /^Failed to go on from the state "state\.json": .* Name another file with --state, or remove this one to start anew\.\n$/,
    );
    expect([ran.code, ran.stdout, readFileSync(join(cwd, "state.json"), "utf8")]).toEqual([2, "", text]);
  });

  it("of another scenario is refused, with both names", async () => {
    const text = JSON.stringify(await soundState());
    const cwd = temporaryFolder({ "state.json": text });
    const ran = await runCli(["revoked", "--state", "state.json", "--port", "0"], { cwd });
    expect([ran.code, ran.stderr]).toEqual([
      2,
      'Failed to go on from the state "state.json": it was begun with the scenario "rotation", and this is "revoked". Name another file with --state, or remove this one to start anew.\n',
    ]);
    expect(readFileSync(join(cwd, "state.json"), "utf8")).toBe(text);
  });

  it("whose scenario file has changed since is refused; one that was only moved goes on", async () => {
    const world = (ref: string) =>
      `version: 1\norganizations: { b: { type: bank, keys: { ${ref}: { environment: test } } } }\n`;
    const cwd = temporaryFolder({ "a.yaml": world("one"), "moved.yaml": world("one") });
    const run = async (file: string) => {
      const running = startCli([file, "--state", "state.json", "--port", "0", "--quiet"], { cwd });
      onTestFinished(async () => void (await running.stop()));
      await baseUrl(running).catch(() => {});
      return running.stop();
    };
    expect((await run("a.yaml")).code).toBe(0);
    expect((await run("moved.yaml")).code).toBe(0);
    writeFileSync(join(cwd, "moved.yaml"), world("two"));
    const { code, stderr } = await run("moved.yaml");
    expect(code).toBe(2);
    expect(stderr).toContain('the scenario "moved.yaml" is another one than when the state began.');
  });

  it.each([
    [
      "no/such/folder/state.json",
      /Failed to write the state to .*: its folder does not exist\. Name another file/,
    ],
    [
      "a-file/state.json",
      /Failed to (?:go on from|write) the state .*: its folder is a file\. Name another file/,
    ],
    [".", /Failed to go on from the state "\.": it is a directory\./],
    ["", /^Failed to read --state: "" cannot be used\. Give the name of a file\./],
  ])("cannot be at %j: refused at the start", async (file, says) => {
    const cwd = temporaryFolder({ "a-file": "" });
    const ran = await runCli(["--state", file, "--port", "0"], { cwd });
    expect(ran.stderr).toMatch(says);
    expect([ran.code, ran.stdout]).toEqual([2, ""]);
  });

  it("is refused by startServer with a code", async () => {
    const cwd = temporaryFolder({ "state.json": "{" });
    const state = join(cwd, "state.json");
    await expect(startServer({ state })).rejects.toMatchObject({ code: "state_unreadable" });
    await expect(startServer({ state: join(cwd, "no/state.json") })).rejects.toMatchObject({
      code: "state_unwritable",
    });
  });
});
