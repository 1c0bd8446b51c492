import { placeInScenario, unmarkedSecrets } from "../../node/dry-run.js";
import { pluralize } from "../../report/plain-text.js";
import { SandboxError } from "../../rules/errors.js";
import { escapeControls, printable, redactKeys } from "../../rules/redact.js";
import type { Path } from "../../rules/schema/shape.js";
import { ScenarioError } from "../../scenario/problems.js";
import type { Scenario } from "../../scenario/scenario.generated.js";
import { declareCommand } from "../command.js";
import { exitCode } from "../exit-codes.js";
import * as flag from "../flags.js";
import type { Io } from "../io.js";
import {
  documentNotes,
  fallbackScenario,
  firstNotes,
  loadNamed,
  namedOrOwn,
  ownIn,
  problemsJson,
  startNamed,
  stepsThatFail,
} from "../open-scenario.js";

interface Verdict {
  readonly file: string;
  readonly code: number;
  readonly scenario?: Scenario;
  readonly error?: SandboxError;
  /** Valid, but usually a mistake. */
  readonly warning?: ScenarioError | undefined;
  /** How many operations of its document are served, and notes about it. */
  readonly operations?: number;
  readonly notes?: readonly string[];
}

export const validateCommand = declareCommand({
  summary: "check scenario files without serving them",
  description:
    "Checks scenario files, and runs their timeline and story once. Prints valid files on stdout, and problems on stderr with file, line, column and a hint. Exits with 1 if a file has problems, with 2 if one cannot be read.",
  words: { "[file...]": "scenario files (or bundled names; - reads stdin; default: svc-sandbox.yaml)" },
  flags: {
    openapi: flag.ofSandbox.openapi,
    json: flag.json,
    quiet: flag.quiet,
    verbose: flag.verbose,
  },
  examples: {
    "svc-sandbox validate": "svc-sandbox.yaml",
    "svc-sandbox validate --openapi api.yaml": "an OpenAPI document",
    "svc-sandbox validate scenarios/*.yaml --json": "many files, for machines",
  },
  async run({ words, flags, io }) {
    const verdicts: Verdict[] = [];
    const { openapi } = flags;
    const ownFiles = () => [ownIn(io.cwd) ?? fallbackScenario];
    const files =
      openapi !== undefined && words.length === 0 ? ownFiles() : namedOrOwn(words, "validate", io);
    for (const file of files) verdicts.push(await check(file, openapi, io));
    if (flags.json) io.stdout.write(`${JSON.stringify(verdicts.map(asJson), null, 2)}\n`);
    else for (const verdict of verdicts) print(verdict, io, flags);
    return Math.max(...verdicts.map(({ code }) => code));
  },
});

async function check(file: string, openapi: string | undefined, io: Io): Promise<Verdict> {
  try {
    const loaded = await loadNamed(file, io, { openapi });
    const problems = await stepsThatFail(loaded, {}, io);
    if (problems.length > 0) throw new ScenarioError(problems);
    const { name, files, piped } = loaded;
    const placeIn = (path: Path) => placeInScenario(name, path, io.cwd, piped);
    const isBundled = files.length === 0 && piped === undefined;
    const warnings = isBundled ? [] : await unmarkedSecrets(loaded, placeIn);
    const warning = warnings.length === 0 ? undefined : new ScenarioError(warnings);
    const { notes, operations } = await documentNotes(loaded, () => startNamed(loaded, {}));
    return { file, code: exitCode.fine, scenario: loaded.scenario, warning, notes, operations };
  } catch (error) {
    if (!(error instanceof SandboxError)) throw error;
    return { file, code: error instanceof ScenarioError ? exitCode.failed : exitCode.usage, error };
  }
}

function print(
  { file, scenario, error, warning, notes = [], operations = 0 }: Verdict,
  io: Io,
  { quiet, verbose }: { readonly quiet?: boolean | undefined; readonly verbose?: boolean | undefined },
): void {
  if (error !== undefined) {
    const count = error instanceof ScenarioError ? error.problems.length : 0;
    // Of the document, if it is in another file.
    const [first] = error instanceof ScenarioError ? error.problems : [];
    const total = count === 0 ? "" : `\n${first?.file ?? file}: ${pluralize(count, "problem")}\n\n`;
    io.stderr.say(printable(redactKeys(`${error.message}\n${total}`)));
  } else if (!quiet) {
    if (warning !== undefined) {
      const count = pluralize(warning.problems.length, "warning");
      io.stderr.say(redactKeys(`${warning.message}\n\n${file}: ${count}\n\n`));
    }
    for (const note of firstNotes(notes, verbose)) io.stderr.say(printable(redactKeys(`${note}\n`)));
    const organizations = Object.values(scenario?.organizations ?? {});
    const keys = organizations.flatMap((one) => Object.keys(one.keys ?? {}));
    const counts = [pluralize(organizations.length, "organization"), pluralize(keys.length, "key")];
    if (scenario?.openapi !== undefined) counts.push(pluralize(operations, "operation"));
    const contents = counts.join(", ");
    io.stdout.say(`ok  ${escapeControls(redactKeys(file))}  ${contents}\n`);
  }
}

function asJson({ file, error, warning, notes = [] }: Verdict): object {
  const problems = error === undefined ? [] : problemsJson(error, file);
  return {
    file: redactKeys(file),
    ok: error === undefined,
    problems,
    ...(warning !== undefined && { warnings: warning.problems }),
    ...(notes.length > 0 && { notes: notes.map((note) => redactKeys(note)) }),
  };
}
