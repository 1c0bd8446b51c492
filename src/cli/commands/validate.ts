import { SandboxError } from "../../domain/errors.js";
import { redactKeys } from "../../domain/redact.js";
import { loadScenario } from "../../node/files/load-scenario.js";
import { ScenarioError } from "../../scenario/problems/scenario-error.js";
import type { Scenario } from "../../scenario/scenario.generated.js";
import type { Run } from "../command.js";
import { exitCode } from "../exit-codes.js";
import type { Io } from "../io.js";

/** What became of one file. */
interface Verdict {
  readonly file: string;
  readonly exitCode: number;
  readonly scenario?: Scenario;
  readonly error?: SandboxError;
}

/** `svc-sandbox validate` */
export const validate: Run = async ({ words, flags, io }) => {
  const verdicts: Verdict[] = [];
  for (const file of words) verdicts.push(await check(file, io));
  if (flags.json) io.stdout.write(`${JSON.stringify(verdicts.map(asJson), null, 2)}\n`);
  else for (const verdict of verdicts) print(verdict, io, flags.quiet === true);
  return Math.max(...verdicts.map((verdict) => verdict.exitCode));
};

async function check(file: string, io: Io): Promise<Verdict> {
  try {
    const { scenario } = await loadScenario(file, { cwd: io.cwd });
    return { file, exitCode: exitCode.fine, scenario };
  } catch (error) {
    if (!(error instanceof SandboxError)) throw error;
    const failed = error instanceof ScenarioError ? exitCode.failed : exitCode.usage;
    return { file, exitCode: failed, error };
  }
}

function print({ file, scenario, error }: Verdict, io: Io, quiet: boolean): void {
  if (error !== undefined) {
    const count = error instanceof ScenarioError ? problemCount(file, error.problems.length) : "";
    io.stderr.write(redactKeys(`${error.message}\n${count}`));
  } else if (!quiet) {
    io.stdout.write(`ok  ${redactKeys(file)}  ${contents(scenario)}\n`);
  }
}

function problemCount(file: string, count: number): string {
  return `\n${file}: ${counted(count, "problem")}\n\n`;
}

function contents(scenario: Scenario | undefined): string {
  const organizations = Object.values(scenario?.organizations ?? {});
  const keys = organizations.reduce(
    (sum, organization) => sum + Object.keys(organization.keys ?? {}).length,
    0,
  );
  return `${counted(organizations.length, "organization")}, ${counted(keys, "key")}`;
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

function asJson({ file, error }: Verdict): Record<string, unknown> {
  if (error === undefined) return { file, ok: true, problems: [] };
  const problems =
    error instanceof ScenarioError
      ? error.problems
      : [{ code: error.code, path: "", message: redactKeys(error.message), file }];
  return { file: redactKeys(file), ok: false, problems };
}
