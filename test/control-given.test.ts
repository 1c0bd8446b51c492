import { describe, expect, it, onTestFinished, test } from "vitest";
import { serveControl } from "./control/client.js";
import { baseUrl, startCli } from "./support/run-cli.js";
import { temporaryFolder } from "./support/temporary-folder.js";

const yaml = { "content-type": "application/yaml" };
const other = `version: 1
seed: 3
clock: { now: 2026-05-01T00:00:00Z, frozen: false }
assumptions: { profile: minimal }
organizations: { a-bank: { type: bank, keys: { main: { environment: test } } } }
`;

async function ask(url: string, path: string, put?: { type: string; body: string }) {
  const response = await fetch(`${url}/__sandbox${path}`, {
    ...(put !== undefined && { method: "PUT", headers: { "content-type": put.type }, body: put.body }),
  });
  // biome-ignore lint/suspicious/noExplicitAny: what a test reads of it, it checks
  return ((await response.json()) as any).data;
}

const putYaml = { type: "application/yaml", body: other };

describe("PUT /scenario", () => {
  async function start(argv: readonly string[], env = {}) {
    const running = startCli(["start", "active", "--port", "0", ...argv], { cwd: temporaryFolder(), env });
    onTestFinished(async () => {
      await running.stop();
    });
    return baseUrl(running);
  }

  it("keeps what flags say, also for a reset of what it started", async () => {
    const now = "2026-04-01T12:00:00Z";
    const url = await start(["--frozen", "--seed", "7", "--now", now, "--profile", "typical"]);
    const kept = { seed: 7, now: "2026-04-01T12:00:00.000Z" };
    expect(await ask(url, "/scenario", putYaml)).toMatchObject(kept);
    expect(await ask(url, "/clock")).toMatchObject({ frozen: true });
    expect(await ask(url, "/assumptions")).toMatchObject({ profile: "typical" });
    const named = { type: "application/json", body: '{"name":"revoked"}' };
    expect(await ask(url, "/scenario", named)).toMatchObject({ scenario: "revoked", ...kept });
    await fetch(`${url}/__sandbox/reset`, {
      method: "POST",
      headers: { "content-type": "application/json" },
    });
    expect(await ask(url, "/clock")).toEqual({ frozen: true, now: kept.now });
  });

  it("keeps what variables say", async () => {
    const url = await start([], { SVC_SANDBOX_FROZEN: "1", SVC_SANDBOX_SEED: "9" });
    expect(await ask(url, "/scenario", putYaml)).toMatchObject({ seed: 9 });
    expect(await ask(url, "/clock")).toMatchObject({ frozen: true });
  });

  it("takes everything from the scenario where nobody has said anything else", async () => {
    const url = await start([]);
    const data = await ask(url, "/scenario", putYaml);
    expect(data).toMatchObject({ seed: 3, now: expect.stringMatching(/^2026-05-01T00:00:0/) });
    expect(await ask(url, "/clock")).toMatchObject({ frozen: false });
  });

  it("goes on from a kept state with what flags say of worlds that begin", async () => {
    const cwd = temporaryFolder();
    for (const seed of ["7", "8"]) {
      const argv = ["start", "active", "--port", "0", "--state", "s.json", "--seed", seed];
      const running = startCli(argv, { cwd });
      const url = await baseUrl(running);
      if (seed === "8") {
        expect(await ask(url, "/state")).toMatchObject({ seed: 7 });
        expect(await ask(url, "/scenario", putYaml)).toMatchObject({ seed: 8 });
      }
      await running.stop();
    }
  });
});

test("the options of startServer hold for scenarios that come later, and so do those of an instance", async () => {
  const { ask: control } = await serveControl({
    seed: 7,
    now: new Date("2026-04-01T12:00:00Z"),
    profile: "varied",
  });
  const put = { method: "PUT", headers: yaml, bytes: other };
  expect((await control("/scenario", put)).body.data).toMatchObject({
    seed: 7,
    now: "2026-04-01T12:00:00.000Z",
  });
  expect((await control("/assumptions")).body.data.profile).toBe("varied");
  expect((await control("/clock")).body.data.frozen).toBe(true);

  const { body } = await control("/instances", { method: "POST", json: { scenario: "active", seed: 11 } });
  const base = `/i/${body.data.id}`;
  const started = (await control("/scenario", { ...put, base })).body.data;
  expect(started).toMatchObject({ seed: 11, now: expect.stringMatching(/^2026-05-01T00:00:0/) });
});
