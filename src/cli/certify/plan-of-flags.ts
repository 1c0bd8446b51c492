import { assumptionsKeptFromVarying } from "../../api/variation/own-assumptions.js";
import type { CertifyPlan } from "../../certify/checks/plan.js";
import { findUnknownOnly } from "../../certify/only.js";
import { outcomesToCover } from "../../report/possible-outcomes.js";
import type { SandboxError } from "../../rules/errors.js";
import { faultOutcomeIds } from "../../rules/outcomes.js";
import { defaultSeed } from "../../rules/seed.js";
import { defaultKeyRef } from "../../sandbox/secrets.js";
import type { LoadedScenario } from "../../scenario/scenario-source.js";
import { didYouMean, quote } from "../../schema/words.js";
import { usageError } from "../exit-codes.js";

/** The flags of `certify` that decide which runs it makes, and what each run is like. */
interface PlanFlags {
  readonly only?: readonly string[];
  readonly allow?: readonly string[];
  readonly faults?: boolean;
  readonly seed?: number;
  readonly timeout?: number;
  readonly now?: number;
  readonly frozen?: boolean;
  readonly tls?: boolean;
  readonly cert?: string;
  readonly key?: string;
}

/** What the runs of the client are; throws a usage error for a wrong `--only` or `--allow`. `nameOf`: that of a flag, or of the variable that has set it. */
export function planOf(
  { scenario }: LoadedScenario,
  flags: PlanFlags,
  nameOf: (flagName: string) => string = (flagName) => flagName,
): CertifyPlan {
  const { only, allow = [], timeout } = flags;
  const outcomes = outcomesToCover(scenario);
  const found = findUnknownOnly(only ?? [], outcomes);
  if (found !== undefined) {
    const examples = "varied.3, answer.401.revoked, resend.403 or fault.hang";
    throw unknownChoice(nameOf("--only"), found.unknown, found.names, examples);
  }
  for (const outcome of allow) {
    const knownOutcomes = [...outcomes, ...faultOutcomeIds];
    if (!knownOutcomes.some((id) => id === outcome)) {
      throw unknownChoice(nameOf("--allow"), outcome, knownOutcomes, "200.retiring or fault.status");
    }
  }

  return {
    // The seed of the plain sandbox, and the first one of those with varied responses.
    seed: scenario.seed ?? defaultSeed,
    firstSeed: flags.seed ?? defaultSeed,
    ownAssumptions: keptAssumptions(scenario),
    defaultKey: defaultKeyRef(scenario),
    allow,
    only,
    timeout,
    hasAllFaults: flags.faults === true,
    flags: flagsForExec(flags),
    certifyFlags: flagsForCertify(allow, timeout),
  };
}

/** The scenario's own assumptions that runs with varied responses do not vary. */
function keptAssumptions(scenario: LoadedScenario["scenario"]): NonNullable<CertifyPlan["ownAssumptions"]> {
  const ownAssumptions = scenario.assumptions ?? {};
  return assumptionsKeptFromVarying({ profile: "varied", run: undefined, ownAssumptions });
}

/** The error for a value of a flag that is none of these names. */
function unknownChoice(
  flagName: string,
  text: string,
  names: readonly string[],
  examples: string,
): SandboxError {
  const hint = didYouMean(text, names) || ` Give one such as ${examples}.`;
  return usageError(`Invalid ${flagName}: there is no ${quote(text)}.${hint}`);
}

/** The flags with which `exec` repeats a run. */
function flagsForExec({ now, frozen, tls, cert, key }: PlanFlags): string[] {
  const words: string[] = [];
  if (now !== undefined) words.push("--now", new Date(now).toISOString());
  if (frozen) words.push("--frozen");
  if (tls) words.push("--tls");
  if (cert !== undefined && key !== undefined) words.push("--cert", cert, "--key", key);
  return words;
}

/** The flags with which `certify` repeats a run, besides those of `exec`. */
function flagsForCertify(allow: readonly string[], timeout: number | undefined): string[] {
  const words: string[] = [];
  for (const outcome of allow) words.push("--allow", outcome);
  if (timeout !== undefined) words.push("--timeout", `${timeout}ms`);
  return words;
}
