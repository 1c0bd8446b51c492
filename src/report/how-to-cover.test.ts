import { expect, test } from "vitest";
import { asked } from "../../test/support/send.js";
import { handle } from "../api/handle.js";
import { startInNode } from "../node/platform.js";
import { bundledScenarios } from "../scenario/bundled.js";
import type { Scenario } from "../scenario/scenario.generated.js";
import { clientReport } from "./report.js";
import { explainRequest } from "./request-text.js";

const keyStates = bundledScenarios["key-states"];

/** How to cover a revoked key, which a sandbox of this name has no longer. */
function howToCoverRevoked(scenario: Scenario) {
  const sandbox = startInNode({ scenario, name: "key-states" });
  const { outcomes } = clientReport(sandbox);
  return outcomes.find(({ outcome }) => outcome === "401.revoked")?.howToCover;
}

test("a scenario of the user with the name of a bundled one is not reset, but the bundled one is started", () => {
  const own: Scenario = {
    version: 1,
    organizations: { bank: { type: "bank", keys: { active: { environment: "test" } } } },
  };
  expect(howToCoverRevoked(own)).toMatchObject({ scenario: "key-states", reset: false });
  expect(howToCoverRevoked(keyStates)).toMatchObject({ scenario: null, reset: false });
});

test("the curl of a request has the options that reach its server", () => {
  const sandbox = startInNode({ scenario: keyStates, name: "key-states" });
  const { id } = handle(sandbox, asked({}));
  expect(explainRequest(sandbox, id).curl).toMatch(/^curl -i -H|^curl -i "/);
  const secure = { ...sandbox, invocation: { ...sandbox.invocation, curlOptions: "-k" } };
  expect(explainRequest(secure, id).curl).toMatch(/^curl -i -k /);
});
