import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

// The tests that run for each mutant: quick ones in this process. The first that fails ends the run, so that those of
// single functions go before those of whole sandboxes, and the slowest stand at the end.
const files = [
  "src/{domain,api,world}/**/*.test.ts",
  "test/operations/{create-and-update,rotate-key}.test.ts",
  "test/api/{exchange,limits}.test.ts",
  "test/preview/{records,refusals}.test.ts",
  "test/faults/{changes,rules}.test.ts",
  "test/library/{mistakes,sandbox,snapshot}.test.ts",
  "test/api/{context,same-rejection,fake-clock}.test.ts",
  "test/preview/{separation,model}.test.ts",
  "test/api/model.test.ts",
  "test/report/counts.test.ts",
  "test/report/client-behaviour.test.ts",
  "test/varied/answers.test.ts",
];

class InThisOrder extends BaseSequencer {
  override async sort(specifications: TestSpecification[]): Promise<TestSpecification[]> {
    const { matchesGlob } = await import("node:path");
    const rank = ({ moduleId }: TestSpecification) =>
      files.findIndex((pattern) => matchesGlob(moduleId, `**/${pattern}`));
    return specifications.sort((one, other) => rank(one) - rank(other));
  }
}

export default defineConfig({
  test: {
    include: files,
    isolate: false,
    setupFiles: "scripts/mutants/setup.ts",
    sequence: { sequencer: InThisOrder },
    // What counts the use of each mutant slows the code down.
    testTimeout: 60_000,
  },
});
