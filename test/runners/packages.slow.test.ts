import { spawnSync } from "node:child_process";
import { describe, expect, test, vi } from "vitest";
import { root } from "../support/pages.js";
import { bin, runCommand } from "../support/running-command.js";
import { temporaryFolder } from "../support/temporary-folder.js";

// The package for Python without a test runner. `npm run examples` runs all packages with their runners, also in parallel.

const hasPython = spawnSync("python3", ["--version"]).status === 0;
const env = { PYTHONPATH: `${root}/packaging/python`, SVC_SANDBOX_BIN: bin };

function runPython(code: string) {
  const cwd = temporaryFolder({ "client.py": `from svc_sandbox import Server\n${code}` });
  return runCommand("exec python3 client.py", { cwd, env });
}

describe.skipIf(!hasPython)("a package for another language", () => {
  test("gives each sandbox in use a process, and resets one that is idle for the next", async () => {
    const { stdout } = await runPython(`
with Server() as server:
    first, second = server.sandbox(), server.sandbox(scenario="rotation", seed=7)
    print(first.base_url != second.base_url)
    first.advance(60)
    urls = {first.base_url, second.base_url}
    second.close()
    first.close()
    first.close()
    third, fourth = server.sandbox(), server.sandbox()
    print({third.base_url, fourth.base_url} == urls)
    for sandbox in (third, fourth):
        print(sandbox.control("GET", "/clock"), sorted(sandbox.keys)[0])
`).ended;
    const clock = `{'now': '2026-03-02T09:00:00.000Z', 'frozen': True} active`;
    expect(stdout.split("\n")).toEqual(["True", "True", clock, clock, ""]);
  });

  test("moves the clock by a part of a second, and by months", async () => {
    const { stdout, stderr } = await runPython(`
with Server() as server:
    sandbox = server.sandbox()
    sandbox.advance(2.2)
    sandbox.advance(90 * 86_400)
    print(sandbox.control("GET", "/clock")["now"])
`).ended;
    expect([stdout, stderr]).toEqual(["2026-05-31T09:00:02.200Z\n", ""]);
  });

  test("merges the reports of its processes, over all resets", async () => {
    const { stdout } = await runPython(`
import urllib.error, urllib.request
def me(sandbox, ref):
    try:
        urllib.request.urlopen(urllib.request.Request(sandbox.base_url + "/v1/relying-party/me", headers={"x-api-key": sandbox.key(ref)}))
    except urllib.error.HTTPError:
        pass
with Server() as server:
    both = [server.sandbox(), server.sandbox()]
    me(both[0], "active"), me(both[1], "revoked")
    both[1].close()
    me(server.sandbox(), "expired")
    report = server.report("json")
    print(report["requests"], [path["outcome"] for path in report["outcomes"] if path["covered"]])
`).ended;
    expect(stdout).toBe("3 ['200.test', '401.revoked', '401.expired']\n");
  });

  test("leaves no process behind, also if it is killed", async () => {
    const { child, until } = runPython(`
import sys, time
server = Server()
print(*[server.sandbox().base_url for _ in range(3)], flush=True)
time.sleep(600)
`);
    const urls = (await until(/\n/)).trim().split(" ");
    expect(urls).toHaveLength(3);
    child.kill("SIGKILL");
    for (const url of urls) {
      await vi.waitFor(() => expect(fetch(url)).rejects.toThrow("fetch failed"), { timeout: 30_000 });
    }
  });
});
