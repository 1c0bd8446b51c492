import { constants } from "node:os";
import { rerunCommand, shellWord } from "../../report/curl-line.js";
import type { ReportFormat } from "../../report/render/layout.js";
import { outcomesToCover } from "../../report/report.js";
import { conclusion, renderReport } from "../../report/report-layout.js";
import type { Report } from "../../report/report-shape.js";
import type { Profile } from "../../rules/assumptions.js";
import { type FaultOutcomeId, faultKindRow } from "../../rules/fault-effects.js";
import { type ApiOutcomeId, faultOutcomeIds, type OutcomeId } from "../../rules/outcomes.js";
import { randomStream } from "../../rules/seed.js";
import type { RunConditions } from "../../runs/conditions.js";
import { exampleOfFault, type Fault } from "../../sandbox/faults.js";
import { writtenEndpoints } from "../../scenario/keys.js";
import type { LoadedScenario } from "../../scenario/scenario-source.js";
import { didYouMean, listed, quote, quoteFile } from "../../schema/words.js";
import { type CommandCall, declareCommand } from "../command.js";
import { exitCode, usageError } from "../exit-codes.js";
import * as flag from "../flags.js";
import { runsOnGithub } from "../io.js";
import { extensionWords, type ReportTarget, reportTargets, writeTargets } from "../output-files.js";
import { runClient, sayWhyNotRun, whyNoRequest } from "../run-client.js";
import { TakenSignals } from "../run-command.js";
import type { RunFolder } from "../run-folder.js";
import { loadScenarioArgument } from "../scenario.js";
import * as shared from "../shared-flags.js";
import type { Style } from "../terminal.js";
import { githubAnnotations, type UnmetThreshold, unmetThresholds } from "../thresholds.js";

const execFlags = {
  report: flag.option(
    "--report <file>",
    `write the report to this file and not to stderr, in the format of its extension: ${extensionWords()}; - is stdout; repeatable`,
    (text, from) => [flag.readFileName(text, from)],
  ),
  format: shared.format,
  fault: flag.option(
    "--fault <fault>[@<outcome>]",
    "give a fault to the first request with this outcome, such as fault.hang@401.revoked, or with each promised outcome",
    (text) => text,
  ),
  ...shared.thresholdFlags,
  port: flag.option(
    "-p, --port <number>",
    "the port to listen on (default: 0, any free port)",
    flag.readPort,
  ),
  ...shared.serverFlags,
  ...shared.sandboxFlags,
  log: shared.log("off"),
  quiet: shared.quiet("no report, no notes and no request log"),
};

type ExecCall = CommandCall<flag.FlagValues<typeof execFlags>>;

/** The flag that names the files of the report, and what they contain. */
const reportFlag = { name: "--report", contents: "the report" };

export const execCommand = declareCommand({
  summary: "run a command against a sandbox, and report which error outcomes its client covers",
  description:
    "Serves a scenario on a free port, runs the command with SVC_BASE_URL, SVC_API_KEY, SVC_KEY_<REF> and SVC_CONTROL_URL in its environment, stops, and prints on stderr which responses its client has covered (not with --quiet). Sandboxes in processes of the command count as well: those with msw handlers, and those of svc-sandbox start. stdin and stdout belong to the command, so there is no --json: use --report with a file. Exits with the command's code. If that is 0, it exits with 4 if no request reached an endpoint (allow it with --min-coverage 0), and with 5 if --min-coverage or --fail-on is not reached. The command runs without a shell: write sh -c '…' to use one.",
  args: shared.scenarioArgument,
  takesClientCommand: true,
  flags: execFlags,
  examples: {
    "svc-sandbox exec -- npm test": "any command that reads SVC_BASE_URL",
    "svc-sandbox exec bad-day -- python3 -m pytest": "in another scenario",
    "svc-sandbox exec --min-coverage 80 --fail-on warning -- npm test": "with thresholds",
    "svc-sandbox exec --fault fault.hang@401.revoked -- npm test": "with one fault",
    "svc-sandbox exec --report errors.md --report errors.xml -- npm test": "for CI: Markdown and JUnit",
  },
  async run(call) {
    const { args, clientCommand, flags, io } = call;
    const targets = reportTargets(flags.report, reportFlag, io, flags.format);
    const loaded = await loadScenarioArgument(args[0], io);
    const conditions = createConditions(flags, loaded);

    const signals = new TakenSignals(io);
    try {
      // The report names the line that tests the same client in the same scenario.
      const certifyLine = [io.program, "certify", ...args.map(shellWord)].join(" ");
      const { end, report, folder } = await runClient({
        call,
        loaded,
        startOptions: shared.startOptionsOf(flags),
        conditions,
        certifyLine,
        terminal: "shared",
        signals,
      });
      if (end.kind === "not_run") return sayWhyNotRun(clientCommand[0] ?? "", end.failure, io);
      if (end.kind === "stopped") {
        io.stderr.say("Stopped before the command started.\n");
        return 128 + constants.signals[end.signal];
      }

      const needsRequests = end.code === exitCode.fine && flags.minCoverage !== 0;
      const unmet = unmetThresholds(report, { ...flags, needsRequests });
      const isWritten = await deliverReport({ report, unmet, folder }, targets, call);
      // The command's own code comes first.
      if (end.code !== exitCode.fine) return end.code;
      if (unmet.some(({ kind }) => kind === "requests")) return exitCode.noRequest;
      if (unmet.length > 0) return exitCode.threshold;
      return isWritten ? exitCode.fine : exitCode.usage;
    } finally {
      // Signals were taken until now, because none must interrupt the writing of the report.
      signals.release();
      io.endSoon();
    }
  },
});

/** What a run of the command has shown. */
interface ShownRun {
  readonly report: Report;
  readonly unmet: readonly UnmetThreshold[];
  readonly folder: RunFolder;
}

// What comes on stderr after the command:
//
//                         the report   its conclusion   missed thresholds   other notes, annotations
//   no --report           yes          –                yes                 yes
//   --report              –            yes              yes                 yes
//   --report fails        yes          –                yes                 yes
//   --quiet               –            –                yes                 –, yes
//   --format json         alone: programs read stderr to its end

/** Writes the report into its files, or prints it. Resolves to whether every file could be written. */
async function deliverReport(
  run: ShownRun,
  targets: readonly ReportTarget[],
  call: ExecCall,
): Promise<boolean> {
  const { report, unmet } = run;
  const { flags, io } = call;
  const { format = "text", quiet } = flags;
  const failures = await writeTargets(targets, (one) => reportText(run, one, call), reportFlag, io);
  for (const failure of failures) io.sayFailure(failure);
  const isWritten = failures.length === 0;

  // A report that a file should have, and has not, must not be lost: it is printed also with --quiet.
  const isPrinted = !isWritten || (targets.length === 0 && !quiet);
  if (isPrinted && format === "json") {
    io.stderr.write(reportText(run, "json", call));
    return isWritten;
  }

  if (isPrinted) {
    io.stderr.write(`\n${reportText(run, format, call, io.stderr.style())}`);
  } else if (!quiet) {
    const files = targets.map(({ file }) => (file === "-" ? "stdout" : quoteFile(file)));
    io.stderr.say(`${conclusion(report)} The report is in ${listed(files, "and")}.\n`);
  }
  for (const line of linesBesideReport(run, isPrinted, call)) io.stderr.say(`${line}\n`);
  if (runsOnGithub(io)) io.stderr.write(githubAnnotations(report, unmet));
  return isWritten;
}

/** What people need to know besides the report. */
function linesBesideReport(run: ShownRun, isPrinted: boolean, call: ExecCall): string[] {
  const { report, unmet, folder } = run;
  const { quiet, format = "text" } = call.flags;
  const lines: string[] = [];
  // A report as text ends with the unmet thresholds.
  if (!isPrinted || format !== "text") {
    const { palette } = call.io.stderr.style();
    for (const { sentence } of unmet) lines.push(palette.red(sentence));
  }
  if (quiet) return lines;
  if (report.requests === 0 || folder.whyIncomplete !== undefined) lines.push(whyMissing(run, call));
  if (folder.whyNotRemoved !== undefined) lines.push(folder.whyNotRemoved);
  const { fault } = call.flags;
  // After `@` is the outcome of the requests that it may hit, as in `fault.hang@200.test`.
  const hasHit = report.outcomes.some(({ outcome, count }) => outcome === fault?.split("@")[0] && count > 0);
  if (fault !== undefined && report.requests > 0 && !hasHit) lines.push(`--fault ${fault} hit no request.`);
  return lines;
}

/** The report in a format. Without a style, it has no colors and no width, as in files. */
function reportText(run: ShownRun, format: ReportFormat, call: ExecCall, style: Partial<Style> = {}): string {
  const { args, clientCommand, io } = call;
  return renderReport(run.report, format, {
    failures: run.unmet.map(({ sentence }) => sentence),
    hint: `The command has sent no request. ${whyMissing(run, call)}`,
    certifyCommand: rerunCommand("certify", args, clientCommand, io.program),
    ...style,
  });
}

/** What may be the reason if requests are missing. */
function whyMissing({ folder }: ShownRun, { flags }: ExecCall): string {
  return folder.whyIncomplete ?? whyNoRequest(flags);
}

/** What the flags set for all sandboxes of the command, as in `certify`: its tests do not change it. */
function createConditions(
  { fault, profile }: { readonly fault?: string; readonly profile?: Profile },
  loaded: LoadedScenario,
): RunConditions {
  return {
    ...(profile !== undefined && { profile }),
    ...(fault !== undefined && { faults: readFaults(fault, loaded) }),
  };
}

/** The faults that `--fault` names, as in `fault.hang@401.revoked`. */
export function readFaults(text: string, { scenario }: LoadedScenario): Fault[] {
  const [name = "", outcome, more] = text.split("@");
  const invalid = `Invalid --fault: ${quote(text)}`;
  const examples = " Use one such as fault.hang or fault.hang@401.revoked.";
  if (more !== undefined) throw usageError(`${invalid} has more than one @.${examples}`);

  const fault = faultOutcomeIds.find((id) => id === name);
  if (fault === undefined) {
    // People leave out the start of the name.
    const hint = didYouMean(name, faultOutcomeIds) || didYouMean(`fault.${name}`, faultOutcomeIds);
    throw usageError(`${invalid} does not name a fault.${hint || examples}`);
  }

  // The fault comes in place of one outcome. Default: of each promised one.
  const promised = outcomesToCover(scenario);
  const outcomes = outcome === undefined ? promised : promised.filter((id) => id === outcome);
  if (outcomes.length === 0) {
    const hint = didYouMean(outcome ?? "", promised) || examples;
    throw usageError(`${invalid} does not name a promised outcome.${hint}`);
  }

  // A fault that breaks the body needs a response with a body, which each outcome but those of some endpoints has.
  const withoutBody = new Set<string>();
  for (const [operation, { status = 200, body }] of writtenEndpoints(scenario)) {
    if (body === undefined) withoutBody.add(`${status}.${operation}`);
  }
  const { breaksBody } = faultKindRow(fault);
  const possible = outcomes.filter((id) => !breaksBody || !withoutBody.has(id));
  if (possible.length === 0) throw usageError(`${invalid}: a response of ${outcome} has no body.`);
  return faultsOn(possible, fault);
}

/** Returns a fault of one kind for the first request that would end on each outcome. */
export function faultsOn(outcomes: readonly OutcomeId[], fault: FaultOutcomeId): Fault[] {
  const faults: Fault[] = [];
  for (const outcome of outcomes) {
    // A status comes with a gateway's page, or with JSON. A client meets both, so each is on about half of the outcomes, always the
    // same ones.
    const asPage = randomStream(0, "fault.page", outcome)() % 2 === 1;
    // What the client gets in place of the outcome.
    const then = exampleOfFault(fault, { asPage });
    const apiOutcome = outcome as ApiOutcomeId; // a fault is on no other outcome
    faults.push({ when: { outcome: apiOutcome, requests: [1] }, then });
  }
  return faults;
}
