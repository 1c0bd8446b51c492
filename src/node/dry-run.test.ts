import { expect, test } from "vitest";
import { parseWithPlaces } from "../scenario/scenario-source.js";
import { scenarioWarnings } from "./dry-run.js";

const text = `version: 1
organizations:
  bank:
    type: bank
    keys:
      main: { environment: test, scopes: [a:read], secret: SVC_test_${"b".repeat(32)} }
assumptions: { scopes: [a:read, b:read], me_scope: b:read }
story:
  - request: { key: main }
    expect: { status: 200 }
`;

test("a scenario has the warnings of each kind", () => {
  const { scenario } = parseWithPlaces(text, { file: "all.yaml" });
  const warnings = Object.entries(scenarioWarnings({ scenario, name: "all.yaml" }));
  expect(warnings.map(([kind, problems]) => [kind, problems.map(({ code }) => code)])).toEqual([
    ["failingSteps", ["step_fails"]],
    ["unmarkedSecrets", ["secret_unmarked"]],
    ["unheldScopes", ["scope_unheld"]],
  ]);
});
