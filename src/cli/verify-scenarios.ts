import { resolve } from "node:path";
import { SandboxError } from "../domain/errors.js";
import { redactKeys } from "../domain/redact.js";
import { loadScenario } from "../node/files/load-scenario.js";
import { isScenarioName } from "../scenario/bundled.js";
import { ScenarioError } from "../scenario/problems/scenario-error.js";
import type { Call } from "./command.js";
import { exitCode } from "./exit-codes.js";
import { exitCodeOfFailure } from "./failure.js";
import { withCount } from "./open-scenario.js";
import { paletteFor } from "./palette.js";
import { type StoryVerdict, verdictOn } from "./story-verdict.js";
import { unreadableJson, verdictJson } from "./verify-json.js";
import { totalText, verdictText } from "./verify-text.js";

/** What verifying some scenarios came to. */
export interface Verified {
  readonly exitCode: number;
  /** The files that it hung on, those that are broken or missing included; absolute. */
  readonly files: readonly string[];
}

/** What became of one scenario. */
interface Outcome extends Verified {
  readonly name: string;
  readonly verdict?: StoryVerdict;
  /** Why it could not be loaded. */
  readonly error?: SandboxError;
}

/** Verifies the story of each scenario and prints what came of it; one that is broken does not hold up the others. */
export async function verifyScenarios(names: readonly string[], call: Call): Promise<Verified> {
  const { flags, io } = call;
  const outcomes: Outcome[] = [];
  for (const name of names) {
    const outcome = await outcomeOf(name, call);
    if (flags.json !== true) print(outcome, outcomes, call);
    outcomes.push(outcome);
  }
  if (flags.json === true) {
    // While it watches, one document comes after the other: each on a line of its own.
    const document = JSON.stringify(outcomes.map(jsonOf), null, flags.verifyWatch === true ? 0 : 2);
    io.stdout.write(`${redactKeys(document)}\n`);
  } else printTotal(outcomes, call);
  return {
    exitCode: Math.max(...outcomes.map((outcome) => outcome.exitCode)),
    files: [...new Set(outcomes.flatMap(({ files }) => files))],
  };
}

async function outcomeOf(name: string, call: Call): Promise<Outcome> {
  const { cwd } = call.io;
  try {
    const loaded = await loadScenario(name, { cwd });
    const verdict = await verdictOn(loaded, call);
    return { name, verdict, files: loaded.files, exitCode: verdict.passed ? exitCode.fine : exitCode.failed };
  } catch (error) {
    if (!(error instanceof SandboxError)) throw error;
    return { name, error, files: filesOf(name, error, cwd), exitCode: exitCodeOfFailure(error) };
  }
}

// A problem may stand in a file that the scenario extends.
function filesOf(name: string, error: SandboxError, cwd: string): string[] {
  if (isScenarioName(name)) return [];
  const named = error instanceof ScenarioError ? error.problems.map(({ file }) => file ?? name) : [];
  return [name, ...named].map((file) => resolve(cwd, file));
}

// `earlier` are those that were printed before this one.
function print({ name, verdict, error }: Outcome, earlier: readonly Outcome[], { flags, io }: Call): void {
  if (error !== undefined) {
    const { message } = withCount(error, name) as SandboxError;
    io.stderr.write(`${redactKeys(message)}\n`);
    return;
  }
  const { stdout, env } = io;
  const text = verdictText(verdict as StoryVerdict, {
    palette: paletteFor(stdout, env, flags),
    isTerminal: stdout.isTTY === true,
    width: stdout.columns ?? 100,
    quiet: flags.quiet === true,
  });
  if (text === "") return;
  // An empty line between what is long.
  const isBetween = flags.quiet !== true && earlier.some(wasRead);
  stdout.write(isBetween ? `\n${text}` : text);
}

// Where nothing could be read, nothing but that is to be said, and it has been said on stderr.
function printTotal(outcomes: readonly Outcome[], { flags, io }: Call): void {
  if (outcomes.length < 2 || !outcomes.some(wasRead)) return;
  const passed = outcomes.map(({ verdict }) => ({ passed: verdict?.passed === true }));
  if (flags.quiet === true && passed.every((one) => one.passed)) return;
  io.stdout.write(`\n${totalText(passed, paletteFor(io.stdout, io.env, flags))}`);
}

function wasRead({ verdict }: Outcome): boolean {
  return verdict !== undefined;
}

function jsonOf({ name, verdict, error }: Outcome): Record<string, unknown> {
  return error === undefined ? verdictJson(verdict as StoryVerdict) : unreadableJson(name, error);
}
