import { scenarioWarnings } from "../../node/dry-run.js";
import { pluralize } from "../../report/plain-text.js";
import { SandboxError } from "../../rules/errors.js";
import { redactPlainKeys } from "../../rules/keys/redact.js";
import { oneSafeLine, safeOutput } from "../../rules/terminal-text.js";
import { allKeys, allOrganizations } from "../../scenario/keys.js";
import { problemsAt, ScenarioError, type ScenarioProblem } from "../../scenario/problems.js";
import type { Scenario } from "../../scenario/scenario.generated.js";
import { declareCommand } from "../command.js";
import { exitCode } from "../exit-codes.js";
import type { Io } from "../io.js";
import { openScenarioArgument, problemsJson, scenarioArgumentsOrDefault } from "../scenario.js";
import * as shared from "../shared-flags.js";

/** What came of one file. */
type CheckedFile =
  | {
      readonly kind: "valid";
      readonly file: string;
      readonly scenario: Scenario;
      /** What is usually a mistake. */
      readonly warnings: readonly ScenarioProblem[];
    }
  | { readonly kind: "invalid"; readonly file: string; readonly error: ScenarioError }
  /** It cannot be read. */
  | { readonly kind: "unreadable"; readonly file: string; readonly error: SandboxError };

const exitCodes = { valid: exitCode.fine, invalid: exitCode.failed, unreadable: exitCode.usage } as const;

export const validateCommand = declareCommand({
  summary: "check scenario files without serving them",
  description:
    "Checks scenario files, and runs their timeline and story once. Prints valid files on stdout, and problems on stderr with file, line, column and a hint. Exits with 1 if a file has problems, with 2 if one cannot be read.",
  args: { "[file...]": "scenario files (or bundled names; - reads stdin; default: svc-sandbox.yaml)" },
  flags: { json: shared.json, quiet: shared.quiet("only problems") },
  modes: [
    { name: "validate --json", when: ({ flags }) => flags.json, flags: ["json"] },
    { name: "validate", flags: ["json", "quiet"] },
  ],
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
    return Math.max(...checked.map(({ kind }) => exitCodes[kind]));
  },
});

/** Checks a file, and runs its timeline and story once. */
async function validateFile(file: string, io: Io): Promise<CheckedFile> {
  try {
    const { origin, loaded, places } = await openScenarioArgument(file, io);
    const { name, scenario } = loaded;
    const { placeOf, spelling } = await places();
    const { failingSteps, ...warningsByKind } = scenarioWarnings(loaded, { spelling });
    if (failingSteps.length > 0) {
      return { kind: "invalid", file, error: new ScenarioError(problemsAt(failingSteps, placeOf, name)) };
    }

    // Bundled scenarios are tested: they need no warnings.
    if (origin === "bundled") return { kind: "valid", file, scenario, warnings: [] };

    const problems = Object.values(warningsByKind).flat();
    // As an error, the warnings have no keys and are shown like problems.
    const { problems: warnings } = new ScenarioError(problemsAt(problems, placeOf, name));
    return { kind: "valid", file, scenario, warnings };
  } catch (error) {
    if (error instanceof ScenarioError) return { kind: "invalid", file, error };
    if (error instanceof SandboxError) return { kind: "unreadable", file, error };
    throw error;
  }
}

/** Prints what is wrong on stderr, and that a file is valid on stdout. */
function printChecked(
  checked: CheckedFile,
  io: Io,
  { quiet }: { readonly quiet?: boolean | undefined },
): void {
  const { file } = checked;
  if (checked.kind !== "valid") {
    const { error } = checked;
    const count = checked.kind === "invalid" ? checked.error.problems.length : 0;
    const total = count === 0 ? "" : `\n${file}: ${pluralize(count, "problem")}\n\n`;
    io.stderr.say(safeOutput(redactPlainKeys(`${error.message}\n${total}`)));
    return;
  }
  if (quiet) return;

  const { warnings } = checked;
  if (warnings.length > 0) {
    const { message } = new ScenarioError(warnings);
    const count = pluralize(warnings.length, "warning");
    io.stderr.say(redactPlainKeys(`${message}\n\n${file}: ${count}\n\n`));
  }
  const contents = contentsText(checked.scenario);
  io.stdout.say(`ok  ${oneSafeLine(redactPlainKeys(file))}  ${contents}\n`);
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

function asJson(checked: CheckedFile): object {
  const file = redactPlainKeys(checked.file);
  if (checked.kind !== "valid") {
    return { file, ok: false, problems: problemsJson(checked.error, checked.file) };
  }
  const { warnings } = checked;
  return { file, ok: true, problems: [], ...(warnings.length > 0 && { warnings }) };
}
