import { SandboxError } from "../../domain/errors.js";
import { redactKeys } from "../../domain/redact.js";
import { loadScenario } from "../../node/files/load-scenario.js";
import { pluralize } from "../../report/plain-text.js";
import { ScenarioError } from "../../scenario/problems/scenario-error.js";
import type { Scenario } from "../../scenario/scenario.generated.js";
import { declareCommand } from "../command.js";
import { exitCode } from "../exit-codes.js";
import { json, quiet } from "../flags.js";
import type { Io } from "../io.js";
import { problemsJson, stepsThatFail } from "../open-scenario.js";

interface Verdict {
  readonly file: string;
  readonly code: number;
  readonly scenario?: Scenario;
  readonly error?: SandboxError;
}

export const command = declareCommand({
  summary: "check scenario files without serving them",
  description:
    "Checks scenario files and runs their timeline and story once. Good ones are named on stdout, problems go to stderr with file, line, column and a hint. Exits with 1 when a file has problems, with 2 when one cannot be read.",
  words: { "<file...>": "scenario files (or bundled names)" },
  flags: { json, quiet },
  examples: {
    "svc-sandbox validate my.yaml": "one file",
    "svc-sandbox validate scenarios/*.yaml --json": "many files, for machines",
  },
  async run({ words, flags, io }) {
    const verdicts: Verdict[] = [];
    for (const file of words) verdicts.push(await check(file, io));
    if (flags.json) io.stdout.write(`${JSON.stringify(verdicts.map(asJson), null, 2)}\n`);
    else for (const verdict of verdicts) print(verdict, io, flags.quiet === true);
    return Math.max(...verdicts.map(({ code }) => code));
  },
});

async function check(file: string, io: Io): Promise<Verdict> {
  try {
    const loaded = await loadScenario(file, { cwd: io.cwd });
    const problems = await stepsThatFail(loaded, {}, io);
    if (problems.length > 0) throw new ScenarioError(problems);
    return { file, code: exitCode.fine, scenario: loaded.scenario };
  } catch (error) {
    if (!(error instanceof SandboxError)) throw error;
    return { file, code: error instanceof ScenarioError ? exitCode.failed : exitCode.usage, error };
  }
}

function print({ file, scenario, error }: Verdict, io: Io, quiet: boolean): void {
  if (error !== undefined) {
    const count = error instanceof ScenarioError ? error.problems.length : 0;
    const total = count === 0 ? "" : `\n${file}: ${pluralize(count, "problem")}\n\n`;
    io.stderr.write(redactKeys(`${error.message}\n${total}`));
  } else if (!quiet) {
    const organizations = Object.values(scenario?.organizations ?? {});
    const keys = organizations.flatMap((one) => Object.keys(one.keys ?? {}));
    const contents = `${pluralize(organizations.length, "organization")}, ${pluralize(keys.length, "key")}`;
    io.stdout.write(`ok  ${redactKeys(file)}  ${contents}\n`);
  }
}

function asJson({ file, error }: Verdict): object {
  const problems = error === undefined ? [] : problemsJson(error, file);
  return { file: redactKeys(file), ok: error === undefined, problems };
}
