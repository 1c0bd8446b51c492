import { expect, test } from "vitest";
import { beginCall } from "../../src/api/call.js";
import type { Success } from "../../src/api/endpoint.js";
import { me } from "../../src/api/endpoints/me.js";
import type { ApiAnswer } from "../../src/api/messages.js";
import { errorReply, successReply } from "../../src/api/reply.js";
import { type VariationRow, variationTable } from "../../src/api/variation/table.js";
import { type Select, variationOf } from "../../src/api/variation/vary.js";
import type { Profile } from "../../src/domain/assumptions.js";
import type { PathId } from "../../src/domain/outcomes.js";
import { scenarioSecret } from "../../src/sandbox/secrets.js";
import type { Scenario } from "../../src/scenario/scenario.generated.js";
import { openTestWorld } from "../support/doors.js";

const scenario: Scenario = {
  version: 1,
  clock: { now: "2026-03-02T09:00:00Z" },
  organizations: {
    bank: {
      name: "Bänk <A/B>",
      type: "bank",
      keys: {
        key: { environment: "test", scopes: ["consents:read", "attestations:read", "attestations:write"] },
      },
    },
  },
};
const paths: readonly PathId[] = [
  "200.test",
  "401.revoked",
  "403.insufficient_scope",
  "404.unknown_path",
  "405.method",
  "429.per_minute",
];

/** The answers on paths of every status, with what is selected. */
function answersOf(profile: Profile, choose: Select): ApiAnswer[] {
  return paths.map((path) => {
    const world = openTestWorld(scenario, { profile });
    const begun = beginCall(world, scenarioSecret(world, "key"));
    const variation = begun.variation && variationOf(world, begun.number, choose);
    const call = { ...begun, variation, assumptions: variation?.assumptions ?? begun.assumptions };
    if (call.entry !== undefined && path === "200.test") {
      return successReply(world, call, me, me.respond(call.entry, world, nothingAsked) as Success);
    }
    return errorReply(world, call, {
      path,
      scope: null,
      ...(path === "405.method" && { allow: "GET, HEAD" }),
    });
  });
}

const nothingAsked = { now: 0, params: {}, query: {}, body: undefined, idempotencyKey: undefined };
const random = () => 0;
const asMinimal: Select = (row) => ({ variant: row.variants[0], random });
const all = variationTable.flatMap((row) => row.variants.map((variant) => ({ row, variant })));

test("the first variant of every row is what minimal does", () => {
  expect(answersOf("varied", asMinimal)).toEqual(answersOf("minimal", asMinimal));
});

test.each(
  all.filter(({ row, variant }) => variant !== row.variants[0]),
)("$row.id: $variant.id changes answers of its statuses, and no others", ({ row, variant }) => {
  const plain = answersOf("varied", asMinimal);
  const changed = answersOf("varied", (one) => (one === row ? { variant, random } : asMinimal(one)));
  const statuses = changed
    .filter((answer, index) => JSON.stringify(answer) !== JSON.stringify(plain[index]))
    .map(({ status }) => status);
  expect(statuses.length).toBeGreaterThan(0);
  for (const status of statuses) expect(row.statuses).toContain(status);
});

const givable: readonly [VariationRow["id"], NonNullable<Scenario["assumptions"]>][] = [
  ["rate_limit_code", { rate_limit_code: "slow_down" }],
  ["request_id_on_errors", { request_id_on_errors: true }],
  ["error_details", { error_details: false }],
  ["details_without_reason", { error_details: true }],
  ["retry_after", { retry_after: "seconds" }],
  ["rate_limit_headers", { rate_limit_headers: "legacy" }],
  ["www_authenticate", { www_authenticate: true }],
  ["scopes", { scopes: ["attestations:read", "attestations:write", "consents:read"] }],
];

test("every row that an assumption can fix is tried here", () => {
  const fixable = variationTable.filter(({ fixedBy }) => fixedBy !== undefined).map(({ id }) => id);
  expect(givable.map(([id]) => id).sort()).toEqual(fixable.sort());
});

test.each(givable)("%s does not vary when its assumption is given", (id, given) => {
  const world = openTestWorld({ ...scenario, assumptions: { profile: "varied", ...given } });
  const { selected, assumptions } = beginCall(world, undefined).variation as NonNullable<
    ReturnType<typeof beginCall>["variation"]
  >;
  expect(selected.map(({ row }) => row.id)).not.toContain(id);
  expect(assumptions).toMatchObject(given);
});
