import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { KeyRow } from "../../src/cli/key-rows.js";
import { createSandbox, parseScenario, type Sandbox } from "../../src/index.js";
import { stateOf } from "../../src/library/sandbox-api.js";
import type { SavedSandbox } from "../../src/sandbox/saved-sandbox.js";
import { startServer } from "../../src/server/index.js";
import { control } from "../support/call-control.js";
import { continued, savedOf } from "../support/continued.js";
import { mePath, openSandbox } from "../support/doors.js";
import { baseUrl, runCli, startCli } from "../support/run-cli.js";

// A sandbox's clock runs, and the date of a Retry-After is to be the same at every door.
beforeEach(() => void vi.useFakeTimers({ toFake: ["Date"], now: Date.UTC(2026, 2, 2, 9) }));
afterEach(() => void vi.useRealTimers());

const varied = (seed: number) => ({ profile: "varied", seed }) as const;
const open = (seed: number) => openSandbox("key-states", varied(seed));
test("a saved sandbox keeps what the scenario gave, which stays fixed", async () => {
  const scenario = parseScenario(
    "version: 1\nextends: key-states\nassumptions: { profile: varied, rate_limit_code: slow_down }",
  );
  const sandbox = continued(createSandbox({ scenario }));
  expect([sandbox.profile, sandbox.assumptions.rate_limit_code]).toEqual(["varied", "slow_down"]);
  for (let i = 0; i < 30; i++) expect(await limitedCode(sandbox)).toBe("slow_down");
});

async function limitedCode(sandbox: Sandbox): Promise<string> {
  const headers = { "x-api-key": sandbox.secret("rate-limited") };
  const response = await sandbox.fetch(`https://any.example${mePath}`, { headers });
  return ((await response.json()) as { error: { code: string } }).error.code;
}

/** Whether the responses to a request without a key have the header that `typical` has on a 401. */
async function challenges(send: (path: string) => Promise<Response>): Promise<boolean> {
  return (await send(mePath)).headers.has("www-authenticate");
}

const over = (url: string) => challenges((path) => fetch(url + path));
const reset = ({ controlUrl }: { controlUrl: string | undefined }, body: object) =>
  control(controlUrl, "POST /reset", body);

test.each([
  ["minimal", false],
  ["typical", true],
  ["varied", true],
] as const)("the profile %s is an option, a flag, and set by a reset", async (profile, expected) => {
  const sandbox = createSandbox({ profile });
  expect(await challenges((path) => sandbox.fetch(`https://any.example${path}`))).toEqual(expected);
  await using server = await startServer({ profile });
  expect([server.sandbox.profile, await over(server.url)]).toEqual([profile, expected]);
  await using changed = await startServer({ profile: profile === "minimal" ? "typical" : "minimal" });
  expect((await reset(changed, { profile })).status).toBe(200);
  expect(await over(changed.url)).toEqual(expected);
  const running = startCli(["start", "key-states", "--profile", profile, "--port", "0"]);
  expect(await over(await baseUrl(running))).toEqual(expected);
  expect(running.stdout.text()).toMatch(new RegExp(`Profile +${profile}\\n`));
  expect((await running.stop()).code).toBe(0);
});

test("R4 a key keeps its scopes and an organization its name: in responses, lists and after a rotation", async () => {
  const granted = new Set<string>();
  for (let seed = 1; seed <= 8; seed++) {
    const sandbox = open(seed);
    const plain = openSandbox("key-states", { seed });
    const { secret } = sandbox.keys.rotate("active", { as: "next" });
    const made = sandbox.keys.create({ organization: "harvest-bank", environment: "test", name: "made" });
    const secrets = { active: sandbox.secret("active"), next: secret, made: made.secret };
    for (const [ref, key] of Object.entries(secrets)) {
      const { scopes, organization } = sandbox.keys.get(ref);
      const { name } = sandbox.organizations.get(organization);
      const headers = { "x-api-key": key };
      for (let i = 0; i < 10; i++) {
        const { data } = await (await sandbox.fetch(`https://any.example${mePath}`, { headers })).json();
        expect([data.organization.name, data.scopes.toSorted()]).toEqual([name, [...scopes].sort()]);
      }
      for (const scope of scopes) granted.add(scope);
    }
    expect(sandbox.keys.get("next").scopes).toEqual(sandbox.keys.get("active").scopes);
    const again = continued(sandbox);
    const scopesOf = ({ keys }: Sandbox) =>
      Object.fromEntries(keys.list().map(({ ref, scopes }) => [ref, scopes]));
    expect(scopesOf(again)).toEqual(scopesOf(sandbox));
    expect(again.organizations.list()).toEqual(sandbox.organizations.list());
    const recorded = ({ organizations, keys }: SavedSandbox) => [
      organizations.map(({ name }) => name),
      keys.filter(({ ref }) => ref === "revoked" || ref === "live").map(({ scopes }) => scopes),
    ];
    expect(recorded(savedOf(stateOf(sandbox)))).toEqual(recorded(savedOf(stateOf(plain))));
  }
  expect(granted.size).toBeGreaterThan(1);
  expect(granted).not.toContain("*");
});

test("what varied grants comes with the profile and goes with it", async () => {
  await using server = await startServer({ seed: 3 });
  const { sandbox } = server;
  const seen = () => [sandbox.keys.list().map(({ scopes }) => scopes), sandbox.organizations.list()];
  const plain = seen();
  const setProfile = async (profile: string) => expect((await reset(server, { profile })).status).toBe(200);
  await setProfile("varied");
  const varied = seen();
  expect(varied).toEqual([
    open(3)
      .keys.list()
      .map(({ scopes }) => scopes),
    open(3).organizations.list(),
  ]);
  expect(varied).not.toEqual(plain);
  await setProfile("minimal");
  expect(seen()).toEqual(plain);
});

test("keys names no code for a 429 whose code varies", async () => {
  const limitedUnder = async (profile: string) => {
    const { stdout } = await runCli(["keys", "key-states", "--format", "json", "--profile", profile]);
    return (JSON.parse(stdout) as KeyRow[]).find(({ ref }) => ref === "rate-limited");
  };
  expect(await limitedUnder("typical")).toMatchObject({ status: 429, code: "rate_limited" });
  expect(await limitedUnder("varied")).toMatchObject({ status: 429, code: null });
});
