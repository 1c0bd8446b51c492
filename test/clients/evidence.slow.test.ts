import { join } from "node:path";
import { expect, test } from "vitest";
import { certify } from "../support/certify.js";
import { root } from "../support/pages.js";
import { temporaryFolder } from "../support/temporary-folder.js";

// Small clients and suites whose commands end as if they had passed, or failed, for another reason.

const certifyClient = (client: string, ...flags: string[]) =>
  certify([process.execPath, join(root, "test/clients/evidence", client)], ...flags);

test("a command that sends requests only in its first run shows nothing, with the runner's option against it", async () => {
  const { code, verdict, checks } = await certifyClient(
    "cached.mjs",
    "--only",
    "varied.1",
    "--only",
    "fault.hang",
  );
  expect([code, verdict]).toEqual([5, "not_judged"]);
  expect(checks.find(({ name }) => name === "varied.1")).toMatchObject({
    result: "not_judged",
    why: expect.stringContaining("did not send what it sent in the plain run"),
    what_to_do: expect.stringContaining("--rerun-tasks"),
  });
});

test.each([
  ["a suite that sets the profile", "sets-profile.mjs", "varied", "`Content-Type`"],
  ["a suite that clears the faults", "clears-faults.mjs", "fault.reset", "its connection reset"],
])("%s changes no condition of a run", async (_, client, name, part) => {
  const { code, problems } = await certifyClient(client, "--only", name);
  expect([code, problems[0]?.sentence]).toEqual([1, expect.stringContaining(part)]);
});

test("assumptions that a suite sets are not judged", async () => {
  const { notes } = await certifyClient("sets-assumptions.mjs", "--only", "varied");
  expect(notes.find(({ what }) => what === "varied assumptions")?.why).toBe(
    "your tests set `rate_limit_code` and `www_authenticate`",
  );
});

test("what a scenario sets is named, not as a lack of the tests, and only its form varies", async () => {
  const cwd = temporaryFolder({
    "real.yaml":
      "version: 1\nextends: key-states\nassumptions: { www_authenticate: true, retry_after: seconds, me_scope: 'attestations:read' }\n",
  });
  const { problems, notes, assumptions } = await certifyClient(
    "needs-realm.mjs",
    join(cwd, "real.yaml"),
    "--only",
    "varied",
  );
  expect(assumptions).toEqual(["retry_after", "www_authenticate"]);
  expect(problems.map(({ row, sentence }) => [row, sentence])).toEqual([
    ["www_authenticate", "Breaks when a 401 has a `WWW-Authenticate` without a realm"],
  ]);
  expect(notes.find(({ what }) => what === "varied assumptions")?.why).toBe(
    "your tests set `rate_limit_code`",
  );
});

test("R46 a key that is printed only after a fault is a problem of that run", async () => {
  const { code, problems } = await certifyClient("key-in-retry.mjs", "--only", "fault.status");
  expect([code, problems.map(({ name }) => name)]).toEqual([1, ["advice.key-in-output"]]);
});

test("a date in the Retry-After of a 429 that is read as a number is a problem", async () => {
  const { code, problems } = await certifyClient("date-as-number.mjs", "--only", "resend.429.date");
  expect([code, problems.map(({ name }) => name)]).toEqual([1, ["resend.429.date"]]);
});

test("a fault leaves the clock alone: a client that waits for the next minute passes", async () => {
  const { code } = await certifyClient(
    "next-minute.mjs",
    "--now",
    "2026-03-02T09:00:45Z",
    "--only",
    "fault.reset",
  );
  expect(code).toBe(0);
});

test("a correct suite that sends a random number of requests is not accused", async () => {
  const { verdict, problems } = await certifyClient("random-count.mjs");
  expect([verdict, problems]).toEqual(["passed", []]);
});

test("a suite that fails only next to another run is not accused, and passes with -j 1, which its reason names", async () => {
  const jobs = (count: string) => certifyClient("shared-folder.mjs", "--jobs", count, "--only", "varied");
  const shared = await jobs("2");
  // How many of its runs meet another one is chance.
  expect(shared.problems).toEqual([]);
  if (shared.code !== 0) {
    expect([shared.code, shared.stdout]).toEqual([5, expect.stringContaining("add -j 1")]);
  }
  const { code, problems } = await jobs("1");
  expect([code, problems]).toEqual([0, []]);
});
