import { expect, test } from "vitest";
import { probeKeys, serveProbed, setIn } from "../support/probed-server.js";
import { runCli } from "../support/run-cli.js";

const secret = { "sk-live-1": "hunter2" };

test("undocumented members are notes, which fail nothing", async () => {
  const { url } = await serveProbed((reply) => {
    if (reply.status === 200) setIn(reply, "body.data.trace", secret);
    else setIn(reply, "body.error.trace", "hunter2");
  });
  const { code, stdout } = await runCli(["compare", url, "--json"], { env: probeKeys });
  const { notes, verdict } = JSON.parse(stdout);
  expect([code, verdict]).toEqual([0, "agrees"]);
  const names = ["$.data.trace", "$.error.trace"];
  expect(notes.sort()).toEqual(names.map((one) => `${one} is not in the contract.`));
});

test("R46 notes have the names of undocumented members, and neither values nor keys", async () => {
  const { url } = await serveProbed((reply, { apiKey = "" }) => {
    if (reply.status === 200) setIn(reply, "body.data.organization.country", secret);
    if (reply.status === 200) setIn(reply, `body.data.${apiKey}`, apiKey);
  });
  const { stdout } = await runCli(["compare", url], { env: probeKeys });
  expect(stdout).toContain("$.data.organization.country is not in the contract.");
  expect(stdout).toContain("$.data.SVC_test_… is not in the contract.");
  expect(stdout).not.toMatch(/hunter2|sk-live|Secret0123/);
});

test("the JSON of two comparisons of an unchanged environment is equal, apart from request ids and the time", async () => {
  let sent = 0;
  const { url } = await serveProbed((reply) => {
    sent += 1;
    setIn(reply, reply.status === 200 ? "body.trace" : "body.error.details", { trace: sent });
    setIn(reply, "body.request_id", `request ${sent}`);
    setIn(reply, "headers.X-Request-Id", `id-${sent}`);
  });
  const [one, other] = [
    await runCli(["compare", url, "--json"], { env: probeKeys }),
    await runCli(["compare", url, "--json"], { env: probeKeys }),
  ];
  const withoutIds = ({ stdout }: { stdout: string }) =>
    stdout.replace(/id-\d+/g, "id").replace(/"compared_at": ".+"/, "");
  expect([one.code, withoutIds(other)]).toEqual([1, withoutIds(one)]);
});
