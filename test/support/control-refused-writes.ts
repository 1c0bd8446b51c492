import type { Asking } from "./control-client.js";
import { validYaml } from "./control-writes.js";

const newKey = {
  organization: "harvest-bank",
  environment: "test",
  name: "CI",
};

/** A write that the world of `key-states` refuses. */
export interface Refused {
  readonly title: string;
  readonly method: string;
  readonly path: string;
  readonly asking: Asking;
  readonly status: number;
  readonly code: string;
  /** Fields by their paths, and what is said of each. */
  readonly fields?: Readonly<Record<string, RegExp>>;
}

function invalid(
  title: string,
  call: string,
  json: unknown,
  fields: Readonly<Record<string, RegExp>>,
): Refused {
  const [method, path] = call.split(" ") as [string, string];
  return {
    title,
    method,
    path,
    asking: { json },
    status: 422,
    code: "validation_failed",
    fields,
  };
}

function refused(title: string, call: string, json: unknown, status: number, code: string): Refused {
  const [method, path] = call.split(" ") as [string, string];
  return { title, method, path, asking: { json }, status, code };
}

const create = "POST /keys";
const rotate = "POST /keys/active/rotate";
const scenario = "PUT /scenario";
const instance = "POST /instances";

/** Everything that is wrong with a body in a way of its own, or that the world does not allow. */
export const refusedWrites: readonly Refused[] = [
  invalid("a misspelt field", create, { ...newKey, scope: [] }, { scope: /did you mean "scopes"/ }),
  invalid(
    "a field in camelCase",
    rotate,
    { overlapMinutes: 5 },
    { overlapMinutes: /did you mean "overlap_minutes"/ },
  ),
  invalid(
    "a misspelt field inside another",
    create,
    { ...newKey, limits: { per_minuet: 5 } },
    { "limits.per_minuet": /did you mean "per_minute"/ },
  ),
  invalid(
    "a misspelt field that is required",
    create,
    { ...newKey, name: undefined, naem: "CI" },
    { naem: /did you mean "name"/ },
  ),
  invalid(
    "a field that nothing resembles",
    rotate,
    { colour: "blue" },
    { colour: /known: overlap_minutes and as/ },
  ),
  invalid("a field where none is known", "POST /reset", { seed: 1 }, { seed: /no fields are known/ }),
  invalid(
    "a field where no body is taken",
    "DELETE /requests",
    { key: "active" },
    { key: /no fields are known/ },
  ),
  invalid(
    "a field named as what JavaScript objects have",
    "PUT /clock",
    JSON.parse('{"__proto__":{"now":1},"constructor":1}'),
    {
      ["__proto__"]: /unknown field/,
      constructor: /unknown field/,
    },
  ),
  invalid(
    "several mistakes",
    create,
    { organization: 7, environment: "sandbox", name: "" },
    {
      organization: /text, not 7/,
      environment: /did you mean test/,
      name: /empty/,
    },
  ),
  invalid("nothing", create, {}, { organization: /missing/, environment: /missing/, name: /missing/ }),
  invalid("null in a field", create, { ...newKey, limits: null }, { limits: /empty/ }),
  invalid("null in a text", create, { ...newKey, name: null }, { name: /empty/ }),
  invalid("a list where a text goes", create, { ...newKey, name: ["CI"] }, { name: /not a list/ }),
  invalid(
    "a text where a list goes",
    create,
    { ...newKey, scopes: "attestations:read" },
    { scopes: /list, not the text/ },
  ),
  invalid("a number in a list of texts", create, { ...newKey, scopes: [7] }, { "scopes.0": /not 7/ }),
  invalid(
    "a text where a number goes",
    create,
    { ...newKey, limits: { per_day: "5" } },
    { "limits.per_day": /without quotes/ },
  ),
  invalid(
    "a fraction where a whole number goes",
    create,
    { ...newKey, limits: { per_day: 1.5 } },
    { "limits.per_day": /whole number/ },
  ),
  invalid(
    "an organization that there is not",
    create,
    { ...newKey, organization: "harvest-bnk" },
    { organization: /Did you mean "harvest-bank"/ },
  ),
  invalid(
    "a text for an overlap",
    rotate,
    { overlap_minutes: "60" },
    { overlap_minutes: /is a number, not the text "60"/ },
  ),
  invalid(
    "a switch for an overlap",
    rotate,
    { overlap_minutes: true },
    { overlap_minutes: /is a number, not true/ },
  ),
  invalid("null for an overlap", rotate, { overlap_minutes: null }, { overlap_minutes: /empty/ }),
  invalid(
    "an API key for a name",
    create,
    { ...newKey, name: "SVC_test_sbx0" },
    { name: /must not hold an API key/ },
  ),
  invalid(
    "a status that there is not",
    "PATCH /organizations/harvest-bank",
    { status: "suspended" },
    { status: /inactive/ },
  ),
  invalid(
    "a text for a switch",
    "PATCH /organizations/harvest-bank",
    { sandbox_access: "no" },
    { sandbox_access: /write false/ },
  ),
  invalid("a time without a zone", "PUT /clock", { now: "2027-01-01T00:00:00" }, { now: /zone/ }),
  invalid("a day that there is not", "PUT /clock", { now: "2027-02-30T00:00:00Z" }, { now: /./ }),
  invalid(
    "a time that no clock shows",
    "PUT /clock",
    { now: "9999-12-31T23:59:59Z" },
    { now: /goes no further/ },
  ),
  invalid("a length of time in words", "POST /clock/advance", { by: "an hour" }, { by: /90s, 10m/ }),
  invalid(
    "a length of time beyond all numbers",
    "POST /clock/advance",
    { by: `${"9".repeat(30)}d` },
    { by: /./ },
  ),
  invalid(
    "a length of time beyond the clock",
    "POST /clock/advance",
    { by: "9000000d" },
    { by: /goes no further/ },
  ),
  invalid("no length of time", "POST /clock/advance", {}, { by: /missing/ }),
  invalid(
    "an assumption that there is not",
    "PUT /assumptions",
    { rate_limit: "x" },
    { rate_limit: /unknown field/ },
  ),
  invalid(
    "a profile that there is not",
    "PUT /assumptions",
    { profile: "minimum" },
    { profile: /did you mean minimal/ },
  ),
  invalid(
    "a needed scope that is none",
    "PUT /assumptions",
    { me_scope: "farms:read" },
    { me_scope: /not one of scopes/ },
  ),
  invalid("no scenario", scenario, {}, { name: /missing/ }),
  invalid("a YAML text sent as JSON", scenario, validYaml, {
    body: /not the text/,
  }),
  invalid(
    "an instance of a scenario that there is not",
    instance,
    { scenario: "key-state" },
    { scenario: /Did you mean "key-states"/ },
  ),
  invalid(
    "an instance of a scenario that is none",
    instance,
    { scenario: { version: 1, organizations: { bank: { tpye: "bank" } } } },
    {
      "scenario.organizations.bank.tpye": /did you mean "type"/,
    },
  ),
  invalid("an instance of a number", instance, { scenario: 5 }, { scenario: /not 5/ }),
  invalid("an instance with a seed below zero", instance, { seed: -1 }, { seed: /0 or more/ }),
  invalid(
    "an instance with a profile that there is not",
    instance,
    { profile: "typcal" },
    { profile: /did you mean typical/ },
  ),
  invalid("an instance that starts at no time", instance, { now: "tomorrow" }, { now: /./ }),
  refused("R29 no scopes", create, { ...newKey, scopes: [] }, 422, "scopes_required"),
  refused(
    "R29 a scope that there is not",
    create,
    { ...newKey, scopes: ["farms:read"] },
    422,
    "unknown_scope",
  ),
  refused("a ref that is taken", create, { ...newKey, ref: "active" }, 409, "name_taken"),
  refused(
    "R31 a live key without approval",
    create,
    { ...newKey, organization: "amberfield-mutual", environment: "live" },
    403,
    "live_access_not_approved",
  ),
  refused(
    "R39 an overlap that is too long",
    rotate,
    { overlap_minutes: 10_081 },
    422,
    "overlap_out_of_range",
  ),
  refused("R39 an overlap below zero", rotate, { overlap_minutes: -1 }, 422, "overlap_out_of_range"),
  refused("a replacement's ref that is taken", rotate, { as: "live" }, 409, "name_taken"),
  refused("R42 rotating a revoked key", "POST /keys/revoked/rotate", {}, 409, "key_not_active"),
  refused("R42 revoking an expired key", "POST /keys/expired/revoke", {}, 409, "key_not_active"),
  refused("a key that there is not", "POST /keys/actve/revoke", {}, 404, "not_found"),
  refused(
    "an organization that there is not in the path",
    "PATCH /organizations/nobody",
    {},
    404,
    "not_found",
  ),
  refused("the past", "PUT /clock", { now: "2020-01-01T00:00:00Z", frozen: false }, 422, "clock_backwards"),
  refused("going backwards", "POST /clock/advance", { by: "-1m" }, 422, "clock_backwards"),
  refused("a scenario that there is not", scenario, { name: "key-state" }, 404, "not_found"),
  refused("a file", scenario, { name: "./package.json" }, 404, "not_found"),
  refused("an instance that there is not", "DELETE /instances/nothing", undefined, 404, "not_found"),
];
