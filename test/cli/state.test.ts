import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { control } from "../support/call-control.js";
import { baseUrl, type Running, serve } from "../support/run-cli.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const world = (keys: readonly string[]) =>
  `version: 1\norganizations:\n  a-bank:\n    type: bank\n    keys:\n${keys.map((ref) => `      ${ref}: { environment: test }\n`).join("")}`;

function start(cwd: string, argv: readonly string[]): Running {
  return serve(["a.yaml", "--state", "state.json", ...argv], { cwd });
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
});
