import { expect, test } from "vitest";
import { compareWithContract } from "../../src/compare/compare.js";
import { unknownSecret } from "../../src/scenario/keys.js";
import { allProbeKeys, probed, probeKeys, type Reply, serveProbed, setIn } from "../support/probed-server.js";
import { runCli } from "../support/run-cli.js";
import { mePath } from "../support/send.js";
import { served } from "../support/servers.js";

const url = `https://api.example${mePath}`;
const compare = (env: Readonly<Record<string, string>>) =>
  compareWithContract(probed(() => {}).send, {
    url,
    env,
    probeLimits: false,
    unknownKey: unknownSecret,
    random: () => 0,
  });

test.each([
  ["SVC_KEY_EXPIRED", "-"],
  ["SVC_KEY_REVOKED", "unauthorized"],
  ["SVC_KEY_ROTATED", "none"],
  ["SVC_KEY_EXPIRED", "SVC_test_"],
  ["SVC_KEY_EXPIRED", "SVC_test_a b"],
  ["SVC_API_KEY", "0"],
  ["SVC_KEY_ENV", "test"],
  ["SVC_KEY_ID", "1"],
  ["SVC_KEY_FORMAT", "json"],
])("R34 %s=%j is no key: nobody looks for it in responses", async (variable, value) => {
  const { differences, outcomes, notes } = await compare({ ...probeKeys, [variable]: value });
  expect(differences).toEqual([]);
  const told = [...outcomes.map(({ reason }) => reason), ...notes].join("\n");
  if (variable !== "SVC_API_KEY") expect(told).toMatch(new RegExp(`${variable} is not (?:a key|used)`));
  expect(told).not.toContain(`"${value}"`);
});

test("R34 a key of a variable that no outcome uses is still one", async () => {
  const { send } = probed((reply, { ref }) => {
    if (ref === "active") setIn(reply, "headers.X-Other", "SVC_test_another0123456789");
  });
  const { differences } = await compareWithContract(send, {
    ...{ url, env: { ...probeKeys, SVC_KEY_OTHER: "SVC_test_another0123456789" } },
    ...{ probeLimits: false, unknownKey: unknownSecret, random: () => 0 },
  });
  expect(differences[0]).toMatchObject({ outcome: "200.test", at: "X-Other", rules: ["R34"] });
});

test("a variable with a text that is no key is passed over", async () => {
  const { outcomes } = await compare({
    ...{ SVC_KEY_ACTIVE: "oops", SVC_API_KEY: probeKeys.SVC_KEY_ACTIVE as string },
  });
  expect(outcomes).toContainEqual(
    expect.objectContaining({ outcome: "200.test", variable: "SVC_API_KEY", result: "agrees" }),
  );
});

test("R22 a text that is no key does not use up the minute of another key", async () => {
  const { send } = probed(() => {});
  const { outcomes, requests } = await compareWithContract(send, {
    ...{ url, probeLimits: true, unknownKey: unknownSecret, random: () => 0 },
    env: { SVC_API_KEY: probeKeys.SVC_KEY_ACTIVE as string, SVC_KEY_RATE_LIMITED_MINUTE: "oops" },
  });
  expect(outcomes.at(-1)).toMatchObject({
    ...{ outcome: "429.per_minute", result: "not_tried" },
    reason: expect.stringContaining("SVC_KEY_RATE_LIMITED_MINUTE is not a key"),
  });
  expect(requests).toBeLessThan(12);
});

test("R37 a scope that the replacement lacks is found, also after the first 80 characters of a long list", async () => {
  const scopes = Array.from({ length: 9 }, (_, index) => `attestations:read:${index}`);
  const { send } = probed((reply, { ref }) => {
    if (ref === "retiring") setIn(reply, "body.data.scopes", scopes);
    if (ref === "replacement") setIn(reply, "body.data.scopes", scopes.slice(0, -1));
  });
  const { differences } = await compareWithContract(send, {
    ...{ url, env: allProbeKeys, probeLimits: false, unknownKey: unknownSecret, random: () => 0 },
  });
  expect(differences).toMatchObject([
    {
      rules: ["R37"],
      outcome: "200.replacement",
      at: "$.data.scopes",
      found: "another value, which begins in the same way",
    },
  ]);
});

test("R26 a replacement without a limit has nothing in its place", async () => {
  const { send } = probed((reply, { ref }) => {
    if (ref === "replacement") setIn(reply, "body.data.limits.per_day", null);
  });
  const { differences } = await compareWithContract(send, {
    ...{ url, env: allProbeKeys, probeLimits: false, unknownKey: unknownSecret, random: () => 0 },
  });
  expect(differences).toContainEqual(
    expect.objectContaining({ rules: ["R26"], at: "$.data.limits.per_day", found: "nothing" }),
  );
});

/** The unknown keys that a comparison sends. */
async function unknownKeys(env: Readonly<Record<string, string>>): Promise<string[]> {
  const sent = new Set<string>();
  const server = await serveProbed((reply, { ref, apiKey = "" }) => {
    if (Object.values(env).includes(apiKey)) Object.assign(reply, { status: 200, body: { data: {} } });
    else if (ref === "unknown") sent.add(apiKey);
  });
  const { stdout } = await runCli(["compare", server.url, "--json"], { env });
  for (const key of sent) expect(stdout).not.toContain(key.slice(9));
  return [...sent];
}

test("R11 unknown keys have the form of a given key, and are new in each run", async () => {
  const key = `SVC_live_${"0a1b2c3d4e".repeat(4)}`;
  const keys = [
    ...(await unknownKeys({ SVC_KEY_LIVE: key })),
    ...(await unknownKeys({ SVC_KEY_LIVE: key, SVC_KEY_REVOKED: "SVC_test_revoked" })),
  ];
  // One more is the given key after the other prefix (R15).
  expect(new Set(keys).size).toBe(5);
  for (const unknown of keys) expect(unknown).toMatch(/^SVC_(?:live|test)_[0-9a-f]{40}$/);
});

test.each<[what: string, change: (reply: Reply) => unknown, at: string]>([
  ["works", (reply) => Object.assign(reply, { status: 200, body: { data: {} } }), "status"],
  ["has a text of its own", (reply) => setIn(reply, "body.error.message", "Of live."), "$.error.message"],
])("R15 a key that %s after the other prefix is found, and never shown", async (_what, change, at) => {
  const ofOther = probeKeys.SVC_KEY_ACTIVE?.replace("_test_", "_live_");
  const { send } = probed((reply, { apiKey }) => {
    if (apiKey === ofOther) change(reply);
  });
  const result = await compareWithContract(send, {
    ...{ url, env: probeKeys, probeLimits: false, unknownKey: unknownSecret, random: () => 0 },
  });
  const found = result.differences.filter((difference) => difference.at === at);
  expect(found.map(({ outcome, rules }) => [outcome, rules.includes("R15")])).toEqual([
    ["401.unknown", true],
  ]);
  expect(JSON.stringify(result)).not.toContain(ofOther?.slice(9));
});

test("R11 without a key, unknown keys have the form of a sandbox's, and a note says so", async () => {
  const keys = [...(await unknownKeys({})), ...(await unknownKeys({ SVC_API_KEY: "-" }))];
  expect(new Set(keys).size).toBe(4);
  for (const unknown of keys) expect(unknown).toMatch(/^SVC_test_sbx[0-9A-Za-z]{29}$/);
  const { notes } = await compare({});
  expect(notes[0]).toMatch(/^No key is set\. .* The unknown keys have the form of a sandbox's keys\.$/);
});

test("R11 unknown keys in the form of a sandbox's key are unknown to it", async () => {
  const { url: base, sandbox } = await served({});
  const { stdout } = await runCli(["compare", base], { env: { SVC_API_KEY: sandbox.secret("active") } });
  expect(stdout).toMatch(/^ {2}401\.unknown +agrees +401 unauthorized$/m);
});
