import { expect, test } from "vitest";
import { parseWithPlaces } from "../scenario/parse-scenario.js";
import { scenarioWarnings } from "./dry-run.js";

const text = `version: 1
organizations:
  bank:
    type: bank
    keys:
      main: { environment: test, scopes: [a:read], secret: SVC_test_${"b".repeat(32)} }
assumptions: { scopes: [a:read, b:read], me_scope: b:read }
endpoints:
  version: { method: GET, path: /v1/version, body: { version: 3.10 } }
story:
  - request: { key: main }
    expect: { status: 200 }
`;

test("a scenario has the warnings of each kind", () => {
  const { scenario, ...places } = parseWithPlaces(text, { file: "all.yaml" });
  const warnings = Object.entries(scenarioWarnings({ scenario, name: "all.yaml" }, places));
  expect(warnings.map(([kind, problems]) => [kind, problems.map(({ code }) => code)])).toEqual([
    ["failingSteps", ["step_fails"]],
    ["unmarkedSecrets", ["secret_unmarked"]],
    ["unheldScopes", ["scope_unheld"]],
    ["shortenedDecimals", ["zeros_dropped"]],
  ]);
});
