import { spawnSync } from "node:child_process";
import { existsSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Certificate } from "../support/certify.js";
import { root } from "../support/pages.js";
import { runCommand } from "../support/running-command.js";
import { userFolder } from "../support/temporary-folder.js";

// Runners that repeat tests which fail: they hide resends, which is listed, but not what each response of a run has.

const rows = [
  ["ACTIVE", 200],
  ["ACTIVE", 200],
  ["LIVE", 200],
  ["REVOKED", 401],
  ["EXPIRED", 401],
  ["WRONG_SCOPE", 403],
] as const;

/** The flaw of a client, which compares a whole `Content-Type`. */
const comparesType =
  'if (response.headers.get("content-type") !== "application/json") throw new Error("type");';

const testsInScript = (head: string, check: string) => `${head}
  const me = async (ref) => {
    const headers = { "x-api-key": process.env["SVC_KEY_" + ref] };
    const response = await fetch(process.env.SVC_BASE_URL + "/v1/relying-party/me", { headers });
    ${check}
    return response.status;
  };
  for (const [at, [ref, status]] of ${JSON.stringify(rows)}.entries())
    test(at + " " + ref, async () => { if ((await me(ref)) !== status) throw new Error("status"); });`;

const testsInPython = (check: string) => `
import json, os, urllib.error, urllib.request
import pytest

@pytest.mark.parametrize(("ref", "status"), ${JSON.stringify(rows)})
def test_key(ref, status):
    request = urllib.request.Request(os.environ["SVC_BASE_URL"] + "/v1/relying-party/me", headers={"x-api-key": os.environ["SVC_KEY_" + ref]})
    try:
        response = urllib.request.urlopen(request)
    except urllib.error.HTTPError as error:
        response = error
    ${check}
    assert response.status == status
`;

interface Runner {
  readonly name: string;
  readonly isThere: boolean;
  readonly files: (isFlawed: boolean) => Record<string, string>;
  readonly command: string;
}

/** Where packages are that this project does not need: `RUNNERS=/tmp/x/node_modules` after `npm install jest @playwright/test` there. */
const packages = process.env.RUNNERS ?? join(root, "node_modules");
const isInstalled = (name: string) => existsSync(join(packages, name));

const runners: readonly Runner[] = [
  {
    name: "vitest with retry",
    isThere: true,
    command: "node node_modules/vitest/vitest.mjs run --retry 2",
    files: (isFlawed) => ({
      "me.test.js": testsInScript('import { test } from "vitest";', isFlawed ? comparesType : ""),
    }),
  },
  {
    name: "jest with retryTimes",
    isThere: isInstalled("jest"),
    command: `node ${packages}/jest/bin/jest.js`,
    files: (isFlawed) => ({
      "me.test.cjs": testsInScript("jest.retryTimes(2);", isFlawed ? comparesType : ""),
      "jest.config.cjs": 'module.exports = { testMatch: ["**/*.test.cjs"] };',
    }),
  },
  {
    name: "Playwright with retries",
    isThere: isInstalled("@playwright/test"),
    command: `node ${packages}/@playwright/test/cli.js test --retries 2`,
    files: (isFlawed) => ({
      "me.spec.js": testsInScript('import { test } from "@playwright/test";', isFlawed ? comparesType : ""),
    }),
  },
  {
    name: "pytest with reruns",
    isThere: spawnSync("python3", ["-c", "import pytest, pytest_rerunfailures"]).status === 0,
    command: "python3 -m pytest -p no:cacheprovider --reruns 2",
    files: (isFlawed) => ({
      "test_me.py": testsInPython(
        isFlawed ? 'assert response.headers["content-type"] == "application/json"' : "",
      ),
    }),
  },
];

async function certify({ files, command }: Runner, isFlawed: boolean): Promise<Certificate> {
  const cwd = userFolder(files(isFlawed));
  if (isInstalled("@playwright")) {
    symlinkSync(join(packages, "@playwright"), join(cwd, "node_modules/@playwright"));
  }
  const line = `node node_modules/.bin/svc-sandbox certify --format json --only varied --only resend.401 -- ${command}`;
  return JSON.parse((await runCommand(line, { cwd }).ended).stdout) as Certificate;
}

describe.each(runners.filter(({ isThere }) => isThere))("$name", (runner) => {
  test("a correct suite has no problem, and its resends are not held", async () => {
    const { problems, checks } = await certify(runner, false);
    expect(problems).toEqual([]);
    expect(checks.find(({ name }) => name === "resend.401")?.result).toBe("not_judged");
  });

  test("a suite that compares a whole Content-Type is named", async () => {
    const { problems } = await certify(runner, true);
    expect(problems.map(({ row }) => row)).toEqual(["content_type"]);
  });
});
