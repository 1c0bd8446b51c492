import { readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage } from "node:http";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { expect, test } from "vitest";
import { runCli } from "../support/run-cli.js";
import { mePath } from "../support/send.js";
import { listening, served } from "../support/servers.js";
import { temporaryFolder } from "../support/temporary-folder.js";

// The owner of a server and a partner, each in a folder of their own.

const controlToken = "the-owner-of-the-server";

async function owned(options = {}) {
  const server = await served({ controlToken, ...options });
  const env = { SVC_CONTROL_URL: server.controlUrl as string, SVC_SANDBOX_CONTROL_TOKEN: controlToken };
  const owner = (...words: string[]) => runCli(["instance", ...words], { env, cwd: temporaryFolder() });
  const partner = (...words: string[]) => runCli(["claim", ...words], { cwd: temporaryFolder(), env: {} });
  return { server, owner, partner };
}

test("an owner and a partner share an instance with two commands, and the first request gets 200", async () => {
  const { owner, partner } = await owned();
  const made = await owner("--label", "Harvest Bank", "--expires", "90d");
  expect(made).toMatchObject({ code: 0, stderr: expect.stringContaining("claim '<link>' --write-env .env") });
  const link = made.stdout.trim();
  const file = join(temporaryFolder(), ".env");
  expect(await partner(link, "--write-env", file)).toMatchObject({ code: 0, stdout: "" });
  const env = parseEnv(readFileSync(file, "utf8"));
  if (process.platform !== "win32") expect(statSync(file).mode & 0o777).toBe(0o600);
  const { status } = await fetch(env.SVC_BASE_URL + mePath, {
    headers: { "x-api-key": env.SVC_API_KEY as string },
  });
  expect(status).toBe(200);
  const { SVC_SANDBOX_CONTROL_TOKEN = "", SVC_CONTROL_URL = "" } = env;
  const report = await runCli(["report", "--json"], { env: { SVC_SANDBOX_CONTROL_TOKEN, SVC_CONTROL_URL } });
  expect(JSON.parse(report.stdout).requests).toBe(1);
  const { stdout } = await owner("list");
  expect(stdout).toMatch(/^ *\w{12} +Harvest Bank +\d+% +1 +200\.test +\d{4}-/m);
});

test("each instance has other keys, and --seed repeats them", async () => {
  const { owner, partner } = await owned();
  const keyOf = async (...flags: string[]) => {
    const { claim_url } = JSON.parse((await owner(...flags, "--json")).stdout);
    return JSON.parse((await partner(claim_url, "--json")).stdout).environment.SVC_API_KEY;
  };
  const [one, other, seeded, again] = [
    await keyOf(),
    await keyOf(),
    await keyOf("--seed", "7"),
    await keyOf("--seed", "7"),
  ];
  expect([new Set([one, other, seeded]).size, again]).toEqual([3, seeded]);
});

test("a second claim shows the time of the first, and a link that ended the person to ask", async () => {
  const { owner, partner } = await owned();
  const { id, claim_url } = JSON.parse((await owner("--json")).stdout);
  const claimed = (link: string) => partner(link, "--json");
  expect((await claimed(claim_url)).code).toBe(0);
  expect(await claimed(claim_url)).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(
      /already used at \d{4}-\S+Z\..* Ask the person who sent it .*instance link \w{12}/,
    ),
  });
  const link = (await owner("link", id)).stdout.trim();
  expect((await claimed(`'${link}'`)).code).toBe(0);
  const last = (await owner("link", id)).stdout.trim();
  expect(await owner("remove", id)).toMatchObject({ code: 0, stdout: "" });
  const gone = await claimed(last);
  expect([gone.code, gone.stderr]).toEqual([2, expect.stringMatching(/removed.* Ask/)]);
  expect((await owner("remove", id)).code).toBe(2);
});

test("a file that exists keeps its text, and the link stays unused", async () => {
  const { owner, partner } = await owned();
  const link = (await owner()).stdout.trim();
  const file = join(temporaryFolder(), ".env");
  writeFileSync(file, "MINE=1\n");
  expect(await partner(link, "--write-env", join(file, "no-folder"))).toMatchObject({ code: 2 });
  expect((await partner(link, "--write-env", file)).code).toBe(0);
  expect(readFileSync(file, "utf8")).toMatch(/^MINE=1\nSVC_BASE_URL=http.*\n/);
});

test("--ca accepts a server with its own certificate authority, and only that one", async () => {
  const { server, owner, partner } = await owned({ tls: true });
  const { certificate } = server as typeof server & { certificate: string };
  const files = temporaryFolder();
  const [ca, other] = [join(files, "ca.pem"), join(files, "other.pem")];
  writeFileSync(ca, certificate);
  writeFileSync(
    other,
    ((await served({ tls: true })) as typeof server & { certificate: string }).certificate,
  );
  const link = (await owner("--ca", ca)).stdout.trim();
  expect(await partner(link, "--ca", other)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("not trusted"),
  });
  expect((await partner(link, "--ca", join(files, "none.pem"))).code).toBe(2);
  expect((await partner(link, "--ca", ca, "--json")).code).toBe(0);
});

test("R46 no output has the owner's token, and one in the arguments gets a warning", async () => {
  const { server, owner } = await owned();
  const words = ["instance", "list", "--url", server.url, "--control-token", controlToken];
  const outputs = [await runCli(words), await owner("list"), await owner("--json")];
  expect(outputs.map(({ stderr }) => /SVC_SANDBOX_CONTROL_TOKEN/.test(stderr))).toEqual([true, false, false]);
  for (const { stdout, stderr } of outputs) expect(stdout + stderr).not.toContain(controlToken);
});

/** A server that responds to every call with this. */
async function hostile(response: (request: IncomingMessage) => object): Promise<string> {
  const server = createServer((request, reply) => reply.end(JSON.stringify(response(request))));
  return `http://127.0.0.1:${await listening(server)}`;
}

const url = "http://127.0.0.1";
const key = "SVC_test_sbx0";
test.each<[string, object]>([
  ["puts between its lines", { SVC_BASE_URL: "http://x\nNODE_OPTIONS=--require=/tmp/x" }],
  ["names for other commands", { SVC_SANDBOX_REPORT: "victim.txt" }],
  ["names for a token", { SVC_SANDBOX_CONTROL_TOKEN: "abcdefgh" }],
  ["gives as a URL", { SVC_CONTROL_URL: "file:///etc/passwd" }],
  ["gives as a key", { SVC_KEY_ACTIVE: "a=b" }],
])("claim writes nothing that a hostile server %s", async (_what, wrong) => {
  const data = {
    ...{ id: "a", label: null, base_url: url, control_url: url, scenario: "x", seed: 1, keys: {} },
    ...{ created_at: "2026-01-01T00:00:00Z", expires_at: null, token: "svci_abc" },
  };
  const claim = async (environment: object) => {
    const link = `${await hostile(() => ({ data: { ...data, environment } }))}/i/a/__sandbox/#code=x`;
    const { code, stdout } = await runCli(["claim", link]);
    return { code, isWritten: stdout !== "" };
  };
  const sound = { SVC_BASE_URL: url, SVC_CONTROL_URL: url, SVC_API_KEY: key, SVC_KEY_UNKNOWN: key };
  expect(await claim(sound)).toEqual({ code: 0, isWritten: true });
  expect(await claim({ ...sound, ...wrong })).toEqual({ code: 2, isWritten: false });
});

test("R46 the own token is in no output, even if the server states it", async () => {
  const token = "a-token-of-the-owner";
  const echo = ({ headers }: IncomingMessage) => String(headers.authorization);
  const rejecting = await hostile((request) => ({
    error: { code: "x", message: `you sent ${echo(request)}` },
  }));
  const listing = await hostile((request) => ({
    data: [{ id: "a", label: echo(request), expires_at: null, traffic: null }],
  }));
  const env = { SVC_SANDBOX_CONTROL_TOKEN: token };
  for (const words of [[], ["list"], ["link", "a"], ["remove", "a"], ["--label", "b"]])
    for (const server of [rejecting, listing]) {
      const { stdout, stderr } = await runCli(["instance", ...words, "--url", server], { env });
      expect((stdout + stderr).length).toBeGreaterThan(10);
      expect(stdout + stderr).not.toContain(token);
    }
});
