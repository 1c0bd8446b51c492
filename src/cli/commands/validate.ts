import { scenarioWarnings } from "../../node/dry-run.js";
import { pluralize } from "../../report/plain-text.js";
import { SandboxError } from "../../rules/errors.js";
import { oneSafeLine, safeOutput } from "../../rules/terminal-text.js";
import { allKeys, allOrganizations } from "../../scenario/keys.js";
import { showProblems } from "../../scenario/places.js";
import { ScenarioError, type ScenarioProblem } from "../../scenario/problems.js";
import type { Scenario } from "../../scenario/scenario.generated.js";
import { declareCommand } from "../command.js";
import { exitCode } from "../exit-codes.js";
import type { Io } from "../io.js";
import { openScenarioArgument, problemsJson, scenarioArgumentsOrDefault } from "../scenario.js";
import * as shared from "../shared-flags.js";

/** What came of one file. */
interface CheckedFile {
  readonly file: string;
  /** Its problems, or why it cannot be read; `undefined` if it is valid. */
  readonly error?: SandboxError;
  /** What is usually a mistake. */
  readonly warnings: readonly ScenarioProblem[];
  /** What a valid one has, in numbers. */
  readonly contents: string;
}

export const validateCommand = declareCommand({
  summary: "check scenario files without serving them",
  description:
    "Checks scenario files, and runs their timeline and story once. Prints valid files on stdout, and problems on stderr with file, line, column and a hint. Exits with 1 if a file has problems, with 2 if one cannot be read.",
  args: { "[file...]": "scenario files (or bundled names; - reads stdin; default: svc-sandbox.yaml)" },
  flags: { json: shared.json, quiet: shared.quiet("only problems", "json") },
  examples: {
    "svc-sandbox validate": "svc-sandbox.yaml",
    "svc-sandbox validate scenarios/*.yaml --json": "many files, for machines",
  },
  async run({ args, flags, io }) {
    const checked: CheckedFile[] = [];
    // A file that is named twice is checked once: stdin can be read only once.
    const files = new Set(scenarioArgumentsOrDefault(args, "validate", io));
    for (const file of files) checked.push(await validateFile(file, io));

    if (flags.json) {
      io.stdout.write(`${JSON.stringify(checked.map(asJson), null, 2)}\n`);
    } else {
      for (const file of checked) printChecked(file, io, flags);
    }
    return Math.max(...checked.map(exitCodeOfFile));
  },
});

function exitCodeOfFile({ error }: CheckedFile): number {
  if (error === undefined) return exitCode.fine;
  return error instanceof ScenarioError ? exitCode.failed : exitCode.usage;
}

/** Checks a file, and runs its timeline and story once. */
async function validateFile(file: string, io: Io): Promise<CheckedFile> {
  try {
    const { origin, loaded, places } = await openScenarioArgument(file, io);
    const { name, scenario } = loaded;
    const { locate } = await places();
    const texts = { locate, file: name };
    const { failingSteps, ...warningsByKind } = scenarioWarnings(loaded);
    if (failingSteps.length > 0) throw new ScenarioError(showProblems(failingSteps, texts));

    // Bundled scenarios are tested: they need no warnings.
    const problems = origin === "bundled" ? [] : Object.values(warningsByKind).flat();
    // As an error, the warnings are shown like problems.
    const { problems: warnings } = new ScenarioError(showProblems(problems, texts));
    return { file, warnings, contents: contentsText(scenario) };
  } catch (error) {
    if (!(error instanceof SandboxError)) throw error;
    return { file, error, warnings: [], contents: "" };
  }
}

/** Prints what is wrong on stderr, and that a file is valid on stdout. */
function printChecked(
  { file, error, warnings, contents }: CheckedFile,
  io: Io,
  { quiet }: { readonly quiet?: boolean | undefined },
): void {
  if (error !== undefined) {
    const count = error instanceof ScenarioError ? error.problems.length : 0;
    const total = count === 0 ? "" : `\n${file}: ${pluralize(count, "problem")}\n\n`;
    io.stderr.say(safeOutput(`${error.message}\n${total}`));
    return;
  }
  if (quiet) return;
  if (warnings.length > 0) {
    const count = pluralize(warnings.length, "warning");
    io.stderr.say(`${new ScenarioError(warnings).message}\n\n${file}: ${count}\n\n`);
  }
  io.stdout.say(`ok  ${oneSafeLine(file)}  ${contents}\n`);
}

/** What a scenario has, in numbers. */
function contentsText(scenario: Scenario): string {
  // Those of its population, too.
  const organizations = [...allOrganizations(scenario)].length;
  const keys = [...allKeys(scenario)].length;
  const endpoints = Object.keys(scenario.endpoints ?? {});

  const counts = [pluralize(organizations, "organization"), pluralize(keys, "key")];
  if (endpoints.length > 0) counts.push(pluralize(endpoints.length, "endpoint"));
  return counts.join(", ");
}

function asJson({ file, error, warnings }: CheckedFile): object {
  if (error !== undefined) return { file, ok: false, problems: problemsJson(error, file) };
  return { file, ok: true, problems: [], ...(warnings.length > 0 && { warnings }) };
}
