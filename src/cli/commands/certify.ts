import { availableParallelism, constants } from "node:os";
import { apiVersion } from "../../api/openapi.js";
import { assumptionsKeptFromVarying } from "../../api/variation/vary.js";
import { type CertifyResult, certifyResultOf } from "../../certify/certificate/certificate.js";
import { certificateLayout, certificateText } from "../../certify/certificate/certificate-formats.js";
import { certify } from "../../certify/certify.js";
import { type CertifyPlan, findUnknownOnly } from "../../certify/checks/plan.js";
import { version } from "../../node/package-files.js";
import { nodePlatform } from "../../node/platform.js";
import { commandLine } from "../../report/curl-line.js";
import { pluralize } from "../../report/plain-text.js";
import type { ReportFormat } from "../../report/render/layout.js";
import { render } from "../../report/render/render.js";
import { outcomesToCover } from "../../report/report.js";
import type { SandboxError } from "../../rules/errors.js";
import { defaultSeed } from "../../rules/seed.js";
import { isoTime } from "../../rules/time.js";
import { defaultKeyRef } from "../../sandbox/secrets.js";
import type { LoadedScenario } from "../../scenario/scenario-source.js";
import { canonicalJson } from "../../schema/json-text.js";
import { didYouMean, quote } from "../../schema/words.js";
import { ClientStarter } from "../client-starter.js";
import { type CommandCall, declareCommand } from "../command.js";
import { exitCode, usageError } from "../exit-codes.js";
import * as flag from "../flags.js";
import { extensionWords, type ReportTarget, reportTargets, writeTargets } from "../output-files.js";
import { sayWhyNotRun, whyNoRequest } from "../run-client.js";
import { loadScenarioArgument } from "../scenario.js";
import * as shared from "../shared-flags.js";

const certificateFormats = ["json", "junit"] as const;

const { tls, cert, key } = shared.serverFlags;
const certifyFlags = {
  only: flag.option(
    "--only <name>",
    "make only these runs and the plain one: varied, answer, resend, fault, or one such as varied.3; repeatable",
    (text) => [text],
  ),
  faults: flag.toggle("--faults", "try every kind of fault (default: the four that break most clients)"),
  allow: flag.option(
    "--allow <name>",
    "accept what this check would name as a problem, such as resend.401 or fault.status, or a wrong response on an outcome, such as 200.retiring; repeatable",
    (text) => [text],
  ),
  report: flag.option(
    "--report <file>",
    `write the certificate to this file, in the format of its extension: ${extensionWords(certificateFormats)}`,
    flag.readFileName,
  ),
  format: flag.option(
    "--format <format>",
    "text, json (the certificate) or junit (default: text)",
    flag.oneOf(["text", "json", "junit"]),
  ),
  seed: flag.option(
    "--seed <number>",
    "the first of the eight seeds of varied responses (default: 1)",
    flag.readSeed,
  ),
  jobs: flag.option(
    "-j, --jobs <number>",
    "number of parallel runs (default: the number of processors)",
    flag.wholeNumber(1, 1000),
  ),
  timeout: flag.option(
    "--timeout <duration>",
    "end a run that takes longer: 30s, 5m (default: 1m for the first; then five times its duration, at least 30s)",
    flag.durationLike("30s or 5m"),
  ),
  now: shared.sandboxFlags.now,
  tls,
  cert,
  key,
  quiet: shared.quiet("only the certificate"),
};
type CertifyCall = CommandCall<flag.FlagValues<typeof certifyFlags>>;

/** The flag that names the file of the certificate, and what it contains. */
const certificateFile = { name: "--report", contents: "the certificate", formats: certificateFormats };

/** The exit codes of verdicts. */
const verdictCodes: Readonly<Record<CertifyResult["verdict"], number>> = {
  passed: exitCode.fine,
  failed: exitCode.failed,
  not_judged: exitCode.threshold,
  no_request: exitCode.noRequest,
  // This code is never used: a signal has its own, which comes first.
  stopped: exitCode.defect,
};

export const certifyCommand = declareCommand({
  summary: "run a client many times, each time against another kind of service, and show what breaks it",
  description:
    "Runs the command like exec, each time against a fresh sandbox, in parallel: once plain, which must pass and cover five outcomes; eight times with varied responses, which show every variant, and once with all of them mixed; once or twice with a wrong response for each covered outcome, which the command must notice; with rejections of a key that works, to find out whether the client sends it again; and with four faults. It shows every problem with the command that shows it again, and what held. It lists as not judged the checks that the runs cannot decide. Exits with 0 if the client passed, with 1 if it has a problem, with 4 if no request reached an endpoint, and with 5 if it cannot be judged.",
  args: shared.scenarioArgument,
  takesClientCommand: true,
  flags: certifyFlags,
  examples: {
    "svc-sandbox certify -- npm test": "a test suite that reads SVC_BASE_URL",
    "svc-sandbox certify --faults -- python3 -m pytest": "with every fault",
    "svc-sandbox certify --only resend -- npm test": "only whether it sends a rejected key again",
    "svc-sandbox certify --report client.json -- npm test": "with a certificate",
  },
  async run(call) {
    const { args, clientCommand, flags, io } = call;
    const targets = reportTargets(flags.report === undefined ? [] : [flags.report], certificateFile, io);
    const loaded = await loadScenarioArgument(args[0], io);
    const plan = planOf(loaded, call);

    const { now, jobs = availableParallelism() } = flags;
    // Each run of the plan has its own seed.
    const client = new ClientStarter({ loaded, call, startOptions: { now } }, jobs);
    try {
      const { stopwatch, time } = nodePlatform;
      const started = stopwatch();
      const startedAt = isoTime(time());
      const say = (text: string) => {
        if (!flags.quiet) io.stderr.write(`${text}\n`);
      };

      say(`Running ${commandLine(clientCommand)}, up to ${pluralize(jobs, "run")} in parallel`);
      const certification = await certify(plan, {
        run: (request) => client.runInTurn(request),
        jobs,
        say,
      });
      if (certification.kind === "not_started") {
        return sayWhyNotRun(clientCommand[0] as string, certification.failure, io);
      }

      // After a signal, the certificate has the runs that ended before it.
      const stopCode = client.stopped && 128 + constants.signals[client.stopped];
      if (certification.kind === "no_run") {
        io.stderr.say("Stopped before the first run ended: there is no result.\n");
        return stopCode ?? exitCode.defect;
      }

      // What the runs have shown becomes the certificate.
      const durationMs = Math.round(stopwatch() - started);
      const about = { ...aboutClient(loaded, call), startedAt, durationMs };
      const result = certifyResultOf(certification, plan, about);

      // The output of a plain run that passed shows nothing of the reason.
      const { plain } = certification;
      const output = plain.result === "passed" ? [] : plain.output;
      const isWritten = await deliverCertificate(result, output, targets, call);
      const code = stopCode ?? verdictCodes[result.verdict];
      // The code of the verdict comes first.
      return code === exitCode.fine && !isWritten ? exitCode.usage : code;
    } finally {
      // Signals were taken until now, because none must interrupt the writing of the certificate.
      client.release();
      io.endSoon();
    }
  },
});

/** What a certificate states about the client and the sandbox. */
function aboutClient({ scenario, name }: LoadedScenario, { clientCommand }: CertifyCall) {
  return {
    scenario: name,
    scenarioDigest: nodePlatform.sha256(canonicalJson(scenario)),
    specification: apiVersion,
    sandbox: version,
    command: clientCommand,
  };
}

/** What the runs of the client are; throws a usage error for a wrong `--only` or `--allow`. */
function planOf({ scenario }: LoadedScenario, { flags }: CertifyCall): CertifyPlan {
  const { only, allow = [], timeout } = flags;
  const outcomes = outcomesToCover(scenario);
  const found = findUnknownOnly(only ?? [], outcomes);
  if (found !== undefined) {
    const examples = "varied.3, answer.401.revoked, resend.403 or fault.hang";
    throw unknownChoice("--only", found.unknown, found.names, examples);
  }
  for (const name of allow) {
    const isOutcome = outcomes.some((outcome) => outcome === name);
    const unknown = isOutcome ? undefined : findUnknownOnly([name], outcomes);
    if (unknown !== undefined) {
      const names = [...unknown.names, ...outcomes];
      throw unknownChoice("--allow", name, names, "resend.401, fault.status or 200.retiring");
    }
  }

  // The flags with which `certify` repeats a run, besides those of `exec`.
  const repeatingFlags = allow.flatMap((name) => ["--allow", name]);
  if (timeout !== undefined) repeatingFlags.push("--timeout", `${timeout}ms`);
  const { assumptions: ownAssumptions = {} } = scenario;
  return {
    // The seed of the plain sandbox, and the first one of those with varied responses.
    seed: scenario.seed ?? defaultSeed,
    firstSeed: flags.seed ?? defaultSeed,
    ownAssumptions: assumptionsKeptFromVarying({ profileInEffect: "varied", ownAssumptions }),
    defaultKey: defaultKeyRef(scenario),
    allow,
    only,
    timeout,
    hasAllFaults: flags.faults === true,
    profile: ownAssumptions.profile,
    flags: flagsForExec(flags),
    certifyFlags: repeatingFlags,
  };
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
function flagsForExec({ now, tls, cert, key }: CertifyCall["flags"]): string[] {
  const words: string[] = [];
  if (now !== undefined) words.push("--now", new Date(now).toISOString());
  if (tls) words.push("--tls");
  if (cert !== undefined && key !== undefined) words.push("--cert", cert, "--key", key);
  return words;
}

/** Writes the certificate into the file of `--report`, and prints it. Resolves to whether the file could be written. */
async function deliverCertificate(
  result: CertifyResult,
  plainOutput: readonly string[],
  targets: readonly ReportTarget[],
  call: CertifyCall,
): Promise<boolean> {
  const { args, flags, io } = call;
  const { format = "text" } = flags;
  const program = { program: io.program, scenario: args[0] };
  const textIn = (format: ReportFormat) => render(certificateLayout(result, program), format);
  const failures = await writeTargets(targets, textIn, certificateFile, io);
  for (const failure of failures) io.sayFailure(failure);
  // For programs, there is nothing but the certificate.
  if (format !== "text") io.stdout.write(textIn(format));
  else io.stdout.say(resultText(result, plainOutput, call));
  return failures.length === 0;
}

/** How many lines of its output are shown of a command that cannot be judged. */
const maxOutputLines = 20;

/** The result as text; of a command that could not be judged, with the end of its output. */
function resultText(
  result: CertifyResult,
  plainOutput: readonly string[],
  { args, flags, io }: CertifyCall,
): string {
  const { palette, width } = io.stdout.style();
  const program = { program: io.program, scenario: args[0] };
  const text = certificateText(result, program, palette.red, width);
  if (result.verdict === "no_request") return `${text}${whyNoRequest(flags)}\n`;

  // Its output may say why the client could not be judged at all.
  const isJudged = result.verdict !== "not_judged" || result.why === undefined || result.problems.length > 0;
  if (isJudged || plainOutput.every((line) => line.trim() === "")) return text;
  const lines = plainOutput.slice(-maxOutputLines).map((line) => `  ${line}\n`);
  return `${text}Its last output:\n${lines.join("")}`;
}
