import { expectedOutcomes } from "../../api/endpoints.js";
import { faultsOn } from "../../api/fault-responses.js";
import type { LoadedScenario } from "../../node/files/load-scenario.js";
import { startNamed } from "../../node/platform.js";
import { runAgainWith, shellWord } from "../../report/plain-text.js";
import { extensionWords, type ReportFormat } from "../../report/render/layout.js";
import { clientReport } from "../../report/report.js";
import {
  conclusion,
  githubAnnotations,
  renderReport,
  type UnmetThreshold,
  unmetThresholds,
} from "../../report/report-layout.js";
import type { Report } from "../../report/report-shape.js";
import type { Profile } from "../../rules/assumptions.js";
import { faultOutcomes } from "../../rules/outcomes.js";
import { redactKeys } from "../../rules/redact.js";
import { didYouMean, listed, quote } from "../../rules/schema/words.js";
import { conditionedRun } from "../../runs/conditioned-run.js";
import type { RunConditions } from "../../runs/conditions.js";
import { Counters } from "../../sandbox/journal/counts.js";
import { givenOptions } from "../../sandbox/start-sandbox.js";
import { whyNever } from "../../scenario/checks/fault-rules.js";
import { type CallOf, declareCommand } from "../command.js";
import { describeFailure, exitCode, usageError } from "../exit-codes.js";
import * as flag from "../flags.js";
import { runsOnGithub } from "../io.js";
import { loadNamed, warnOfDates } from "../open-scenario.js";
import { type ReportTarget, reportTargets, writeTargets } from "../report-files.js";
import { openRunFolder, type RunFolder } from "../serve/run-folder.js";
import { invocationOf, KeyFinder, runServed, sayWhyNotRun, whyNoRequest } from "../serve/run-served.js";

/** The conditions that the flags set; `undefined` if there are none. As in `certify`, the client's tests do not change them. */
function conditionsOf(
  flags: { readonly fault?: string; readonly profile?: Profile },
  loaded: LoadedScenario,
): RunConditions | undefined {
  const { fault, profile } = flags;
  if (fault === undefined && profile === undefined) return undefined;
  return {
    ...(profile !== undefined && { profile }),
    ...(fault !== undefined && { faults: faultOf(fault, loaded) }),
  };
}

function faultOf(text: string, { scenario }: LoadedScenario): NonNullable<RunConditions["faults"]> {
  const [name, outcome] = text.split("@");
  const fault = faultOutcomes.find((one) => one === name);
  const outcomes = expectedOutcomes(scenario);
  const some = outcome === undefined ? outcomes : outcomes.filter((id) => id === outcome);
  if (fault !== undefined && some.length > 0) {
    const faults = faultsOn(some, fault);
    // Other sandboxes of the command may have any key.
    const keys = { at: () => undefined, legacyOwners: { size: 1, has: () => true } };
    const whys = faults.map((one) => whyNever(one, { scenario, keys }));
    const possible = faults.filter((_, index) => whys[index] === undefined);
    if (possible.length > 0) return possible;
    const { message = "", hint = "" } = whys[0] ?? {};
    throw usageError(`Invalid --fault: ${quote(text)}: ${message}; ${hint}.`);
  }
  const what = fault === undefined ? "a fault" : "a promised outcome";
  const hint = didYouMean(
    (fault === undefined ? name : outcome) ?? "",
    fault === undefined ? faultOutcomes : outcomes,
  );
  throw usageError(
    `Invalid --fault: ${quote(text)} does not name ${what}.${hint || " Use one such as fault.hang or fault.hang@401.revoked."}`,
  );
}

const flags = {
  report: flag.option(
    "--report <file>",
    `write the report to this file and not to stderr, in the format of its extension: ${extensionWords()}; - is stdout; repeatable`,
    (text, from) => [flag.fileName(text, from)],
  ),
  format: flag.format,
  fault: flag.option(
    "--fault <fault>[@<outcome>]",
    "give a fault to the first request on a promised outcome, such as fault.hang@401.revoked, or on each promised outcome, such as fault.hang",
    (text) => text,
  ),
  ...flag.thresholds,
  // `PORT` is for the command, which may listen on it.
  port: flag.option(
    "-p, --port <number>",
    "the port to listen on (default: 0, any free port)",
    flag.readPort,
  ),
  ...flag.ofServer,
  ...flag.ofSandbox,
  log: flag.log("off"),
  quiet: flag.quiet("no report, no notes and no request log"),
};

type ExecCall = CallOf<typeof flags>;

export const execCommand = declareCommand({
  summary: "run a command against a sandbox, and report which error outcomes its client covers",
  description:
    "Serves a scenario on a free port, runs the command with SVC_BASE_URL, SVC_API_KEY, SVC_KEY_<REF> and SVC_CONTROL_URL in its environment, stops, and prints on stderr which responses its client has covered (not with --quiet). Sandboxes in processes of the command count as well: those with msw handlers, and those of svc-sandbox start. stdin and stdout belong to the command, so there is no --json: use --report with a file. Exits with the command's code. If that is 0, it exits with 4 if no request reached an endpoint (allow it with --min-coverage 0), and with 5 if --min-coverage or --fail-on is not reached. The command runs without a shell: write sh -c '…' to use one.",
  words: flag.scenarioWord,
  rest: "<command...>",
  flags,
  usualFlags: ["report", "format", "fault", "minCoverage", "failOn", "port"],
  examples: {
    "svc-sandbox exec -- npm test": "any command that reads SVC_BASE_URL",
    "svc-sandbox exec bad-day -- python3 -m pytest": "in another scenario",
    "svc-sandbox exec --min-coverage 80 --fail-on warning -- npm test": "with thresholds",
    "svc-sandbox exec --fault fault.hang@401.revoked -- npm test": "with one fault",
    "svc-sandbox exec --report errors.md --report errors.xml -- npm test": "for CI: Markdown and JUnit",
  },
  async run(call) {
    const { words, rest, flags, io } = call;
    const targets = reportTargets(flags.report, execReportFiles, io, flags.format);
    const loaded = await loadNamed(words[0], io);
    const conditions = conditionsOf(flags, loaded);
    const folder = await openRunFolder({ scenario: loaded, options: givenOptions(flags), conditions });
    const sandbox = startNamed(loaded, flags, conditions && conditionedRun(conditions, folder.claim));
    // A test may clear the requests to count its own; the report covers all tests.
    const counters = new Counters();
    const triedPaths = new Set<string>();
    sandbox.counters.passOnTo({
      countUnread: (id) => counters.countUnread(id),
      count(exchange, keys) {
        counters.count(exchange, keys);
        if (triedPaths.size < maxTried) triedPaths.add(`${exchange.method} ${exchange.path}`);
      },
    });
    let releaseSignals = () => {};
    warnOfDates(sandbox, { note: (text) => void (flags.quiet || io.stderr.say(`${text}\n`)) });
    try {
      const keyFinder = new KeyFinder(sandbox);
      const end = await runServed(call, sandbox, {
        folder,
        takeSignals(listener) {
          releaseSignals = io.takeSignals(listener);
        },
        onOutput: (name, chunk) => keyFinder.add(name, chunk),
      });
      if ("failure" in end) {
        return sayWhyNotRun(rest[0] as string, end.failure, call);
      }
      sandbox.invocation = invocationOf(call, [io.program, "certify", ...words.map(shellWord)].join(" "));
      const report = clientReport(sandbox, { underExec: true, keysInOutput: keyFinder.places() }, counters);
      const needsRequests = end.code === exitCode.fine && flags.minCoverage !== 0;
      const unmet = unmetThresholds(report, { ...flags, needsRequests, tried: [...triedPaths] });
      const isWritten = await deliverReport(report, unmet, targets, call, folder);
      const code = end.code || exitCodeFor(unmet);
      return code || (isWritten ? exitCode.fine : exitCode.usage);
    } finally {
      // Only now: a signal must not interrupt the writing of the report.
      releaseSignals();
      io.endSoon();
    }
  },
});

/** How many different requests the message shows if none reached an endpoint. */
const maxTried = 5;

function exitCodeFor(unmet: readonly UnmetThreshold[]): number {
  if (unmet.length === 0) return exitCode.fine;
  return unmet.some(({ gate }) => gate === "requests") ? exitCode.noRequest : exitCode.threshold;
}

const execReportFiles = { name: "--report", what: "the report" };

/** Resolves to whether every file could be written; if not, the report is on stderr. */
async function deliverReport(
  report: Report,
  unmet: readonly UnmetThreshold[],
  targets: readonly ReportTarget[],
  { words, rest, flags, io }: ExecCall,
  folder: RunFolder,
): Promise<boolean> {
  const { quiet = false, format = "text" } = flags;
  const style = io.stderr.style();
  const print = (text: string) => io.stderr.write(redactKeys(text));
  const say = (text: string) => io.stderr.say(redactKeys(text));
  const uncounted = folder.uncounted().join(" ");
  const why = uncounted || whyNoRequest(io, flags);
  const next = runAgainWith("certify", words, rest, io.program);
  const hint = `The command has sent no request. ${why}`;
  const how = { failures: unmet, hint, next };
  const inFormat = (as: ReportFormat) => renderReport(report, as, how);
  const failures = await writeTargets(targets, inFormat, execReportFiles, io);
  const isInFull = failures.length > 0 || (targets.length === 0 && !quiet);
  const end = () => {
    for (const failure of failures) say(describeFailure(failure, flags));
    return failures.length === 0;
  };
  // Programs read it to its end.
  if (isInFull && format === "json") {
    print(inFormat(format));
    return end();
  }
  if (isInFull) {
    print(`\n${renderReport(report, format, { ...how, ...style })}`);
  } else if (!quiet) {
    const files = targets.map(({ file }) => (file === "-" ? "stdout" : JSON.stringify(file)));
    say(`${conclusion(report)} The report is in ${listed(files, "and")}.\n`);
  }
  // Only the text for people already ends with these sentences.
  if (!isInFull || format !== "text")
    for (const { sentence } of unmet) say(`${style.palette.red(sentence)}\n`);
  if ((report.requests === 0 || uncounted) && !quiet) say(`${why}\n`);
  const left = folder.leftBehind();
  if (left !== undefined && !quiet) say(`${left}\n`);
  if (runsOnGithub(io)) print(githubAnnotations(report, unmet));
  return end();
}
