import { execFile, spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import type { Request } from "../../src/dashboard/control/answers.js";
import { clientCode } from "../../src/dashboard/views/requests/client-code.js";
import type { Scenario } from "../../src/index.js";
import { clientEnvironment } from "../../src/node/client-variables.js";
import { bundledScenarios } from "../../src/scenario/bundled.js";
import { serveControl } from "../control/client.js";
import { userFolder } from "../support/temporary-folder.js";

const run = promisify(execFile);
const mePath = "/v1/relying-party/me";
const pythonWorks = spawnSync("python3", ["--version"]).status === 0;
const pytestWorks = spawnSync("python3", ["-m", "pytest", "--version"]).status === 0;

/** Calls each test of a file without pytest, of which the code uses `raises` alone. */
const withoutPytest = `import contextlib, runpy, sys, types

@contextlib.contextmanager
def raises(kinds):
    try:
        yield
    except kinds:
        return
    raise AssertionError("nothing was raised")

sys.modules["pytest"] = types.SimpleNamespace(raises=raises)
for file in sys.argv[1:]:
    for name, found in list(runpy.run_path(file).items()):
        if name.startswith("test_"):
            found()
`;

/** The requests of the page, and where they end: the code has to bring that about again. */
const requests: readonly (readonly [method: string, path: string, key: string])[] = [
  ...["active", "revoked", "wrong-scope", "rate-limited", "none", "malformed", "unknown"].map(
    (key) => ["GET", mePath, key] as const,
  ),
  ...["legacy", "retiring", "replacement", "live", "legacy-live"].map((key) => ["GET", mePath, key] as const),
  ["DELETE", mePath, "active"],
  ["HEAD", mePath, "revoked"],
  ["GET", `/it's "$HOME" \`id\`;{a,b}[1-2]/ü%20\\n<b>\${x}%`, "none"],
  ["POST", "/a'b", "active"],
];

const faults: Scenario["faults"] = [
  { when: { key: "legacy" }, then: { status: 503 } },
  { when: { key: "retiring" }, then: { reset: true } },
  { when: { key: "replacement" }, then: { hang: true } },
  { when: { key: "live" }, then: { truncate: true } },
  { when: { key: "legacy-live" }, then: { malformed: true } },
];

test("a request copied as curl, fetch, vitest or pytest ends where it did, and holds no key", async () => {
  const { ask, server, runtime } = await serveControl({
    scenario: { ...bundledScenarios["key-states"], faults },
  });
  for (const [method, path, key] of requests) {
    const { status, body } = await ask("/send", {
      method: "POST",
      json: { method, path: encoded(path), key },
    });
    expect(status, JSON.stringify(body)).toBe(200);
  }
  const journal = (await ask("/requests")).body.data as Request[];
  expect(journal).toHaveLength(requests.length);
  const variables = clientEnvironment(runtime.world(), server);
  const env = { ...process.env, ...variables };
  const folder = userFolder();
  const files: Record<string, string[]> = { curl: [], fetch: [], vitest: [], pytest: [] };
  const ending = { curl: "sh", fetch: "mjs", vitest: "test.mjs", pytest: "py" };
  for (const [index, request] of journal.entries()) {
    for (const { name, code } of clientCode(request)) {
      for (const [variable, value] of Object.entries(variables)) {
        expect(code, variable).not.toContain(value);
      }
      const file = join(folder, `test_${index}.${ending[name]}`);
      writeFileSync(file, code);
      files[name]?.push(file);
    }
  }
  // Of a fault that leaves no answer, these two say so with their exit code.
  const oneByOne = (command: string, list: readonly string[] = []) =>
    list.map((file, index) =>
      run(command, [file], { env }).catch((error) => {
        expect(journal[index]?.path_id, `${error}`).toMatch(/^fault\./);
      }),
    );
  const vitest = [join(folder, "node_modules/vitest/vitest.mjs"), "run", "--root", folder, "--no-cache"];
  const program = join(folder, "without_pytest.py");
  writeFileSync(program, withoutPytest);
  const pytest = pytestWorks
    ? ["-m", "pytest", "-q", "-p", "no:cacheprovider", folder]
    : [program, ...(files.pytest ?? [])];
  await Promise.all([
    ...oneByOne("sh", files.curl),
    ...oneByOne(process.execPath, files.fetch),
    run(process.execPath, vitest, { env, cwd: folder }),
    ...(pythonWorks ? [run("python3", pytest, { env, cwd: folder })] : []),
  ]);
  const since = ((await ask("/requests")).body.data as Request[]).slice(journal.length);
  // What cannot stand in a URL is encoded by the code.
  const inUrl = (path: string) => path.replace(/["<>\\^`{|}]/g, encodeURIComponent);
  const facts = ({ method, path, path_id, key }: Request) => `${method} ${inUrl(path)} ${path_id} ${key}`;
  const forms = pythonWorks ? [1, 2, 3, 4] : [1, 2, 3];
  expect(since.map(facts).sort()).toEqual(forms.flatMap(() => journal.map(facts)).sort());
});

/** A path as HTTP clients send it: only what cannot stand in a request line is encoded. */
function encoded(path: string): string {
  return path.replace(/[^\x21-\x7e]/g, encodeURIComponent);
}
