/** Prints how many test files are done, at each tenth of them. `scripts/test.ts` shows these lines. */
export default class ProgressReporter {
  #files = 0;
  #done = 0;

  onTestRunStart(specifications) {
    this.#files = specifications.length;
  }

  onTestModuleEnd() {
    const tenthsBefore = Math.floor((10 * this.#done) / this.#files);
    this.#done += 1;
    const tenths = Math.floor((10 * this.#done) / this.#files);
    if (tenths > tenthsBefore) process.stderr.write(`\n… tests: ${this.#done} of ${this.#files} files\n`);
  }
}
