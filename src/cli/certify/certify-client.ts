import type { Endpoint } from "../../api/endpoint.js";
import { apiVersion } from "../../api/openapi.js";
import { builtIn } from "../../api/routes.js";
import { type Certification, certify, findings, type Progress } from "../../certify/certification.js";
import { planOf, verdictOf } from "../../certify/plan.js";
import { notTriedIn, unmetGates, whyTooLittle } from "../../certify/promises.js";
import type { CertifyResult, Run } from "../../certify/result.js";
import { stopwatch, wallTime } from "../../library/real-time.js";
import type { LoadedScenario } from "../../node/files/load-scenario.js";
import { version } from "../../node/package-files.js";
import { endpointsFor, loadReader, nodePlatform } from "../../node/platform.js";
import { commandLine, pluralize } from "../../report/plain-text.js";
import { escapeControls, redactKeys } from "../../rules/redact.js";
import { canonicalJson } from "../../rules/schema/json.js";
import { isMapping } from "../../rules/schema/shape.js";
import { defaultSeed } from "../../rules/seed.js";
import type { CommandCall } from "../command.js";
import { sayWhyNotRun } from "../serve/run-served.js";
import type { ServeFlags } from "../serve/serve-options.js";
import { createClientRuns } from "./client-runs.js";

interface Asked extends Pick<CertifyResult, "command" | "seeds" | "faults" | "gates"> {
  readonly loaded: LoadedScenario;
  readonly kinds: CertifyResult["promises"]["kinds"];
  readonly only?: readonly string[] | undefined;
}

export interface CertifyFlags extends ServeFlags {
  readonly jobs?: number;
  readonly bail?: boolean;
  readonly budget?: number;
  readonly timeout?: number;
  readonly now?: number;
  readonly frozen?: boolean;
  readonly openapi?: string;
  readonly json?: boolean;
  readonly format?: string;
}

export const certificateFiles = { name: "--certificate", what: "the certificate" };

/** Certifies a client; `release` stops taking signals, after the certificate, which a signal must not interrupt. */
export async function certifyClient(asked: Asked, call: CommandCall<CertifyFlags>) {
  const { loaded, command, seeds, faults, kinds, only } = asked;
  const { flags, io } = call;
  const { now, frozen, timeout, bail, budget, ...served } = flags;
  const [baseline, ...others] = planOf(loaded.scenario.seed ?? defaultSeed, seeds, faults);
  const endpoints = endpointsFor(loaded.scenario);
  const runs = [baseline, ...others.filter(({ name }) => only?.includes(name) ?? true)] as const;
  const client = createClientRuns(loaded, { io, rest: command, flags: served }, { now, frozen }, flags.jobs);
  const { jobs, cutShort, release } = client;
  const progress = createProgress(call);
  const startedAt = new Date(wallTime()).toISOString();
  const document = await documentIn(loaded, flags);
  progress.begin(`Running ${commandLine(command)}: ${runs.length} runs, ${jobs} in parallel`);
  const state = await certify(
    { runs, jobs, endpoints, kinds, only, timeout, bail, budget },
    {
      run: client.run,
      separate({ name }) {
        client.separate();
        io.stderr.say(
          `${name} failed next to another run, and passed alone: your runs share something, such as a folder or a port. The rest runs one at a time, as with --jobs 1.\n`,
        );
      },
      isStopped: () => cutShort() !== undefined,
      stopwatch,
      progress,
    },
  );
  const outputOf = ({ name }: Run) => state.done.get(name)?.made.output ?? [];
  const { failure } = state.done.get(baseline.name)?.made ?? {};
  if (failure !== undefined) {
    const code = sayWhyNotRun(command[0] as string, failure, call);
    return { result: undefined, cutShort: code, outputOf, notes: [], release };
  }
  const result = resultOf(asked, flags, state, endpoints, { startedAt, document });
  if (result === undefined) io.stderr.say("Stopped before the first run ended: there is no result.\n");
  return { result, cutShort: cutShort(), outputOf, notes: client.notes(), release };
}

/** The result of the runs that were made; `undefined` if not even the first one ended. */
function resultOf(
  { loaded, command, seeds, faults, gates, only }: Asked,
  { intercept }: CertifyFlags,
  state: Certification,
  endpoints: readonly Endpoint[],
  { startedAt, document }: Pick<CertifyResult, "startedAt" | "document">,
): CertifyResult | undefined {
  const { report, runs, promises, retries, open } = findings(state);
  if (report === undefined) return undefined;
  const names = new Set([...state.done.values()].flatMap(({ made }) => made.scenarios));
  const otherScenarios = [...names].filter((name) => name !== loaded.name);
  const isSeen = runs[0].outcome === "passed" && whyTooLittle(report) === undefined;
  const facts = {
    scenario: loaded.name,
    ...(otherScenarios.length > 0 && { otherScenarios }),
    scenarioDigest: nodePlatform.sha256(canonicalJson({ ...loaded.scenario, openapi: undefined })),
    ...(document !== undefined && { document }),
    specification: apiVersion,
    sandbox: version,
    ...(intercept !== undefined && { intercept: [...intercept] }),
    seeds,
    faults,
    command,
    startedAt,
    durationMs: Math.round(stopwatch() - state.started),
    runs,
    promises,
    ...(retries && { retries }),
    gates,
    unmet: isSeen ? unmetGates(report, promises, gates) : [],
    report,
  };
  const notTried = notTriedIn(facts, only, endpoints, open);
  return { ...facts, notTried, verdict: verdictOf(facts) };
}

/** The document of a scenario, as certificates name it. */
async function documentIn(
  { scenario }: LoadedScenario,
  flags: { readonly openapi?: string },
): Promise<CertifyResult["document"]> {
  if (!isMapping(scenario.openapi)) return undefined;
  const { text, file, info } = (await loadReader()).describe(scenario, builtIn);
  const given = flags.openapi !== undefined && { given: true };
  return {
    ...info,
    ...(file && { file: escapeControls(file) }),
    digest: nodePlatform.sha256(text),
    ...given,
  };
}

/** Shows the progress of a certification: a line for each run, and for each tenth attempt to find a cause. */
function createProgress({ io, flags }: Pick<CommandCall<{ quiet?: boolean }>, "io" | "flags">): Progress {
  let attempts = 0;
  const line = (...cells: string[]) => {
    if (!flags.quiet) io.stderr.write(redactKeys(`${cells.join("  ")}\n`));
  };
  const seconds = (durationMs: number) => `${(durationMs / 1000).toFixed(1)} s`.padStart(7);
  return {
    begin(what) {
      attempts = 0;
      line(what);
    },
    ran({ name, outcome, durationMs, requests }) {
      const requestCount = pluralize(requests, "request");
      line(outcome.replace("_", " ").padEnd(9), name.padEnd(15), seconds(durationMs), requestCount);
    },
    broke({ id, outcome, durationMs }) {
      line(outcome.replace("_", " ").padEnd(11), id, seconds(durationMs));
    },
    tried() {
      attempts += 1;
      if (attempts % 10 === 0) line(`${attempts} attempts`);
    },
    found({ name, outcome, cause }) {
      line(`${name} ${outcome === "flaky" ? "is flaky" : (cause?.sentence ?? outcome)}.`);
    },
  };
}
