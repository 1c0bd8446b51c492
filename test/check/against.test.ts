import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { reportFiles } from "../../src/dashboard/control/report-formats.generated.js";
import { type Misbehave, probeKeys, serveProbed, setIn } from "../support/probed-server.js";
import { runCli } from "../support/run-cli.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const serve = (drift: Misbehave = () => {}) => serveProbed(drift);

let folder: string;
beforeEach(() => {
  folder = temporaryFolder();
});

async function check(url: string, ...argv: string[]) {
  const ran = await runCli(["check", url, ...argv], { env: probeKeys, cwd: folder });
  const added = [...`${ran.stdout}${ran.stderr}`.matchAll(/^New on (.+)\.$/gm)].map(([, fact]) => fact);
  return { ...ran, added };
}

/** Checks a server, then one with a drift against that. */
async function checkAgain(drift: Misbehave, of: { before?: Misbehave; argv?: string[] } = {}) {
  const { before, argv = [] } = of;
  const { stdout } = await check((await serve(before)).url, "--json");
  writeFileSync(join(folder, "last.json"), stdout);
  return check((await serve(drift)).url, "--against", "last.json", ...argv);
}

const onContext =
  (path: string, value: unknown): Misbehave =>
  (reply) => {
    if (reply.status === 200) setIn(reply, `body.data.${path}`, value);
  };
const secret = { "sk-live-1": "hunter2" };
const planted = {
  "a member in data": [onContext("trace", secret), ["200: $.data.trace"]],
  "a Deprecation header": [
    (reply) => setIn(reply, "headers.Deprecation", "@1"),
    ["401: deprecation", "200: deprecation", "403: deprecation"],
  ],
  "a member in error": [
    (reply) => void (reply.status === 403 && setIn(reply, "body.error.trace", "hunter2")),
    ["403: $.error.trace"],
  ],
  "error.details on 403 only": [
    (reply) => void (reply.status === 403 && setIn(reply, "body.error.details", { scope: "hunter2" })),
    ["403 error.details: present instead of absent", "error_details: true instead of false"],
  ],
  "a status": [
    (reply, { ref }) => void (ref === "revoked" && Object.assign(reply, { status: 403 })),
    [
      "401.revoked: 403 unauthorized instead of 401 unauthorized",
      "401.revoked: status differs from the contract",
    ],
  ],
  "an assumption": [
    (reply, { number }) => setIn(reply, "headers.X-Request-Id", `req-${number}`),
    ["request_id_on_errors: true instead of false", "401: x-request-id", "403: x-request-id"],
  ],
} satisfies Record<string, [Misbehave, string[]]>;

test.each(Object.entries(planted))("%s that an earlier check did not find is new, and fails", async (_, [
  drift,
  facts,
]) => {
  const { code, added, stdout } = await checkAgain(drift);
  expect([code, added.sort()]).toEqual([1, [...facts].sort()]);
  expect(stdout).not.toMatch(/hunter2|sk-live/);
});

test("nothing is new on an unchanged server, nor what a check had found before", async () => {
  expect(await checkAgain(() => {})).toMatchObject({ code: 0, added: [], stderr: "" });
  const drift: Misbehave = (...given) => {
    for (const [one] of Object.values(planted)) one(...given);
  };
  expect(await checkAgain(drift, { before: drift })).toMatchObject({ code: 1, added: [] });
});

test("undocumented members and headers that announce an end are notes, which fail nothing", async () => {
  const { url } = await serve((reply) => {
    Object.assign(reply.headers, { Deprecation: "@1", sunset: "Sat, 31 Dec 2033 23:59:59 GMT" });
    if (reply.status === 200) setIn(reply, "body.data.trace", secret);
    else setIn(reply, "body.error.trace", "hunter2");
  });
  const { code, stdout } = await check(url, "--json");
  const { notes, verdict } = JSON.parse(stdout);
  expect([code, verdict]).toEqual([0, "agrees"]);
  const names = ["$.data.trace", "$.error.trace", "Deprecation", "sunset"];
  const undocumented = notes.filter((note: string) => !note.startsWith("Compared "));
  expect(undocumented.sort()).toEqual(names.map((one) => `${one} is not in the contract.`));
  const organization = await serve(onContext("organization.country", "NL"));
  expect((await check(organization.url)).stdout).toContain(
    "$.data.organization.country is not in the contract.",
  );
});

test("R46 the JSON has the names in each response, and neither values nor keys", async () => {
  const { url } = await serve((reply, { apiKey = "" }) => {
    reply.headers["X-Trace"] = "hunter2";
    if (reply.status === 200) setIn(reply, "body.data.trace", secret);
    if (reply.status === 200) setIn(reply, `body.data.${apiKey}`, apiKey);
  });
  const { stdout } = await check(url, "--json");
  const { responses } = JSON.parse(stdout);
  expect(responses[3]).toEqual({
    path_id: "200.test",
    status: 200,
    headers: ["Content-Type", "X-Request-Id", "X-Trace", "Date", "Connection", "Transfer-Encoding"],
    undocumented: ["$.data.trace", "$.data.SVC_test_…"],
  });
  expect(JSON.stringify(responses)).not.toMatch(/hunter2|sk-live|Secret0123/);
});

test("every format shows what is new", async () => {
  for (const { format } of reportFiles) {
    const ran = await checkAgain(planted["a member in data"][0], { argv: ["--format", format] });
    expect(ran.stdout).toContain("200: $.data.trace");
    expect([ran.code, ran.stderr]).toEqual([1, format === "text" ? "" : "New on 200: $.data.trace.\n"]);
  }
});

const stopped = async () => {
  const { url } = await serve((reply) => void Object.assign(reply, { bytes: "<html>" }));
  return (await check(url, "--json")).stdout;
};
test.each<[what: string, text: () => string | Promise<string>]>([
  ["an empty file", () => ""],
  ["the report of exec", () => JSON.stringify({ coverage: {}, paths: [], advice: [] })],
  ["a check that was stopped", stopped],
])("%s is nothing to compare with, and no request is sent", async (_what, text) => {
  writeFileSync(join(folder, "other.json"), await text());
  const server = await serve();
  const { code, stdout, stderr } = await check(server.url, "--against", "other.json");
  expect(stderr).toMatch(
    /^Invalid --against: "other\.json" is not the JSON output of a check .*Use a file that/,
  );
  expect([code, stdout, server.requests()]).toEqual([2, "", []]);
});
