import { isDeepStrictEqual } from "node:util";
import { redactKeys } from "../domain/redact.js";
import { isScenarioName } from "../scenario/bundled.js";
import { withStory } from "../scenario/stories.js";
import { yamlText } from "../scenario/yaml.js";
import type { GivenOptions } from "../world/runtime.js";
import type { World } from "../world/world.js";
import { readBundledScenario } from "./package-files.js";
import { openWorld } from "./platform.js";

/**
 * Returns a sandbox's scenario as YAML: the original text with its comments if known, or a rendered one. Every key in it is
 * cut after its prefix.
 */
export async function scenarioText(world: World, given: GivenOptions): Promise<string> {
  const written = world.text ?? (await bundledText(world, given));
  const pinned = Object.values(world.scenario.organizations ?? {}).flatMap(({ keys = {} }) =>
    Object.values(keys).flatMap(({ secret = [] }) => secret),
  );
  // YAML can escape a key so that the text does not contain it.
  const isPlain = written !== undefined && pinned.every((secret) => written.includes(secret));
  return redactKeys(isPlain ? written : yamlText(world.scenario));
}

// The user's own scenario may have the name of a bundled one.
async function bundledText({ name, scenario }: World, given: GivenOptions): Promise<string | undefined> {
  if (!isScenarioName(name)) return undefined;
  const { story: _, ...bundled } = openWorld(withStory(name), { name, ...given }).scenario;
  const { story: __, ...running } = scenario;
  return isDeepStrictEqual(running, bundled) ? readBundledScenario(name) : undefined;
}
