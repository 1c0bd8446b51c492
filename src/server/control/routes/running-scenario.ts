import { isDeepStrictEqual } from "node:util";
import { readBundledScenario } from "../../../node/package-files.js";
import { redactPlainKeys } from "../../../rules/redact.js";
import type { SandboxState } from "../../../sandbox/sandbox-state.js";
import { checkedStart } from "../../../sandbox/start-sandbox.js";
import { bundledScenarios, isScenarioName } from "../../../scenario/bundled.js";
import { listedKeys } from "../../../scenario/keys.js";
import type { Scenario } from "../../../scenario/scenario.generated.js";
import type { NamedScenario } from "../../../scenario/scenario-source.js";
import { yamlText } from "../../../scenario/yaml/read-yaml.js";

// Whether the sandbox runs a certain scenario. A name does not tell: a sent scenario may have the name of another one. So the members of
// the scenarios are compared, and which of them count depends on what is asked:
//
// - For the list of scenarios, the options of the start do not count, as they are no other scenario.
// - For the text of a bundled scenario, they count: after a reset with another seed, the text would show the seed from before.
// - The story never counts: a bundled scenario runs with or without it.

/** The members of a scenario that the options of a start replace. */
const membersOfOptions: readonly (keyof Scenario)[] = ["seed", "clock", "assumptions"];

/** Whether the sandbox runs a scenario of the list, whatever the options of its start. */
export function isRunning({ name, scenario, text }: NamedScenario, sandbox: SandboxState): boolean {
  if (sandbox.name !== name || sandbox.text !== text) return false;
  return isSameScenario(sandbox.scenario, scenario, membersOfOptions);
}

/** Whether two scenarios have the same members, but for the ignored ones and the story. */
function isSameScenario(one: Scenario, other: Scenario, ignored: readonly (keyof Scenario)[]): boolean {
  const notCompared: readonly string[] = ["story", ...ignored];
  const comparedMembers = (scenario: Scenario) =>
    Object.fromEntries(Object.entries(scenario).filter(([name]) => !notCompared.includes(name)));
  return isDeepStrictEqual(comparedMembers(one), comparedMembers(other));
}

/** The running scenario as YAML: as it was written with its comments, if possible. Every key in it is cut after its prefix. */
export async function runningText(sandbox: SandboxState): Promise<string> {
  const { scenario } = sandbox;
  const original = sandbox.text ?? (await bundledText(sandbox));
  if (original === undefined) return redactPlainKeys(yamlText(scenario));

  // In YAML, a secret can also be written with escapes, which `redactPlainKeys` does not read.
  const mayHideSecret = original.includes("\\") && pinsKey(scenario);
  return redactPlainKeys(mayHideSecret ? yamlText(scenario) : original);
}

function pinsKey(scenario: Scenario): boolean {
  for (const { fields } of listedKeys(scenario)) {
    if (fields.secret !== undefined) return true;
  }
  return false;
}

/** The text of the bundled scenario that runs with the options of the server's start; `undefined` for any other scenario, and any other options. */
async function bundledText(sandbox: SandboxState): Promise<string | undefined> {
  const { name, startOptions, platform } = sandbox;
  if (!isScenarioName(name)) return undefined;
  const bundled: NamedScenario = { name, scenario: bundledScenarios[name] };
  const asStarted = checkedStart(bundled, startOptions, { platform }).scenario;
  return isSameScenario(sandbox.scenario, asStarted, []) ? readBundledScenario(name) : undefined;
}
