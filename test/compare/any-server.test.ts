import fc from "fast-check";
import { expect, test } from "vitest";
import { compareWithContract } from "../../src/compare/compare.js";
import { learnedScenario, renderComparison } from "../../src/compare/report.js";
import { parseScenario } from "../../src/index.js";
import type { NoResponse, RawResponse } from "../../src/node/clients/send-once.js";
import { unknownSecret } from "../../src/scenario/keys.js";
import { probeKeys } from "../support/probed-server.js";
import { runs } from "../support/property-seed.js";

const headerName = fc.constantFrom(
  "Content-Type",
  "X-Request-Id",
  "Retry-After",
  "RateLimit",
  "RateLimit-Policy",
  "WWW-Authenticate",
  "X-RateLimit-Limit",
  "Date",
  "ETag",
  "constructor",
  "__proto__",
  "X-Odd",
);
const headerValue = fc.oneof(
  fc.constantFrom("application/json", "text/html", "7", "", ...Object.values(probeKeys)),
  fc.string(),
);
const likely = fc.constantFrom(
  { error: { code: "unauthorized", message: "No." } },
  {
    error: {
      code: "access_denied",
      message: Object.values(probeKeys).join(),
      details: { required_scope: "a:b" },
    },
  },
  {
    data: {
      organization: { id: "1", name: "x", type: "bank" },
      scopes: ["x", "__proto__"],
      limits: { per_minute: 2 },
    },
  },
  { error: { code: probeKeys.SVC_KEY_ACTIVE, message: "Slow.", details: {} } },
  { error: { code: "slow_down", message: "Slow.", details: { scope: probeKeys.SVC_KEY_ACTIVE } } },
  { data: { usage: { today: 1.5 }, limits: { per_minute: -3 } } },
);
const bytes = fc.oneof(
  fc.oneof(likely, fc.jsonValue()).map((value) => new TextEncoder().encode(JSON.stringify(value))),
  fc.uint8Array({ maxLength: 50 }),
  fc.constant(new TextEncoder().encode('{"data":{"usage":{"today":1e400},"limits":{"per_minute":1e400}}}')),
  fc.constant(new TextEncoder().encode("[".repeat(30_000) + "]".repeat(30_000))),
);
const response: fc.Arbitrary<RawResponse> = fc.record({
  status: fc.oneof(fc.constantFrom(200, 401, 403, 404, 429), fc.integer({ min: 200, max: 599 })),
  version: fc.constantFrom("1.1", "1.0"),
  reason: fc.string(),
  headers: fc.array(fc.tuple(headerName, headerValue), { maxLength: 6 }),
  body: bytes,
});
const noResponse: fc.Arbitrary<NoResponse> = fc.constant({
  noResponse: "failed",
  found: "nothing",
  hint: "Look.",
});
const replies = fc.array(fc.oneof({ weight: 9, arbitrary: response }, { weight: 1, arbitrary: noResponse }), {
  minLength: 1,
  maxLength: 12,
});

test("a comparison ends with any server's responses, keeps to its budget, and prints no key", async () => {
  await fc.assert(
    fc.asyncProperty(replies, fc.integer({ min: 1, max: 20 }), fc.boolean(), async (all, max, limits) => {
      let sent = 0;
      const report = await compareWithContract(
        async () => all[sent++ % all.length] as RawResponse | NoResponse,
        {
          url: "https://api.example/v1/relying-party/me",
          env: probeKeys,
          maxRequests: max,
          probeLimits: limits,
          unknownKey: unknownSecret,
          random: () => 0,
        },
      );
      expect(sent).toBe(report.requests);
      expect(sent).toBeLessThanOrEqual(max);
      const printed = (["text", "json"] as const)
        .map((format) => renderComparison(report, format))
        .join("\n");
      const scenario = learnedScenario(report);
      const [texts, learned] = [printed + scenario, Object.entries(report.assumptions)];
      for (const key of Object.values(probeKeys)) expect(texts).not.toContain(key.slice(9));
      const values = Object.fromEntries(learned.map(([name, { value }]) => [name, value]));
      if (learned.length > 0) expect(parseScenario(scenario).assumptions).toEqual(values);
    }),
    runs(80),
  );
});
