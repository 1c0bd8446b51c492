import { existsSync, readFileSync, writeFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { control } from "../support/call-control.js";
import { baseUrl, type Running, runCli, startCli } from "../support/run-cli.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const world = (keys: readonly string[]) =>
  `version: 1\norganizations:\n  a-bank:\n    type: bank\n    keys:\n${keys.map((ref) => `      ${ref}: { environment: test }\n`).join("")}`;

function start(cwd: string, argv: readonly string[]): Running {
  const running = startCli(["a.yaml", "--state", "state.json", "--port", "0", ...argv], { cwd });
  onTestFinished(async () => {
    await running.stop();
  });
  return running;
}

const read = (cwd: string) => JSON.parse(readFileSync(join(cwd, "state.json"), "utf8"));

describe("--state", () => {
  it("creates the file, and goes on from it, with a note", async () => {
    const cwd = temporaryFolder({ "a.yaml": world(["one"]) });
    const first = start(cwd, []);
    const url = await baseUrl(first);
    expect(read(cwd)).toMatchObject({ svc_sandbox_state: 1, version: "0.1.0", name: "a.yaml" });
    await control(`${url}/__sandbox`, "POST /keys/one/revoke", {});
    expect((await first.stop()).stderr).not.toContain("Going on");

    const second = start(cwd, []);
    const again = await baseUrl(second);
    expect(second.stderr.text()).toMatch(/^Going on from "state\.json", saved \d{4}-\S+Z\.\n$/);
    expect(second.stdout.text()).toMatch(/\n {2}one +SVC_test_\w+ +401 unauthorized +401\.revoked\n/);
    expect((await control(`${again}/__sandbox`, "GET /keys/one")).body.data.state).toBe("revoked");
  });

  it("wins over the flags of a new world, and says so", async () => {
    const cwd = temporaryFolder({ "a.yaml": world(["one"]) });
    await baseUrl(start(cwd, ["--seed", "3", "--frozen"]));
    const running = start(cwd, ["--seed", "4", "--now", "2026-01-01T00:00:00Z"]);
    await baseUrl(running);
    expect(running.stderr.text()).toMatch(/\. It wins over --seed and --now; remove it to start anew\.\n$/);
    expect(running.stdout.text()).toContain("seed 3\n");
    expect(running.stdout.text()).toMatch(/Clock .*, frozen\n/);
  });

  it("follows a scenario that changes under --watch", async () => {
    const cwd = temporaryFolder({ "a.yaml": world(["one"]) });
    const running = start(cwd, ["--watch"]);
    await baseUrl(running);
    writeFileSync(join(cwd, "a.yaml"), world(["one", "two"]));
    await running.stderr.shows(/Loaded a\.yaml again: new keys two\.\n/);
    expect(Object.keys(read(cwd).world.organizations["a-bank"].keys)).toEqual(["one", "two"]);
    await running.stop();
    const after = start(cwd, ["--watch"]);
    await baseUrl(after);
    expect(after.stdout.text()).toContain("\n  two ");
  });

  it("is not created by a start that fails", async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void other.close());
    const { port } = other.address() as AddressInfo;
    const cwd = temporaryFolder();
    const { code } = await runCli(["--state", "state.json", "--port", String(port)], { cwd });
    expect([code, existsSync(join(cwd, "state.json"))]).toEqual([2, false]);
  });

  it("can be named by SVC_SANDBOX_STATE", async () => {
    const cwd = temporaryFolder();
    const running = startCli(["--port", "0", "--quiet"], { cwd, env: { SVC_SANDBOX_STATE: "kept.json" } });
    await baseUrl(running);
    await running.stop();
    expect(existsSync(join(cwd, "kept.json"))).toBe(true);
  });
});
