import {
  type Rehearsal,
  type Rehearsed,
  rehearseChanges,
  renderCalendar,
  type TryAt,
} from "../../certify/next.js";
import { patienceFor } from "../../certify/plan.js";
import type { LoadedScenario } from "../../node/files/load-scenario.js";
import { endpointsFor } from "../../node/platform.js";
import { commandLine } from "../../report/plain-text.js";
import type { ReportFormat } from "../../report/render/document.js";
import { redactKeys } from "../../spec/redact.js";
import { defaultSeed } from "../../spec/seed.js";
import type { CommandCall } from "../command.js";
import { describeFailure, exitCode } from "../exit-codes.js";
import { type ReportTarget, writeTargets } from "../files.js";
import { loadChanges } from "../open-scenario.js";
import { sayWhyNotRun } from "../serve/run-served.js";
import { styleFor } from "../terminal.js";
import { certificateFiles } from "./certificate-files.js";
import { type CertifyFlags, createProgress, documentIn } from "./certify-client.js";
import { createClientRuns } from "./client-runs.js";

interface Output {
  readonly format: "text" | "brief" | "json";
  readonly targets: readonly ReportTarget[];
}

/**
 * Runs a client around the dates of announced changes, and prints which change breaks it and when; resolves to the exit
 * code.
 */
export async function certifyNext(
  next: string,
  loaded: LoadedScenario,
  call: CommandCall<CertifyFlags>,
  { format, targets }: Output,
): Promise<number> {
  const { flags, io, rest: command } = call;
  const { frozen, now: _, timeout, ...served } = flags;
  const { changes } = await loadChanges(next, io, loaded.scenario.openapi);
  const client = createClientRuns(loaded, { io, rest: command, flags: served }, { frozen }, flags.jobs);
  const progress = createProgress(call);
  let runs = 0;
  let baselineMs: number | undefined;
  const run = async (some: typeof changes, now: number | undefined) => {
    let shown = false;
    const planned = {
      name: "next",
      profile: "minimal",
      seed: loaded.scenario.seed ?? defaultSeed,
      now,
    } as const;
    const patience = patienceFor(planned, { timeout, baselineMs, paths: [] });
    const made = await client.run(planned, { changes: some, onChanged: () => (shown = true) }, patience);
    runs += 1;
    progress.tried();
    return { made, shown };
  };
  const tryAt: TryAt = async (some, now) => {
    const { made, shown } = await run(some, now);
    const failed = made !== undefined && made.outcome !== "passed";
    return { failed, shown, ...(made?.lastRequest && { lastRequest: made.lastRequest }) };
  };
  try {
    progress.begin(`Running ${commandLine(command)} without any change`);
    const { made: baseline } = await run({}, undefined);
    if (baseline?.failure !== undefined) return sayWhyNotRun(command[0] as string, baseline.failure, call);
    baselineMs = baseline?.durationMs;
    const isUsable = baseline?.outcome === "passed" && baseline.report.requests > 0;
    if (isUsable) progress.begin(`Running it around each date of ${next}`);
    const found = isUsable ? await rehearseChanges(changes, tryAt, endpointsFor(loaded.scenario)) : [];
    const stopped = client.cutShort();
    if (stopped !== undefined) return stopped;
    const verdict = isUsable ? verdictOf(found) : "unusable";
    const { name: scenario } = loaded;
    const { intercept } = flags;
    const document = await documentIn(loaded, flags);
    const about = { scenario, next, command, intercept, document };
    const rehearsal: Rehearsal = { ...about, verdict, runs, changes: found };
    const style = styleFor(io.stdout, io.env);
    io.stdout.write(redactKeys(renderCalendar(rehearsal, format, style)));
    const inFormat = (format: ReportFormat) => renderCalendar(rehearsal, format);
    const failures = await writeTargets(targets, inFormat, certificateFiles, io);
    for (const one of failures) io.stderr.say(describeFailure(one, flags));
    if (verdict !== "passed") return baseline?.report.requests === 0 ? exitCode.noRequest : exitCode.failed;
    return failures.length === 0 ? exitCode.fine : exitCode.usage;
  } finally {
    client.release();
    io.endSoon();
  }
}

function verdictOf(changes: readonly Rehearsed[]): Rehearsal["verdict"] {
  const verdicts = changes.map(({ verdict }) => verdict);
  if (verdicts.includes("breaks")) return "failed";
  return verdicts.includes("unclear") ? "unclear" : "passed";
}
