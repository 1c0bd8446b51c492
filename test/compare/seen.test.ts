import { expect, test } from "vitest";
import { compareWithContract } from "../../src/compare/compare.js";
import { renderComparison } from "../../src/compare/comparison-text.js";
import { learnedScenario } from "../../src/compare/learned-scenario.js";
import { createSandbox, parseScenario } from "../../src/index.js";
import { keyVariable } from "../../src/rules/keys/key-text.js";
import { unknownSecret } from "../../src/scenario/keys.js";
import { allProbeKeys, type Misbehave, probed, type Reply, setIn } from "../support/probed-server.js";
import { mePath } from "../support/send.js";

const url = `https://api.example${mePath}`;

const compare = (misbehave: Misbehave, env = allProbeKeys) =>
  compareWithContract(probed(misbehave).send, {
    ...{ url, env, probeLimits: true, unknownKey: unknownSecret },
  });

const on =
  (status: number, change: (reply: Reply, ref: string) => void): Misbehave =>
  (reply, { ref }) => {
    if (reply.status === status) change(reply, ref);
  };
const withLimit = (number: string) =>
  on(200, (reply) => {
    const text = JSON.stringify(reply.body).replace(/"per_minute":\d+/, `"per_minute":${number}`);
    Object.assign(reply, { bytes: text });
  });
const oneKey = { SVC_API_KEY: allProbeKeys.SVC_KEY_ACTIVE as string };

test("a comparison shows the limits, scopes, challenge and details that no assumption sets", async () => {
  const result = await compare((reply, { ref }) => {
    if (ref === "live") setIn(reply, "body.data.limits.per_minute", 600);
    if (reply.status === 200) setIn(reply, "body.data.scopes", ["reports:write", "reports:read"]);
    if (reply.status !== 401) return;
    reply.headers["WWW-Authenticate"] = 'ApiKey realm="bank\u2028"';
    setIn(reply, "body.error.details", { trace: Math.random(), help: "/" });
  });
  const challenge = '"ApiKey realm=\\"bank\\u{2028}\\""';
  expect(result.seen).toEqual({
    per_minute: [
      { value: "600", from: ["200.live"] },
      { value: "60", from: ["200.retiring", "200.replacement"] },
    ],
    per_day: [{ value: "1000", from: ["200.retiring", "200.replacement"] }],
    scopes: [{ value: "reports:read, reports:write", from: ["each 200"] }],
    challenge: [{ value: challenge, from: ["each 401"] }],
    details: [{ value: "trace, help", from: ["each 401"] }],
  });
  const shown = renderComparison(result, "text");
  expect(shown).toMatch(/^ {2}scopes +reports:read, reports:write +each 200$/m);
  expect(JSON.parse(renderComparison(result, "json")).seen.per_minute[0]).toEqual({
    value: "600",
    from: ["200.live"],
  });
  const file = learnedScenario(result);
  expect(file).toContain("#   per_minute: 600 (200.live)\n");
  expect(file).toContain(`#   challenge: ${challenge} (each 401)\n`);
});

test("a challenge that is new each time is shown once, without what is new", async () => {
  const { seen, notes } = await compare((reply, { number }) => {
    if (reply.status === 401) {
      reply.headers["WWW-Authenticate"] = `Digest realm="api", nonce="${7919 * number}", qop="auth"`;
    }
  });
  const shown = '"Digest realm=\\"api\\", nonce=\\"…\\", qop=\\"auth\\""';
  expect(seen.challenge).toEqual([{ value: shown, from: ["each 401"] }]);
  expect(notes).toContain(
    `www_authenticate is not learned, because the assumption does not have this value: ${shown} (each 401).`,
  );
});

test.each(["minimal", "typical"] as const)(
  "a comparison sees nothing else in a sandbox of profile %s",
  async (profile) => {
    const sandbox = createSandbox({ profile });
    const env = Object.fromEntries(
      sandbox.keys.list().map(({ ref }) => [keyVariable(ref), sandbox.secret(ref as never)]),
    );
    const { seen, verdict } = await compareWithContract(
      async (apiKey) => {
        const response = await sandbox.fetch(url, {
          headers: { ...(apiKey !== undefined && { "x-api-key": apiKey }) },
        });
        const body = new Uint8Array(await response.arrayBuffer());
        return { status: response.status, version: "1.1", reason: "", headers: [...response.headers], body };
      },
      { url, env, probeLimits: true, unknownKey: unknownSecret },
    );
    expect([seen, verdict]).toEqual([{}, "agrees"]);
  },
);

test("what a service sends ends no comment of the written file", async () => {
  const hostile = "a\nversion: 2\u0085\u001b[31m";
  const result = await compare(on(200, (reply) => setIn(reply, "body.data.scopes", [hostile])));
  const text = learnedScenario(result);
  for (const part of ["\nversion: 2", "\u0085", "\u001b"]) expect(text).not.toContain(part);
  expect(parseScenario(text).version).toBe(1);
});

test.each(["9223372036854775807", "60.0", "6e1"])(
  "a number is shown as the response has it: %s",
  async (number) => {
    const { seen } = await compare(withLimit(number), oneKey);
    expect(seen.per_minute).toEqual([{ value: number, from: ["200.test"] }]);
  },
);

test("a number that a difference or a reason shows is the one of the response", async () => {
  const large = await compare(withLimit("9223372036854775807"), oneKey);
  expect(large.outcomes.at(-1)).toMatchObject({
    result: "not_tried",
    reason: "per_minute is the number 9223372036854775807",
  });
  const { differences } = await compare(withLimit("1e400"), oneKey);
  expect(differences).toContainEqual(
    expect.objectContaining({ at: "$.data.limits.per_minute", found: "the number 1e400" }),
  );
  const used = await compare(
    on(200, (reply) => {
      const text = JSON.stringify(reply.body).replace(/"today":\d+/, '"today":9007199254740993');
      Object.assign(reply, { bytes: text });
    }),
    oneKey,
  );
  expect(used.differences).toContainEqual(
    expect.objectContaining({ rules: ["R23"], found: "a number above it" }),
  );
});

test.each([{ toString: 1 }, [{ toString: 1 }], [[{ toString: 1 }, { toString: 2 }]]])(
  "a comparison ends with a result if %j is in place of text or of a number",
  async (value) => {
    const result = await compare((reply) => {
      if (reply.status >= 400) return setIn(reply, "body.error.code", value);
      setIn(reply, "body.data.limits.per_minute", value);
      setIn(reply, "body.data.scopes", value);
    });
    const found = Array.isArray(value) ? "a list" : "a mapping";
    expect(result.differences).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ outcome: "401.missing", at: "$.error.code", found }),
        expect.objectContaining({ outcome: "200.test", at: "$.data.limits.per_minute", found }),
      ]),
    );
  },
);

test("a scope that is no text is shown without its content", async () => {
  const { seen } = await compare(on(200, (reply) => setIn(reply, "body.data.scopes", ["a", { id: 1 }])));
  expect(seen.scopes).toEqual([{ value: "a, a mapping", from: ["each 200"] }]);
});
