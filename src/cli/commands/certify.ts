import { availableParallelism, constants } from "node:os";
import { expectedOutcomes } from "../../api/endpoints.js";
import { apiVersion } from "../../api/openapi.js";
import { ownVariedNames } from "../../api/variation/own-assumptions.js";
import {
  type CertifyResult,
  certificateLayout,
  certifyResultOf,
  resultWords,
} from "../../certify/certificate.js";
import { certificateText } from "../../certify/certificate-text.js";
import { certify } from "../../certify/certify.js";
import type { ClientRun, ClientRunner } from "../../certify/client-run.js";
import type { Note } from "../../certify/judgment.js";
import { type CertifyPlan, groupNames, isWanted, mixedName, seedIn, seedsOf } from "../../certify/plan.js";
import { resendKinds } from "../../certify/resend-kinds.js";
import type { LoadedScenario } from "../../node/files/load-scenario.js";
import { version } from "../../node/package-files.js";
import { nodePlatform } from "../../node/platform.js";
import { commandLine, pluralize } from "../../report/plain-text.js";
import { extensionWords, type ReportFormat } from "../../report/render/layout.js";
import { render } from "../../report/render/render.js";
import { faultOutcomes } from "../../rules/outcomes.js";
import { redactKeys } from "../../rules/redact.js";
import { canonicalJson } from "../../rules/schema/json.js";
import { didYouMean, quote } from "../../rules/schema/words.js";
import { defaultSeed } from "../../rules/seed.js";
import { escapeControls } from "../../rules/terminal-text.js";
import { isoOf } from "../../rules/time.js";
import { isAnsweredWrongly } from "../../runs/conditions.js";
import { defaultKeyRef } from "../../sandbox/secrets.js";
import { type CallOf, declareCommand } from "../command.js";
import { describeFailure, exitCode, usageError } from "../exit-codes.js";
import * as flag from "../flags.js";
import { loadNamed } from "../open-scenario.js";
import { reportTargets, writeTargets } from "../report-files.js";
import { sayWhyNotRun, whyNoRequest } from "../serve/run-client.js";
import { ClientStarter } from "./certify-runs.js";
import { untouchedTests } from "./init.js";

const certificateFormats: readonly ReportFormat[] = ["json", "junit"];

const { tls, cert, key } = flag.ofServer;
const flags = {
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
    `write the certificate to this file, in the format of its extension: ${extensionWords(certificateFormats)}`,
    flag.fileName,
  ),
  format: flag.plainOption(
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
    "end a run that takes longer: 30s, 5m (default: 1m for the first; for others five times its duration, at least 30s, and the time that the client may wait)",
    flag.readDuration("30s or 5m"),
  ),
  now: flag.ofSandbox.now,
  frozen: flag.ofSandbox.frozen,
  tls,
  cert,
  key,
  quiet: flag.quiet("only the certificate"),
};
type CertifyCall = CallOf<typeof flags>;

const reportFile = { name: "--report", what: "the certificate", formats: certificateFormats };

export const certifyCommand = declareCommand({
  summary: "run a client many times, each time against another kind of service, and show what breaks it",
  description:
    "Runs the command like exec, each time against a fresh sandbox, in parallel: once plain, which must pass and cover five outcomes; eight times with varied responses, which show every variant, and once with all of them mixed; once or twice with a wrong response for each covered outcome, which the command must notice; with rejections of a key that works, to find out whether the client sends it again; and with four faults. It shows every problem with the command that shows it again, and what held. It lists as not judged the checks that the runs cannot decide. Exits with 0 if the client passed, with 1 if it has a problem, with 4 if no request reached an endpoint, and with 5 if it cannot be judged.",
  words: flag.scenarioWord,
  rest: "<command...>",
  flags,
  usualFlags: ["only", "faults", "allow", "report", "format", "jobs", "timeout"],
  examples: {
    "svc-sandbox certify -- npm test": "a test suite that reads SVC_BASE_URL",
    "svc-sandbox certify --faults -- python3 -m pytest": "with every fault",
    "svc-sandbox certify --only resend -- npm test": "only whether it sends a rejected key again",
    "svc-sandbox certify --report client.json -- npm test": "with a certificate",
  },
  async run(call) {
    const { words, rest, flags, io } = call;
    const targets = reportTargets(flags.report === undefined ? [] : [flags.report], reportFile, io);
    const loaded = await loadNamed(words[0], io);
    const plan = planOf(loaded, flags);
    const { now, frozen, jobs = availableParallelism(), ...served } = flags;
    const client = new ClientStarter(
      { loaded, call: { io, rest, flags: served }, given: { now, frozen } },
      jobs,
    );
    try {
      const { stopwatch, time } = nodePlatform;
      const [started, startedAt] = [stopwatch(), isoOf(time())];
      const say = (text: string) => void (flags.quiet || io.stderr.write(redactKeys(`${text}\n`)));
      say(`Running ${commandLine(rest)}, up to ${pluralize(jobs, "run")} in parallel`);
      const onEnd: ClientRunner["onEnd"] = (run) => {
        const line = progressLine(run, plan);
        if (line !== undefined) say(line);
      };
      const separate = (name: string) => {
        client.separate();
        say(`${name} failed next to another run, and passed alone. All runs are made again, one at a time.`);
      };
      const certification = await certify(plan, {
        run: (request) => client.runInTurn(request),
        onEnd,
        separate,
      });
      const { plain } = certification;
      if (plain?.failure !== undefined) return sayWhyNotRun(rest[0] as string, plain.failure, call);
      const durationMs = Math.round(stopwatch() - started);
      const about = { ...(await aboutClient(loaded, call, plan)), startedAt, durationMs };
      const notes = [...certification.notes, ...(await notesOnTests(io.cwd))];
      const result = certifyResultOf({ ...certification, notes }, about);
      const stopped = client.stopped;
      const cutShort = stopped && 128 + constants.signals[stopped];
      if (result === undefined) {
        io.stderr.say("Stopped before the first run ended: there is no result.\n");
        return cutShort ?? exitCode.defect;
      }
      const program = { program: io.program, scenario: words[0] };
      const textIn = (format: ReportFormat) => render(certificateLayout(result, program), format);
      const failures = await writeTargets(targets, textIn, reportFile, io);
      for (const failure of failures) io.stderr.say(describeFailure(failure, flags));
      // A plain run that passed shows nothing of the reason.
      const output = plain === undefined || plain.result === "passed" ? [] : plain.output;
      io.stdout.write(redactKeys(resultText(result, output, call)));
      return cutShort ?? codes[result.verdict];
    } finally {
      client.release();
      io.endSoon();
    }
  },
});

/** The line of a run that has ended; `undefined` if it could not start. The first one shows what the command sends. */
function progressLine(run: ClientRun, { allow }: CertifyPlan): string | undefined {
  const { name, report, failure, number } = run;
  if (failure !== undefined) return undefined;
  if (number === 1) return `${name}  ${pluralize(report.requests, "request")}`;
  const [verdict, word] = allow.includes(name.replace(/^answer\./, ""))
    ? (["", run.result] as const)
    : whatHappened(run);
  return `${verdict.padEnd(7)}  ${resultWords[word].padEnd(9)}  ${name.padEnd(30)}  ${number}`;
}

/** Whether a run is good, or empty if only others can show that, as in a search; and what happened. */
function whatHappened({ result, conditions }: ClientRun): ["ok" | "problem" | "", keyof typeof resultWords] {
  if (conditions.rows !== undefined) return ["", result];
  if (!isAnsweredWrongly(conditions)) return [result === "passed" ? "ok" : "problem", result];
  if (result === "failed") return ["ok", "noticed"];
  const { which, gets } = conditions.onRequest ?? {};
  if (gets?.kind !== "wrong_answer" || result === "timed_out") return ["", result];
  return [which?.kind === "first" ? "" : "problem", "unnoticed"];
}

const codes: Readonly<Record<CertifyResult["verdict"], number>> = {
  passed: exitCode.fine,
  failed: exitCode.failed,
  not_judged: exitCode.threshold,
  no_request: exitCode.noRequest,
  // The code of its signal comes first.
  stopped: exitCode.defect,
};

/** Of a command that cannot be judged. */
const maxOutputLines = 20;

function resultText(
  result: CertifyResult,
  plainOutput: readonly string[],
  { words, flags, io }: CertifyCall,
): string {
  const { format = "text" } = flags;
  const program = { program: io.program, scenario: words[0] };
  if (format !== "text") return render(certificateLayout(result, program), format);
  const { palette, wrap = (text: string) => text } = io.stdout.style();
  const text = wrap(certificateText(result, program, palette?.red));
  if (result.verdict === "no_request") return `${text}${wrap(whyNoRequest(io, flags))}\n`;
  const isBroken =
    result.verdict === "not_judged" && result.problems.length === 0 && result.why !== undefined;
  if (!isBroken || plainOutput.every((line) => line.trim() === "")) return text;
  const lines = plainOutput.slice(-maxOutputLines).map((line) => `  ${escapeControls(line)}\n`);
  return `${text}Its last output:\n${lines.join("")}`;
}

function planOf(
  loaded: LoadedScenario,
  { only, faults, allow = [], seed = defaultSeed, timeout, ...flags }: CertifyCall["flags"],
): CertifyPlan {
  const { scenario } = loaded;
  const outcomes = expectedOutcomes(scenario);
  const names = [
    ...groupNames,
    mixedName,
    ...outcomes.map((outcome) => `answer.${outcome}`),
    ...resendKinds(outcomes).map(({ name }) => name),
    ...faultOutcomes,
  ];
  const isRun = (start: string) => names.some((name) => isWanted({ only: [start] }, name));
  const wrong = only?.filter((name) => seedIn(name) === undefined && !isRun(name));
  checkChoice("--only", wrong, names, "varied.3, answer.401.revoked, resend.403 or fault.hang");
  checkChoice("--allow", allow, [...outcomes, ...faultOutcomes], "200.retiring or fault.status");
  return {
    seed: scenario.seed ?? defaultSeed,
    firstSeed: seed,
    ownAssumptions: ownVariedNames({
      profile: "varied",
      run: undefined,
      ownAssumptions: scenario.assumptions ?? {},
    }),
    defaultKey: defaultKeyRef(scenario),
    allow,
    only,
    timeout,
    hasAllFaults: faults === true,
    flags: flagsOfRun(flags),
    ownFlags: [
      ...allow.flatMap((outcome) => ["--allow", outcome]),
      ...(timeout === undefined ? [] : ["--timeout", `${timeout}ms`]),
    ],
  };
}

/** The flags of the call that a run of `exec` needs to be the same. */
function flagsOfRun({ now, frozen, tls, cert, key }: CertifyCall["flags"]): string[] {
  return [
    ...(now === undefined ? [] : ["--now", new Date(now).toISOString()]),
    ...(frozen ? ["--frozen"] : []),
    ...(tls ? ["--tls"] : []),
    ...(cert === undefined || key === undefined ? [] : ["--cert", cert, "--key", key]),
  ];
}

function checkChoice(
  flagName: string,
  given: readonly string[] = [],
  names: readonly string[],
  some: string,
): void {
  const text = given.find((name) => !names.includes(name));
  if (text === undefined) return;
  throw usageError(
    `Invalid ${flagName}: there is no ${quote(text)}.${didYouMean(text, names) || ` Give one such as ${some}.`}`,
  );
}

/** What limits a certificate, if the tests call no client of the user's. */
async function notesOnTests(cwd: string): Promise<Note[]> {
  const files = await untouchedTests(cwd);
  if (files.length === 0) return [];
  const why = `the tests are those that init wrote (${files.join(", ")})`;
  return [{ what: "your client", why, whatToDo: "Call your client in them." }];
}

/** What a certificate states about the client and the sandbox. */
function aboutClient({ scenario, name }: LoadedScenario, { rest }: CertifyCall, plan: CertifyPlan) {
  return {
    scenario: name,
    assumptions: plan.ownAssumptions ?? [],
    scenarioDigest: nodePlatform.sha256(canonicalJson(scenario)),
    specification: apiVersion,
    sandbox: version,
    command: rest,
    ...(plan.only && { only: plan.only }),
    seeds: seedsOf(plan),
    allow: plan.allow,
  };
}
