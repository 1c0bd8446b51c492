import { availableParallelism, constants } from "node:os";
import { apiVersion } from "../../api/openapi.js";
import { type CertifyResult, certifyResultOf } from "../../certify/certificate/certificate.js";
import { certify } from "../../certify/certify.js";
import { version } from "../../node/package-files.js";
import { nodePlatform } from "../../node/platform.js";
import { pluralize } from "../../report/plain-text.js";
import { commandLine } from "../../report/shell-words.js";
import { redactPlainKeys } from "../../rules/redact.js";
import { isoTime } from "../../rules/time.js";
import type { LoadedScenario } from "../../scenario/scenario-source.js";
import { canonicalJson } from "../../schema/json-text.js";
import { certificateFile, deliverCertificate } from "../certify/deliver-certificate.js";
import { planOf } from "../certify/plan-of-flags.js";
import { type CommandCall, declareCommand } from "../command.js";
import { exitCode } from "../exit-codes.js";
import * as flag from "../flags/flag.js";
import { durationLike, oneOf, readFileName, readSeed, wholeNumber } from "../flags/readers.js";
import * as shared from "../flags/shared-flags.js";
import { untouchedTests } from "../init/client-tests.js";
import { extensionWords, reportTargets } from "../report/report-files.js";
import { ClientStarter } from "../run/client-starter.js";
import { sayWhyNotRun } from "../run/why-no-run.js";
import { loadScenarioArgument } from "../scenario/open-scenario.js";

const { tls, cert, key } = shared.serverFlags;
const certifyFlags = {
  only: flag.option(
    "--only <name>",
    "make only these runs besides the plain one: varied, answer, resend, fault, or one of them such as varied.3, answer.401.revoked, resend.403 or fault.hang; repeatable",
    (text) => [text],
  ),
  faults: flag.toggle("--faults", "try every kind of fault (default: the four that break most clients)"),
  allow: flag.option(
    "--allow <outcome>",
    "accept that the command passes with the wrong answer on this outcome, such as 200.retiring, or that it fails at this fault, such as fault.status; repeatable",
    (text) => [text],
  ),
  report: flag.option(
    "--report <file>",
    `write the certificate to this file, in the format of its extension: ${extensionWords(certificateFile.formats)}`,
    readFileName,
  ),
  format: flag.cliOnlyOption(
    "--format <format>",
    "text, json (the certificate) or junit (default: text)",
    oneOf(["text", "json", "junit"]),
  ),
  seed: flag.option(
    "--seed <number>",
    "the first of the eight seeds of varied responses (default: 1)",
    readSeed,
  ),
  jobs: flag.option(
    "-j, --jobs <number>",
    "number of parallel runs (default: the number of processors)",
    wholeNumber(1, 1000),
  ),
  timeout: flag.option(
    "--timeout <duration>",
    "end a run that takes longer: 30s, 5m (default: 1m for the first; for others five times its duration, at least 30s, and the time that the client may wait)",
    durationLike("30s or 5m"),
  ),
  now: shared.sandboxFlags.now,
  frozen: shared.sandboxFlags.frozen,
  tls,
  cert,
  key,
  quiet: shared.quiet("only the certificate"),
};
type CertifyCall = CommandCall<flag.FlagValues<typeof certifyFlags>>;

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
  usualFlags: ["only", "faults", "allow", "report", "format", "jobs", "timeout"],
  examples: {
    "svc-sandbox certify -- npm test": "a test suite that reads SVC_BASE_URL",
    "svc-sandbox certify --faults -- python3 -m pytest": "with every fault",
    "svc-sandbox certify --only resend -- npm test": "only whether it sends a rejected key again",
    "svc-sandbox certify --report client.json -- npm test": "with a certificate",
  },
  async run(call) {
    const { args, clientCommand, flags, io } = call;
    const nameOf = (flagName: string) => nameOfSource(flagName, call.fullArgv);
    const file = { ...certificateFile, name: nameOf(certificateFile.name) };
    const targets = reportTargets(flags.report === undefined ? [] : [flags.report], file, io);
    const loaded = await loadScenarioArgument(args[0], io);
    const plan = planOf(loaded, flags, nameOf);

    const { now, frozen, jobs = availableParallelism() } = flags;
    // Each run of the plan has its own seed.
    const client = new ClientStarter({ loaded, call, startOptions: { now, frozen } }, jobs);
    try {
      const { stopwatch, time } = nodePlatform;
      const started = stopwatch();
      const startedAt = isoTime(time());
      const say = (text: string) => {
        if (!flags.quiet) io.stderr.write(redactPlainKeys(`${text}\n`));
      };

      say(`Running ${commandLine(clientCommand)}, up to ${pluralize(jobs, "run")} in parallel`);
      const certification = await certify(plan, {
        run: (request) => client.runInTurn(request),
        separateRuns: () => client.runOneAtATime(),
        say,
      });
      if (certification.kind === "not_started") {
        return sayWhyNotRun(clientCommand[0] as string, certification.failure, call);
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
      const notes = [...certification.notes, ...(await notesOnTests(io.cwd))];
      const result = certifyResultOf({ ...certification, notes }, plan, about);

      // The output of a plain run that passed shows nothing of the reason.
      const { plain } = certification;
      const output = plain.result === "passed" ? [] : plain.output;
      await deliverCertificate(result, output, targets, call);
      return stopCode ?? verdictCodes[result.verdict];
    } finally {
      // Signals were taken until now, because none must interrupt the writing of the certificate.
      client.release();
      io.endSoon();
    }
  },
});

/** What limits a certificate, if the tests call no client of the user's. */
async function notesOnTests(cwd: string) {
  const files = await untouchedTests(cwd);
  if (files.length === 0) return [];
  const why = `the tests are those that init wrote (${files.join(", ")})`;
  return [{ what: "your client", why, whatToDo: "Call your client in them." }];
}

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

/** The name of what has set a flag, for messages: the flag on the command line, or else its variable. */
function nameOfSource(flagName: string, fullArgv: readonly string[]): string {
  const end = fullArgv.indexOf("--");
  const words = end === -1 ? fullArgv : fullArgv.slice(0, end);
  const isOnLine = words.some((word) => word === flagName || word.startsWith(`${flagName}=`));
  return isOnLine ? flagName : `SVC_SANDBOX_${flagName.slice(2).toUpperCase()}`;
}
