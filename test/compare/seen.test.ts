import { expect, test } from "vitest";
import { compareWithContract } from "../../src/compare/compare.js";
import { learnedScenario, renderComparison } from "../../src/compare/report.js";
import { createSandbox } from "../../src/index.js";
import { keyVariable } from "../../src/rules/keys/key-text.js";
import { unknownSecret } from "../../src/scenario/keys.js";
import { allProbeKeys, type Misbehave, probed, probeKeys, setIn } from "../support/probed-server.js";
import { mePath } from "../support/send.js";

const url = `https://api.example${mePath}`;

const compare = (misbehave: Misbehave) =>
  compareWithContract(probed(misbehave).send, {
    ...{ url, env: allProbeKeys, probeLimits: true, unknownKey: unknownSecret, random: () => 0 },
  });

test("a comparison shows the limits and scopes that no key of key-states has", async () => {
  const result = await compare((reply, { ref }) => {
    if (ref === "live") setIn(reply, "body.data.limits.per_minute", 600);
    if (ref === "active") setIn(reply, "body.data.scopes", ["reports:write", "reports:read"]);
  });
  const scopes = [{ value: "reports:read, reports:write", from: ["200.test"] }];
  expect(JSON.parse(renderComparison(result, "json")).seen).toMatchObject({ scopes });
  expect(renderComparison(result, "text")).toMatch(/^ {2}scopes +reports:read, reports:write +200\.test$/m);
  expect(learnedScenario(result)).toContain("#   scopes: reports:read, reports:write (200.test)\n");
});

test.each(["minimal", "typical"] as const)("a sandbox of profile %s shows no others", async (profile) => {
  const sandbox = createSandbox({ profile });
  const env = Object.fromEntries(
    sandbox.keys.list().map(({ ref }) => [keyVariable(ref), sandbox.secret(ref as never)]),
  );
  const { seen, verdict } = await compareWithContract(
    async (apiKey) => {
      const headers = { ...(apiKey !== undefined && { "x-api-key": apiKey }) };
      const response = await sandbox.fetch(url, { headers });
      const body = new Uint8Array(await response.arrayBuffer());
      return { status: response.status, version: "1.1", reason: "", headers: [...response.headers], body };
    },
    { url, env, probeLimits: true, unknownKey: unknownSecret, random: () => 0 },
  );
  expect([seen, verdict]).toEqual([{}, "agrees"]);
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

test("a number is shown as JavaScript reads it", async () => {
  const { differences } = await compareWithContract(
    probed((reply) => {
      if (reply.status !== 200) return;
      const bytes = JSON.stringify(reply.body).replace(/"per_minute":\d+/, '"per_minute":1e400');
      Object.assign(reply, { bytes });
    }).send,
    {
      url,
      env: { SVC_API_KEY: probeKeys.SVC_KEY_ACTIVE },
      probeLimits: false,
      unknownKey: unknownSecret,
      random: () => 0,
    },
  );
  expect(differences).toContainEqual(
    expect.objectContaining({ at: "$.data.limits.per_minute", found: "the number Infinity" }),
  );
});
