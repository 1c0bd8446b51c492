import { DefaultReporter, type TestCase, type TestModule, type TestSpecification } from "vitest/node";

/**
 * Vitest's summary and its failures, without a line for each file and each slow test.
 *
 * In a terminal the summary moves; elsewhere a line now and then shows the progress.
 */
export class ProgressReporter extends DefaultReporter {
  #files = 0;
  #ended = 0;

  override onTestRunStart(specifications: readonly TestSpecification[]): void {
    super.onTestRunStart(specifications);
    this.#files = specifications.length;
    this.#ended = 0;
  }

  protected override printTestModule(module: TestModule): void {
    this.#ended += 1;
    if (this.#files < 5 || module.state() === "failed") super.printTestModule(module);
    else if (!this.isTTY && this.#ended % 20 === 0) this.log(` ${this.#ended} of ${this.#files} files`);
  }

  protected override printTestCase(state: ReturnType<TestModule["state"]>, test: TestCase): void {
    const result = test.result().state;
    if (result === "failed" || (this.#files === 1 && result === "passed")) super.printTestCase(state, test);
  }
}
