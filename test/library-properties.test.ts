import fc from "fast-check";
import { expect, test } from "vitest";
import { stringify } from "yaml";
import { createSandbox, parseScenario, type Scenario } from "../src/index.js";
import { command, modelScenario, settings } from "./model/commands.js";
import { movedTo, played, roundOfRequests, transcript } from "./model/transcript.js";
import { propertySeed } from "./support/property-seed.js";

const commands = fc.array(command, { minLength: 1, maxLength: 25 });
const anyScenario = fc
  .tuple(settings, fc.boolean())
  .map(([chosen, retiringCounts]): Scenario => {
    const scenario = modelScenario(chosen);
    return { ...scenario, assumptions: { ...scenario.assumptions, retiring_counts_as_active: retiringCounts } };
  });

const throughYaml = (scenario: Scenario) => parseScenario(stringify(scenario));
const throughJson = (scenario: Scenario): Scenario => JSON.parse(JSON.stringify(scenario));

test("a snapshot starts a sandbox that goes on exactly as the first one does, also after JSON and YAML", async () => {
  await fc.assert(
    fc.asyncProperty(
      anyScenario,
      commands,
      commands,
      fc.constantFrom("value", "json", "yaml"),
      async (scenario, before, after, form) => {
        const game = played(createSandbox({ scenario }));
        await transcript(game, before);
        const snapshot = game.sandbox.snapshot();
        const written = { value: (one: Scenario) => one, json: throughJson, yaml: throughYaml }[form](snapshot);
        const continued = movedTo(createSandbox({ scenario: written }), game);
        expect(continued.sandbox.snapshot()).toEqual(snapshot);
        const following = [...after, ...roundOfRequests];
        expect(await transcript(continued, following)).toEqual(await transcript(game, following));
      },
    ),
    { numRuns: 6_000, ...propertySeed },
  );
});
