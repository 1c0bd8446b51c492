import { scenarioWarnings } from "../../node/scenario-warnings.js";
import { pluralize } from "../../report/plain-text.js";
import { SandboxError } from "../../rules/errors.js";
import { redactKeys } from "../../rules/redact.js";
import { escapeControls, printable } from "../../rules/terminal-text.js";
import { type FieldProblem, problemsAt, ScenarioError } from "../../scenario/problems.js";
import type { Scenario } from "../../scenario/scenario.generated.js";
import { declareCommand } from "../command.js";
import { exitCode } from "../exit-codes.js";
import * as flag from "../flags.js";
import type { Io } from "../io.js";
import { namedOrOwn, openNamed, problemsJson } from "../open-scenario.js";

/** What came of one file. */
interface CheckedFile {
  readonly file: string;
  /** The exit code. */
  readonly code: number;
  readonly scenario?: Scenario;
  readonly error?: SandboxError;
  /** Valid, but usually a mistake. */
  readonly warning?: ScenarioError | undefined;
}

export const validateCommand = declareCommand({
  summary: "check scenario files without serving them",
  description:
    "Checks scenario files, and runs their timeline and story once. Prints valid files on stdout, and problems on stderr with file, line, column and a hint. Exits with 1 if a file has problems, with 2 if one cannot be read.",
  args: { "[file...]": "scenario files (or bundled names; - reads stdin; default: svc-sandbox.yaml)" },
  flags: { json: flag.json, quiet: flag.quiet("only problems") },
  modes: [
    { name: "validate --json", when: ({ flags }) => flags.json, words: ["[file...]"], flags: ["json"] },
    { name: "validate", words: ["[file...]"], flags: ["quiet"] },
  ],
  examples: {
    "svc-sandbox validate": "svc-sandbox.yaml",
    "svc-sandbox validate scenarios/*.yaml --json": "many files, for machines",
  },
  async run({ args, flags, io }) {
    const checked: CheckedFile[] = [];
    // A file that is named twice is checked once: stdin can be read only once.
    const files = new Set(namedOrOwn(args, "validate", io));
    for (const file of files) checked.push(await validateFile(file, io));

    if (flags.json) {
      io.stdout.write(`${JSON.stringify(checked.map(asJson), null, 2)}\n`);
    } else {
      for (const file of checked) printChecked(file, io, flags);
    }
    return Math.max(...checked.map(({ code }) => code));
  },
});

/** Checks a file, and runs its timeline and story once. */
async function validateFile(file: string, io: Io): Promise<CheckedFile> {
  try {
    const { loaded, places } = await openNamed(file, io);
    const { scenario, files, piped } = loaded;
    const { placeOf, spelling } = await places();
    const toError = (problems: readonly FieldProblem[]) => {
      if (problems.length === 0) return undefined;
      return new ScenarioError(problemsAt(problems, placeOf, loaded.name));
    };

    const { failingSteps, ...others } = scenarioWarnings(loaded, { spelling });
    const failing = toError(failingSteps);
    if (failing !== undefined) throw failing;

    // Bundled scenarios are tested: they need no warnings.
    const isBundled = files.length === 0 && piped === undefined;
    if (isBundled) return { file, code: exitCode.fine, scenario };
    return { file, code: exitCode.fine, scenario, warning: toError(Object.values(others).flat()) };
  } catch (error) {
    if (!(error instanceof SandboxError)) throw error;
    const code = error instanceof ScenarioError ? exitCode.failed : exitCode.usage;
    return { file, code, error };
  }
}

/** Prints what is wrong on stderr, and that a file is valid on stdout. */
function printChecked(
  checked: CheckedFile,
  io: Io,
  { quiet }: { readonly quiet?: boolean | undefined },
): void {
  const { file, scenario, error, warning } = checked;
  if (error !== undefined) {
    const count = error instanceof ScenarioError ? error.problems.length : 0;
    const total = count === 0 ? "" : `\n${file}: ${pluralize(count, "problem")}\n\n`;
    io.stderr.say(printable(redactKeys(`${error.message}\n${total}`)));
    return;
  }
  if (quiet) return;

  if (warning !== undefined) {
    const count = pluralize(warning.problems.length, "warning");
    io.stderr.say(redactKeys(`${warning.message}\n\n${file}: ${count}\n\n`));
  }
  const contents = contentsText(scenario ?? {});
  io.stdout.say(`ok  ${escapeControls(redactKeys(file))}  ${contents}\n`);
}

/** What a scenario has, in numbers. */
function contentsText(scenario: Partial<Scenario>): string {
  const organizations = Object.values(scenario.organizations ?? {});
  const endpoints = Object.keys(scenario.endpoints ?? {});
  let keys = 0;
  for (const organization of organizations) keys += Object.keys(organization.keys ?? {}).length;

  const counts = [pluralize(organizations.length, "organization"), pluralize(keys, "key")];
  if (endpoints.length > 0) counts.push(pluralize(endpoints.length, "endpoint"));
  return counts.join(", ");
}

function asJson({ file, error, warning }: CheckedFile): object {
  return {
    file: redactKeys(file),
    ok: error === undefined,
    problems: error === undefined ? [] : problemsJson(error, file),
    ...(warning !== undefined && { warnings: warning.problems }),
  };
}
