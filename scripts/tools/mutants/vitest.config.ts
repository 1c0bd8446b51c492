import { defineConfig } from "vitest/config";
import { BaseSequencer } from "vitest/node";

const include = process.env.MUTANT_TESTS?.split(",") ?? [];

// The order of the list: what notices most in little time comes first.
class AsListed extends BaseSequencer {
  override async sort(files: Parameters<BaseSequencer["sort"]>[0]) {
    const place = (file: string) => include.findIndex((name) => file.endsWith(name));
    return files.sort((one, other) => place(one.moduleId) - place(other.moduleId));
  }
}

export default defineConfig({
  test: {
    ...{ include, runner: "scripts/tools/mutants/runner.ts", sequence: { sequencer: AsListed } },
    ...{ isolate: false, maxWorkers: 1, update: false, testTimeout: 120_000, hookTimeout: 120_000 },
    expect: { poll: { timeout: 10_000 } },
  },
});
