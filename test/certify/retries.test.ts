import { expect, test } from "vitest";
import { runCli } from "../support/run-cli.js";

/** Certifies a client that can `send(ref)` and `check(ref, status)` what `call(ref)` got, and goes on after a failure. */
async function certify(call: string) {
  const script = `let code = 0;
    const send = (ref) => fetch(process.env.SVC_BASE_URL + "/v1/relying-party/me",
      { headers: { "x-api-key": process.env["SVC_KEY_" + ref] } });
    const check = async (ref, status) => { if ((await call(ref)).status !== status) code = 1; };
    const call = ${call};
    for (const ref of ["ACTIVE", "LIVE"]) await check(ref, 200);
    for (const ref of ["EXPIRED", "REVOKED", "REVOKED"]) await check(ref, 401);
    for (const ref of ["WRONG_SCOPE", "WRONG_SCOPE"]) await check(ref, 403);
    await check("RATE_LIMITED", 429);
    process.exitCode = code;`;
  const client = [process.execPath, "--input-type=module", "-e", script];
  const argv = ["certify", "--json", "--seeds", "0", "--fail-on", "warning", "--", ...client];
  const { code, stdout } = await runCli(argv);
  const { report, unmet } = JSON.parse(stdout);
  return { code, advice: report.advice, unmet };
}

test("R14 a client that retries after 401 gets that warning, which a gate can fail, and no other", async () => {
  const { code, advice, unmet } = await certify(`async (ref, left = 2) => {
    const response = await send(ref);
    return response.status === 401 && left > 0 ? call(ref, left - 1) : response;
  }`);
  const meaning = expect.stringMatching(
    /It is a retry: when certify rejected active, 2 more requests followed\. .*revoked 10 times \(401\.revoked\)/,
  );
  const examples = expect.arrayContaining([expect.objectContaining({ key: "revoked" })]);
  expect(advice).toEqual([
    expect.objectContaining({ id: "same-key-after-401", level: "warning", count: 14, meaning, examples }),
  ]);
  expect([code, unmet]).toEqual([5, [expect.objectContaining({ threshold: "--fail-on warning" })]]);
});

test("bursts and separate tests that send a rejected key get no advice", async () => {
  const burst = "async (ref) => (await Promise.all([send(ref), send(ref), send(ref)])).at(-1)";
  expect(await certify(burst)).toEqual({ code: 0, advice: [], unmet: [] });
});
