import { brokenPromisesOf } from "../../api/promises.js";
import { endlessResend, endOf } from "../../certify/brief.js";
import { renderCertificate } from "../../certify/document.js";
import { type CertifyResult, promiseChoices } from "../../certify/result.js";
import type { LoadedScenario } from "../../node/files/load-scenario.js";
import { endpointsFor } from "../../node/platform.js";
import { extensionWords, type ReportFormat } from "../../report/render/document.js";
import { faultPathIds } from "../../rules/outcomes.js";
import { redactKeys } from "../../rules/redact.js";
import { didYouMean, quote } from "../../rules/schema/words.js";
import { defaultSeed } from "../../rules/seed.js";
import { certificateFiles, certifyClient } from "../certify/certify-client.js";
import { type CallOf, declareCommand } from "../command.js";
import { describeFailure, exitCode, usageError } from "../exit-codes.js";
import { reportTargets, writeTargets } from "../files.js";
import * as flag from "../flags.js";
import type { Io } from "../io.js";
import { loadNamed } from "../open-scenario.js";
import { whyNoRequest } from "../serve/exec-report.js";

/** Checks the names of `--only`, which depend on the endpoints of the scenario. */
function checkOnly(only: readonly string[] = [], { scenario }: LoadedScenario): void {
  const promises = brokenPromisesOf(endpointsFor(scenario)).map(({ id }) => id);
  const names = ["minimal", "typical", "retries", ...faultPathIds, ...promises];
  const text = only.find((one) => !names.includes(one) && seedIn(one) === undefined);
  if (text === undefined) return;
  const hint = didYouMean(text, names) || ' Give one such as "varied 7", fault.hang or 401.revoked:accepted.';
  throw usageError(`Invalid --only: there is no run ${quote(text)}.${hint}`);
}

const { host, control, tls, cert, key } = flag.ofServer;
const flags = {
  seeds: flag.option(
    "--seeds <number>",
    "how many seeds vary the responses (default: 20)",
    flag.wholeNumber(0, 10_000),
  ),
  seed: flag.option(
    "--seed <number>",
    "the first of these seeds; minimal, typical and the faults use the scenario's seed (default: 1)",
    flag.readSeed,
  ),
  faults: flag.toggle(
    "--faults",
    "run it once more for each kind of fault, on the first request of every path",
  ),
  promises: flag.option(
    "--promises <kinds>",
    "break each covered promise of the specification in a run, which the command must notice by failing: all, swaps (an accepted key is rejected, or the reverse) or none (default: swaps)",
    flag.oneOf(promiseChoices),
  ),
  only: flag.option(
    "--only <run>",
    "make only this run besides minimal: varied 7, fault.hang, typical, a promise such as 401.revoked:accepted, or retries (at most nine runs that show whether it retries); repeatable; without a certificate",
    (text) => [text],
    { conflicts: ["certificate"] },
  ),
  budget: flag.option(
    "--budget <duration>",
    "stop after this time, faults and promises before seeds; the verdict is passed only if every run was made",
    flag.readDuration("90s or 5m"),
  ),
  minNoticed: flag.option(
    "--min-noticed <percent>",
    "fail if the command notices less than this share of the broken promises, from 0 to 100 (default: it must notice each swap)",
    flag.wholeNumber(0, 100),
  ),
  minCoverage: flag.thresholds.minCoverage,
  failOn: flag.failOn("error"),
  jobs: flag.option(
    "-j, --jobs <number>",
    "number of parallel runs (default: the number of processors)",
    flag.wholeNumber(1, 1000),
  ),
  bail: flag.toggle("--bail", "start no further run after the first failure, and show its cause"),
  timeout: flag.option(
    "--timeout <duration>",
    "end a run that takes longer: 30s, 5m (default: 1m for the first; for others five times its duration, at least 30s; for a fault 30s and that duration without a request)",
    flag.readDuration("30s or 5m"),
  ),
  certificate: flag.option(
    "--certificate <file>",
    `write the certificate to this file, in the format of its extension: ${extensionWords}; repeatable`,
    (text, from) => [flag.fileName(text, from)],
  ),
  format: flag.plainOption("--format <format>", "text or json (default: text)", flag.oneOf(["text", "json"])),
  json: flag.json,
  now: flag.ofSandbox.now,
  openapi: flag.ofSandbox.openapi,
  frozen: flag.ofSandbox.frozen,
  host,
  control,
  tls,
  cert,
  key,
  quiet: flag.quiet,
};
type CertifyCall = CallOf<typeof flags>;

const codes: Readonly<Record<string, number>> = {
  no_request: exitCode.noRequest,
  threshold_missed: exitCode.threshold,
};

export const certifyCommand = declareCommand({
  summary:
    "run a client many times against everything that the specification leaves open, and show what breaks it",
  description:
    "Runs the command like exec, each time against a fresh sandbox, in parallel: once with the profile minimal, which must pass; once with typical; with varied and many seeds; with --faults, once for each fault; and once for each covered promise of the specification, broken on purpose, which the command must notice. For each failing run it finds the smallest cause, and prints the verdict. --certificate writes it to a file. It shows the command's output only for failing runs, with their causes. A pass means that every run sent what minimal sent, key by key and path by path, and that what it was for happened: responses differed, the fault hit, the promise was broken, the key was rejected. All else is listed as not tried, and why. A failure has a cause only if it comes again with the cause, and not without it; a run that failed next to another is made again alone. Exits with 0 if every run passed and every threshold was reached, with 5 if only a threshold was not, with 4 if no request reached an endpoint, otherwise with 1.",
  words: flag.scenarioWord,
  rest: "[command...]",
  flags,
  usual: [
    "seeds",
    "faults",
    "promises",
    "only",
    "budget",
    "certificate",
    "openapi",
    "minNoticed",
    "failOn",
    "format",
  ],
  examples: {
    "svc-sandbox certify -- npm test": "a test suite that reads SVC_BASE_URL",
    "svc-sandbox certify --faults --seeds 50 -- python3 -m pytest": "more of everything",
    "svc-sandbox certify --certificate client.md -- npm test": "with a certificate",
  },
  async run(call) {
    const { words, rest, flags, io } = call;
    const format = flags.json ? "json" : (flags.format ?? "text");
    const targets = reportTargets(flags.certificate, certificateFiles, io);
    needCommand(rest, io);
    const loaded = await loadNamed(words[0], io, flags);
    checkOnly(flags.only, loaded);
    const request = { loaded, command: rest, ...askedRuns(flags) };
    const { result, cutShort, outputOf, notes, release } = await certifyClient(request, call);
    try {
      if (result === undefined) return cutShort ?? exitCode.defect;
      const style = io.stdout.style();
      const hint = whyUnusable(result, notes.join(" "), call);
      const context = { outputOf, hint, program: io.program };
      io.stdout.write(redactKeys(renderCertificate(result, format, style, context)));
      const inFormat = (format: ReportFormat) => renderCertificate(result, format);
      const failures = await writeTargets(targets, inFormat, certificateFiles, io);
      for (const failure of failures) io.stderr.say(describeFailure(failure, flags));
      if (hint !== undefined) io.stderr.say(redactKeys(`${hint}\n`));
      if (cutShort !== undefined) return cutShort;
      const end = endOf(result);
      if (end !== "passed") return codes[end] ?? exitCode.failed;
      return failures.length === 0 ? exitCode.fine : exitCode.usage;
    } finally {
      release();
      io.endSoon();
    }
  },
});

function needCommand(rest: readonly string[], { program }: Io): void {
  if (rest.length > 0) return;
  throw usageError(`certify needs -- before your command: ${program} certify -- npm test`);
}

function askedRuns({
  only,
  seed = defaultSeed,
  seeds = 20,
  faults,
  promises = "swaps",
  ...gates
}: CertifyCall["flags"]) {
  const { failOn = "error", minCoverage = 0, minNoticed } = gates;
  const ofOnly = only?.flatMap((name) => seedIn(name) ?? []);
  return {
    seeds: ofOnly ?? Array.from({ length: seeds }, (_, i) => seed + i),
    faults: faultPathIds.filter((fault) => only?.includes(fault) ?? faults),
    kinds: promises,
    only,
    gates: { failOn, minCoverage, ...(minNoticed !== undefined && { minNoticed }) },
  };
}

// `notes` are about the sandboxes in processes of the command.
function whyUnusable(
  { runs: [baseline], report }: CertifyResult,
  notes: string,
  { flags, io }: CertifyCall,
): string | undefined {
  const { outcome = "not_run", requests = 0, cause } = baseline ?? {};
  if (outcome === "passed" && requests === 0)
    return `The command has sent no request. ${notes || whyNoRequest(io, flags)}`;
  if (outcome === "passed" || (notes !== "" && requests === 0)) return notes || undefined;
  const endless = endlessResend(report);
  if (outcome === "timed_out" && endless !== undefined)
    return `The first run (minimal) did not end in time, because the client ${endless}. Stop at the first rejection of a key.`;
  if (outcome === "timed_out") {
    return "The first run (minimal) did not end in time. Set a longer --timeout. A command that never ends, such as a watcher or a server, cannot be certified.";
  }
  if (outcome === "flaky") {
    return "The first run (minimal) failed, then passed when repeated. Find out what else the command depends on: time, order, other tests.";
  }
  const why = cause === undefined ? "" : ` It ${cause.sentence}. ${cause.whatToDo.join(" ")}`;
  return `The command fails in the first run (minimal), where the sandbox only does what the specification promises.${why} Fix that first.`;
}

/** Returns the seed of a run with varied responses by its name; `undefined` for any other name. */
function seedIn(name: string): number | undefined {
  const [, seed] = /^varied (\d{1,10})$/.exec(name) ?? [];
  return seed === undefined ? undefined : Number(seed);
}
