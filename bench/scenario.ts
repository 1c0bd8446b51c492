import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { stringify } from "yaml";
import type { Scenario } from "../src/scenario/scenario.generated.js";
import type { Bundle } from "./bundle.js";

/** A scenario for the bench: five keys for each organization, none of them ever rate-limited. */
export function benchScenario(keys: number): Scenario {
  const limits = { per_minute: 1e9, per_day: 1e9 };
  const organizations: NonNullable<Scenario["organizations"]> = {};
  for (let i = 0; i < keys; i += 5) {
    const refs = Array.from({ length: Math.min(5, keys - i) }, (_, k) => `key-${i + k}`);
    organizations[`organization-${i / 5}`] = {
      name: "Harvest Cooperative Bank",
      type: "bank",
      keys: Object.fromEntries(
        refs.map((ref) => [ref, { environment: "test", name: "Core banking", limits }]),
      ),
    };
  }
  return { version: 1, name: "Bench", organizations };
}

/** Writes a scenario as YAML; returns its path. */
export async function scenarioFile({ folder }: Pick<Bundle, "folder">, scenario: Scenario): Promise<string> {
  const file = join(folder, `${performance.now()}.yaml`);
  await writeFile(file, stringify(scenario));
  return file;
}
