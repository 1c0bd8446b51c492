import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { root } from "../support/pages.js";
import { missing } from "../support/programs.js";
import { runCli } from "../support/run-cli.js";

/** Certifies a client that can `send(ref)` and `check(ref, status)` what `call(ref)` got, and goes on after a failure. */
async function certify(call: string, checks = "process.exitCode = code") {
  const script = `let code = 0;
    const send = (ref) => fetch(process.env.SVC_BASE_URL + "/v1/relying-party/me",
      { headers: { "x-api-key": process.env["SVC_KEY_" + ref] } });
    const check = async (ref, status) => { if ((await call(ref)).status !== status) code = 1; };
    const call = ${call};
    for (const ref of ["ACTIVE", "LIVE"]) await check(ref, 200);
    for (const ref of ["EXPIRED", "REVOKED", "REVOKED"]) await check(ref, 401);
    for (const ref of ["WRONG_SCOPE", "WRONG_SCOPE"]) await check(ref, 403);
    await check("RATE_LIMITED", 429);
    ${checks}`;
  const client = [process.execPath, "--input-type=module", "-e", script];
  const argv = ["certify", "--json", "--only", "retries", "--seeds", "3", "--", ...client];
  const { code, stdout } = await runCli(argv);
  const { report, ...result } = JSON.parse(stdout);
  return { code, advice: report.advice, ...result };
}

const afterStatus = (status: number) => `async (ref, left = 2) => {
  const response = await send(ref);
  return response.status === ${status} && left > 0 ? call(ref, left - 1) : response;
}`;

test.each([
  ["", "process.exitCode = code"],
  [" and checks nothing", ""],
])("R14 a client that retries after 401%s fails with that error, and no other", async (_, checks) => {
  const { code, advice, unmet, runs } = await certify(afterStatus(401), checks);
  const meaning = expect.stringMatching(/When certify rejected active with 401, 2 more requests followed\.$/);
  expect(advice).toEqual([expect.objectContaining({ id: "same-key-after-401", level: "error", meaning })]);
  expect([code, unmet]).toEqual([5, [expect.objectContaining({ threshold: "--fail-on error" })]]);
  expect(runs).toHaveLength(1);
});

test("a client that waits as long as a 429 or 503 requires passes, and another client is found", async () => {
  const waits = (share: number) => `async (ref) => {
    const response = await send(ref);
    const seconds = Number(response.headers.get("retry-after") ?? 0) * ${share};
    if (seconds > 0) await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
    return [429, 503].includes(response.status) && seconds > 0 ? send(ref) : response;
  }`;
  // Without the header it gives up, which also passes.
  expect((await certify(waits(1))).advice).toEqual([]);
  const found = [{ id: "too-soon-after-429" }, { id: "too-soon-after-503" }];
  expect((await certify(waits(0.1))).advice).toMatchObject(found);
});

test("a client that reads a date in Retry-After as a number, and retries at once, is found", async () => {
  const { code, advice, retries } = await certify(`async (ref) => {
    const response = await send(ref);
    const after = response.headers.get("retry-after");
    if (response.status !== 503 || after === null) return response;
    await new Promise((resolve) => setTimeout(resolve, 1000 * Number(after)));
    return send(ref);
  }`);
  const meaning = expect.stringMatching(
    /before the date in its Retry-After: a client waits until the date\.$/,
  );
  expect([code, advice]).toEqual([5, [expect.objectContaining({ id: "too-soon-after-503", meaning })]]);
  expect(retries).toContainEqual(
    expect.objectContaining({ after: "503 with Retry-After", outcome: "passed" }),
  );
});

test("a client that never gives up in an outage is found, with its tries and its shortest pause", async () => {
  const { advice } = await certify(`async (ref) => {
    for (;;) {
      const response = await send(ref);
      if (response.status < 500) return response;
    }
  }`);
  const meaning = expect.stringMatching(
    /While active got 503, your client sent more than 20 requests, with a shortest pause of \d+ ms, and did not give up\.$/,
  );
  expect(advice).toMatchObject([{ id: "too-soon-after-503" }, { id: "no-pause-after-failure", meaning }]);
});

test("experiments that show nothing are a warning, with the reason and what to change", async () => {
  const rerun =
    'if (code !== 0 && !process.env.AGAIN) { code = 0; process.env.AGAIN = 1; for (const ref of ["ACTIVE", "REVOKED"]) await check(ref, ref === "ACTIVE" ? 200 : 401); } process.exitCode = 1 * (code !== 0)';
  const { code, advice, retries, not_tried: open } = await certify("send", rerun);
  expect(retries[0]).toMatchObject({
    after: "401",
    outcome: "not_tried",
    what_to_do: "Turn off its retries for this command.",
  });
  expect(advice).toMatchObject([{ id: "retries-not-tried", level: "warning", count: open.length }]);
  expect([code, open[0]]).toEqual([0, expect.objectContaining({ what: "retries after 401" })]);
});

const python = join(root, "test/support/retrying-client.py");
/** Certifies the retries of a client in Python with a mistake, and tests with this kind of sandbox. */
const certifyPython = async (mistake: string, suite: string, ...flags: string[]) => {
  const command = ["python3", python, mistake, suite, "0"];
  const argv = ["certify", "--json", "--only", "retries", ...flags, "--", ...command];
  const { code, stdout } = await runCli(argv);
  const { report, not_tried: open } = JSON.parse(stdout);
  return { code, advice: report.advice.map(({ id }: { id: string }) => id), open };
};

describe.skipIf(missing("python3"))("tests with the usual test of the end of a minute", () => {
  const [rejected, forbidden, limited, hasty] = [
    "same-key-after-401",
    "same-key-after-403",
    "too-soon-after-429",
    "too-soon-after-503",
  ];
  test.each([
    ["any", "shared", [rejected, forbidden, limited, hasty]],
    ["4xx", "reset", [rejected, forbidden, limited]],
    ["429", "reset", [limited]],
    ["401", "reset", [rejected]],
    ["only-header", "shared", [limited]],
    // Its pauses are shorter than Retry-After.
    ["backoff", "reset", [hasty]],
    ["follows", "reset", []],
  ])(
    "of a client that retries by the rule %s, in the sandboxes %s, cause %j",
    async (mistake, suite, advice) => {
      expect(await certifyPython(mistake, suite)).toEqual({
        code: advice.length > 0 ? 5 : 0,
        advice,
        open: [],
      });
    },
  );
});
