import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { briefIn } from "../cli/exec-client.js";
import { blockWith, pageOf } from "../support/pages.js";
import { runCli } from "../support/run-cli.js";
import { startBin } from "../support/running-command.js";
import { temporaryFolder, userFolder } from "../support/temporary-folder.js";

test("certify --format brief is all that it prints: each cause with the run that shows it, and no progress", async () => {
  const script = `const call = async (ref) => (await fetch(process.env.SVC_BASE_URL + "/v1/relying-party/me",
    { headers: { "x-api-key": process.env["SVC_KEY_" + ref] } })).status;
    const wanted = { ACTIVE: 200, REVOKED: 401, EXPIRED: 401, WRONG_SCOPE: 403, LIVE: 200 };
    for (const [ref, status] of Object.entries(wanted)) if ((await call(ref)) !== status) process.exit(1);
    if (process.argv[1] === "careless") process.exit(0);`;
  const certify = (code: string) =>
    runCli(
      [
        ..."certify --format brief --seeds 0 --".split(" "),
        process.execPath,
        "--input-type=module",
        "-e",
        code,
      ],
      { cwd: temporaryFolder() },
    );
  const good = await certify(script);
  expect([good.code, good.stderr, briefIn(good.stdout).verdict]).toEqual([0, "", "passed"]);
  const careless = await certify(script.replace("REVOKED: 401", "REVOKED: (await call('REVOKED'))"));
  expect([careless.code, careless.stderr, briefIn(careless.stdout)]).toMatchObject([
    5,
    "",
    {
      verdict: "threshold_missed",
      failures: [
        {
          id: "401.revoked:accepted",
          actual: "not noticed",
          rerun: expect.stringContaining("--break 401.revoked:accepted"),
        },
      ],
    },
  ]);
  const broken = await certify("console.log('why it broke'); process.exit(1)");
  expect([broken.code, broken.stderr, briefIn(broken.stdout)]).toMatchObject([
    1,
    "",
    {
      verdict: "client_failed",
      failures: [{ id: "minimal", actual: "failed with exit code 1", output: ["why it broke"] }],
    },
  ]);
});

test("init --client vitest covers each promised path with tests that pass, and no advice but notes", async () => {
  const cwd = userFolder({ "package.json": '{ "type": "module", "devDependencies": { "vitest": "*" } }' });
  await runCli(["init", "--client", "vitest"], { cwd });
  const { code, stderr } = await startBin(
    [
      "exec",
      "--format",
      "brief",
      "--fail-on",
      "warning",
      "--",
      "node",
      "node_modules/vitest/vitest.mjs",
      "run",
    ],
    { cwd },
  ).ended;
  expect([code, briefIn(stderr)]).toMatchObject([0, { verdict: "passed", coverage: 100 }]);
});

test("an agent that reads the help, AGENTS.md and brief lines covers each path and is certified, after 10,000 characters", async () => {
  const cwd = userFolder();
  const texts = [(await runCli(["--help"])).stdout, pageOf("AGENTS.md")];
  const cases = new Map([["ACTIVE", 200]]);
  const step = async (...argv: string[]) => {
    const text = blockWith("AGENTS.md", "js", "// me.test.mjs")
      .replace(/\[\s*\["ACTIVE"[^)]*\]/, () => JSON.stringify([...cases]))
      .replace('{ "x-api-key"', '!env["SVC_KEY_".concat(ref)] ? {} : { "x-api-key"');
    writeFileSync(join(cwd, "me.test.mjs"), text);
    const command = ["node", "--test", "--test-reporter=dot"];
    const { code, stdout, stderr } = await startBin([...argv, "--format", "brief", "--", ...command], { cwd })
      .ended;
    texts.push(stdout, stderr);
    return { code, brief: JSON.parse(`${stdout}${stderr}`.trimEnd().split("\n").at(-1) ?? "") };
  };
  const first = await step("exec", "--min-coverage", "100");
  expect([first.code, first.brief.verdict]).toEqual([5, "threshold_missed"]);
  for (const [path, ref] of Object.entries<string>(first.brief.missed))
    cases.set(ref.toUpperCase().replaceAll("-", "_"), Number(path.slice(0, 3)));
  expect(await step("exec", "--min-coverage", "100")).toMatchObject({ code: 0, brief: { coverage: 100 } });
  expect(await step("certify", "--seeds", "1")).toMatchObject({ code: 0, brief: { verdict: "passed" } });
  expect(texts.join("").length).toBeLessThan(10_000);
});
