import { spawnSync } from "node:child_process";
import { describe, expect, test, vi } from "vitest";
import { root } from "../support/pages.js";
import { bin, runCommand } from "../support/running-command.js";
import { temporaryFolder } from "../support/temporary-folder.js";

// The package for Python without a test runner. `npm run examples` runs all packages with their runners, also in parallel.

const hasGo = spawnSync("go", ["version"]).status === 0;
const hasPython = spawnSync("python3", ["--version"]).status === 0;
const env = { PYTHONPATH: `${root}/packaging/python`, SVC_SANDBOX_BIN: bin };

function runPython(code: string, variables = {}, files = {}) {
  const cwd = temporaryFolder({ "client.py": `from svc_sandbox import Server\n${code}`, ...files });
  return { cwd, ...runCommand("exec python3 client.py", { cwd, env: { ...env, ...variables } }) };
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

  test.each(['"10m"', "600", "600.0", "timedelta(minutes=10)", '"600s"', '"600000ms"'])(
    "moves the clock by %s",
    async (by) => {
      const { stdout, stderr } = await runPython(`
from datetime import timedelta
with Server() as server:
    sandbox = server.sandbox()
    sandbox.advance(${by})
    print(sandbox.control("GET", "/clock")["now"])
`).ended;
      expect([stdout, stderr]).toEqual(["2026-03-02T09:10:00.000Z\n", ""]);
    },
  );

  test("refuses a text that is no duration", async () => {
    const { stdout } = await runPython(`
with Server() as server:
    try:
        server.sandbox().advance("10 minutes")
    except RuntimeError as error:
        print("validation_failed" in str(error))
`).ended;
    expect(stdout).toBe("True\n");
  });

  test("takes the times of Python, also in a scenario that PyYAML has read, and refuses one without a zone", async () => {
    const { stdout, stderr } = await runPython(`
from datetime import datetime, timedelta, timezone
start = datetime(2026, 3, 2, tzinfo=timezone.utc)
keys = {"one": {"environment": "test", "expires": start + timedelta(hours=2)}, "two": {"environment": "test", "expires": timedelta(minutes=90)}}
scenario = {"version": 1, "clock": {"now": start}, "organizations": {"a": {"type": "bank", "keys": keys}}}
with Server() as server:
    sandbox = server.sandbox(scenario=scenario)
    sandbox.advance(timedelta(minutes=61))
    print(sandbox.control("GET", "/clock")["now"], [key["state"] for key in sandbox.control("GET", "/keys")])
    print(server.sandbox(now=start).control("GET", "/clock")["now"])
    try:
        server.sandbox(now=datetime(2026, 3, 2))
    except ValueError as error:
        print(error)
`).ended;
    expect(stderr).toBe("");
    expect(stdout.split("\n")).toEqual([
      "2026-03-02T01:01:00.000Z ['active', 'active']",
      "2026-03-02T00:00:00.000Z",
      expect.stringMatching(/^The time 2026-03-02 00:00:00 has no zone/),
      "",
    ]);
  });

  const own = (ref: string) =>
    `version: 1\norganizations: { a: { type: bank, keys: { ${ref}: { environment: test } } } }\n`;

  test("starts a file of its folder, and names the folder if a key is missing", async () => {
    const files = { "svc-sandbox.yaml": own("mine"), "other.yaml": own("other"), "inside/.keep": "" };
    const code = `
import os
server = Server()
os.chdir("inside")
print(list(server.sandbox().keys)[0], list(server.sandbox(scenario="other.yaml").keys)[0], list(server.sandbox(scenario="active").keys)[0])
for wrong in (lambda: server.sandbox().key("active"), lambda: server.sandbox(scenario="no.yaml")):
    try:
        wrong()
    except (LookupError, RuntimeError) as error:
        print(error)
`;
    const { cwd, ended } = runPython(code, {}, files);
    expect((await ended).stdout.split("\n")).toEqual([
      "mine other active",
      `No key 'active' in the scenario svc-sandbox.yaml, that of ${cwd}. Keys: mine, unknown, malformed.`,
      `The scenario 'no.yaml' cannot be read in ${cwd}: No such file or directory.`,
      "",
    ]);
  });

  test.each(["HOST=0.0.0.0", "TLS=1", "PUBLIC_URL=https://sandbox.example"])(
    "names SVC_SANDBOX_%s, with which no test reaches its sandbox",
    async (variable) => {
      const [name = "", value = ""] = variable.split("=");
      const { stderr } = await runPython("Server()\n", { [`SVC_SANDBOX_${name}`]: value }).ended;
      expect(stderr.trim().split("\n").at(-1)).toMatch(`RuntimeError: SVC_SANDBOX_${name} is set`);
    },
  );

  test("reads what a process writes also in a locale of ASCII", async () => {
    const ascii = { LC_ALL: "C", PYTHONCOERCECLOCALE: "0", PYTHONUTF8: "0" };
    const files = { "svc-sandbox.yaml": `${own("mine")}ÄÖ: 1\n` };
    const { ended } = runPython("with Server() as server:\n    server.sandbox()\n", ascii, files);
    const { code, stderr } = await ended;
    expect([code, stderr]).toEqual([1, expect.stringContaining('unknown field "\\xc4\\xd6"')]);
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

/** A scenario that covers few outcomes. */
const ownScenario =
  "version: 1\norganizations: { a: { type: bank, keys: { mine: { environment: test } } } }\n";

/** The lines of an output about outcomes that are not covered. */
const missedIn = (output: string) => output.split("\n").filter((line) => line.startsWith("Not covered"));

const hasPytest = hasPython && spawnSync("python3", ["-m", "pytest", "--version"]).status === 0;
describe.skipIf(!hasPytest)("the plugin for pytest", () => {
  const lastTest = `
import urllib.request
import pytest
@pytest.mark.svc_sandbox(scenario="rotation")
def test_last(svc_sandbox):
    pass
`;
  const pytest = (test: string, files = {}) => {
    const cwd = temporaryFolder({ "test_client.py": test, ...files });
    const command = "python3 -m pytest -p svc_sandbox.pytest_plugin -p no:cacheprovider";
    return runCommand(command, { cwd, env: { ...env, ...{ PYTHONDONTWRITEBYTECODE: "1" } } }).ended;
  };

  test("names the scenario that has a key which the scenario of the folder has not, whatever the last test ran", async () => {
    for (const code of ["def test_key(svc_sandbox):\n    svc_sandbox.key('mine')\n", lastTest]) {
      const { stdout } = await pytest(code, { "svc-sandbox.yaml": ownScenario });
      const [own = "", bundled = "", ...others] = missedIn(stdout);
      expect(own).toBe(
        "Not covered (send the key): 200.test (mine), 401.missing (none), 401.malformed (malformed), 401.unknown (unknown)",
      );
      expect(bundled).toMatch(
        /^Not covered \(with scenario="key-states", send the key\): 200\.live \(live\), /,
      );
      expect(others).toEqual([]);
    }
  });

  test("names no scenario if that of the folder has each key", async () => {
    const { stdout } = await pytest(lastTest);
    expect(missedIn(stdout)).toEqual([
      expect.stringMatching(/^Not covered \(send the key\): 200\.test \(active\), /),
    ]);
  });
});

describe.skipIf(!hasGo)("the module for Go", () => {
  const module = "github.com/svc-sandbox/svc-sandbox/packaging/go";
  const goMod = `module example.test/m\ngo 1.19\nrequire ${module} v1.0.0-next.1\nreplace ${module} => ${root}/packaging/go\n`;
  const testFile = (ref: string) => `package client

import (
	"testing"
	"time"

	svcsandbox "${module}"
)

func TestMain(m *testing.M) { svcsandbox.Main(m) }
func TestKey(t *testing.T)  { svcsandbox.New(t).Key("${ref}") }
func TestLast(t *testing.T) {
	sandbox := svcsandbox.New(t, svcsandbox.Scenario("rotation"))
	sandbox.Advance(90 * time.Second)
	sandbox.AdvanceBy("10m")
	var clock struct{ Now string }
	sandbox.Control("GET", "/clock", nil, &clock)
	if clock.Now != "2026-03-02T09:11:30.000Z" {
		t.Fatal(clock.Now)
	}
}
`;
  const goTest = (ref: string, variables = {}) => {
    const files = {
      "go.mod": goMod,
      "svc-sandbox.yaml": ownScenario,
      "client/client_test.go": testFile(ref),
    };
    const cwd = temporaryFolder(files);
    return { cwd, ended: runCommand("go test -v ./client", { cwd, env: { ...env, ...variables } }).ended };
  };

  test("starts the scenario of the module in each of its packages, and names it if a key is missing", async () => {
    const found = await goTest("mine").ended;
    expect([found.code, found.stderr]).toEqual([0, ""]);
    const [own, bundled = "", ...others] = missedIn(found.stdout);
    expect(own).toBe(
      "Not covered (send the key): 200.test (mine), 401.missing (none), 401.malformed (malformed), 401.unknown (unknown)",
    );
    expect(bundled).toMatch(
      /^Not covered \(with Scenario\("key-states"\), send the key\): 200\.live \(live\), /,
    );
    expect(others).toEqual([]);
    const { cwd, ended } = goTest("active");
    const { code, stdout } = await ended;
    expect(code).toBe(1);
    expect(stdout).toContain(`No key "active" in the scenario svc-sandbox.yaml, that of ${cwd}.`);
  });

  test("names a variable with which no test reaches its sandbox", async () => {
    const { code, stdout } = await goTest("mine", { SVC_SANDBOX_TLS: "1" }).ended;
    expect([code, stdout]).toEqual([1, expect.stringContaining("SVC_SANDBOX_TLS is set")]);
  });
});
