import { resolve } from "node:path";
import { runStory } from "../../api/story/run-story.js";
import { stepView } from "../../api/story/step-view.js";
import { type OpenedScenario, openScenario } from "../../node/files/scenario-files.js";
import { nodePlatform, startInNode } from "../../node/platform.js";
import { alignColumns, pluralize } from "../../report/plain-text.js";
import { SandboxError } from "../../rules/errors.js";
import { redactKeys } from "../../rules/redact.js";
import { escapeControls, printable } from "../../rules/terminal-text.js";
import { shortTime } from "../../rules/time.js";
import { isAsExpected, type PlayedStep } from "../../sandbox/step-results.js";
import { viewClock } from "../../sandbox/views.js";
import { isScenarioName, scenarioNames } from "../../scenario/bundled.js";
import { formatProblem, ScenarioError } from "../../scenario/problems.js";
import { snakeCase } from "../../schema/json.js";
import { pathText } from "../../schema/shape.js";
import { type CallOf, declareCommand } from "../command.js";
import { describeFailure, exitCode, exitCodeOf } from "../exit-codes.js";
import * as flag from "../flags.js";
import { aborted, type Io } from "../io.js";
import { namedOrOwn, problemsJson, stdinName } from "../open-scenario.js";
import { type PlacedDifference, placeDifferences } from "../placed-differences.js";
import { actionLine, createLog, stepLine } from "../serve/log.js";
import type { Palette, Style } from "../terminal.js";

const flags = {
  all: flag.cliOnlyToggle("--all", "every bundled scenario"),
  // No variable: one for `start` would keep it running.
  watch: flag.cliOnlyToggle("--watch", "verify again whenever a file of the scenarios changes, until Ctrl-C"),
  ...flag.frozenSandboxFlags,
  json: flag.json,
  quiet: flag.quiet("only what failed"),
};
type VerifyCall = CallOf<typeof flags>;

export const verifyCommand = declareCommand({
  summary: "run the stories of scenarios as tests",
  description:
    "Runs the story of each scenario without waiting, in its own sandbox with a frozen clock that only the story moves, and prints the result of each step. A story ends with its first unexpected result, and its place in the file is shown. Exits with 1 if a story fails or is missing, with 2 if a scenario cannot be read.",
  args: { "[scenario...]": "bundled names or files (default: svc-sandbox.yaml)" },
  flags,
  modes: [
    {
      // Besides the results there are notes, which --quiet leaves out.
      name: "verify --watch",
      when: ({ flags }) => flags.watch,
      words: ["[scenario...]"],
      flags: flag.flagNamesOf(flags),
    },
    {
      name: "verify --json",
      when: ({ flags }) => flags.json,
      words: ["[scenario...]"],
      flags: ["all", "json", ...flag.frozenSandboxFlagNames],
    },
    { name: "verify", words: ["[scenario...]"], flags: ["all", "quiet", ...flag.frozenSandboxFlagNames] },
  ],
  examples: {
    "svc-sandbox verify": "the story of svc-sandbox.yaml",
    "svc-sandbox verify my.yaml --watch": "again whenever the file changes",
    "svc-sandbox verify scenarios/*.yaml --quiet": "many, for CI: only what failed",
    "svc-sandbox verify --all --profile varied": "every bundled story, in another profile",
  },
  async run(call) {
    const { args, flags, io } = call;
    const orAll = ", or give --all for every bundled one";
    const wanted = flags.all === true ? [...scenarioNames, ...args] : namedOrOwn(args, "verify", io, orAll);
    // A scenario that is named twice is verified once.
    const names = [...new Set(wanted)];
    if (flags.watch === true) return verifyOnChange(names, call);
    const verified = await verifyAll(names, call);
    return verified.exitCode;
  },
});

/** Verifies the scenarios, and again whenever one of their files changes, until stopped. */
async function verifyOnChange(names: readonly string[], call: VerifyCall): Promise<number> {
  const { flags, io } = call;
  const stop = io.stopSignal();
  const log = await createLog(flags, io);

  if (names.every(isScenarioName)) {
    log.note(
      `Nothing to watch: these scenarios are bundled. Copy one with \`${io.program} show <name> > my.yaml\`.`,
    );
    const verified = await verifyAll(names, call);
    return verified.exitCode;
  }

  const { FileWatch } = await import("../serve/watch.js");
  const readerGone = new AbortController();
  const verifyNow = async () => {
    if (stop.aborted) return;
    const readAt = nodePlatform.time();
    const { files } = await verifyAll(names, call);
    // Nobody waits for the next result once the reader of this one is gone.
    const isRead = await io.stdout.waitForReader(stop);
    if (!isRead) {
      readerGone.abort();
      return;
    }
    await watch.follow(files, readAt);
    log.note(`Waiting for changes of ${names.join(", ")}. Ctrl-C ends.`);
  };
  const watch = new FileWatch(() => {
    return verifyNow().catch((error) => log.problem(describeFailure(error, flags)));
  });

  await verifyNow();
  await aborted(AbortSignal.any([stop, readerGone.signal]));
  await watch.close();
  return exitCode.fine;
}

/** What came of several scenarios: the exit code, and the files to follow with `--watch`. */
interface VerifiedAll {
  readonly exitCode: number;
  readonly files: readonly string[];
}

/** Verifies the scenarios, and prints what comes of each. A broken one does not stop the others. */
async function verifyAll(names: readonly string[], call: VerifyCall): Promise<VerifiedAll> {
  const { flags, io } = call;
  // If the folder was deleted, this throws, in place of an error for each scenario.
  const { cwd, stdin } = io;
  const openings = await Promise.all(names.map((name) => openOrFail(name, { cwd, stdin })));

  // What cannot be read is reported before the first story is played.
  const printer = new VerifiedPrinter(call);
  const byName = new Map<string, Verified>();
  for (const opening of openings) {
    if (opening.kind === "opened") continue;
    const verified = notVerified(opening.name, opening.error, cwd);
    byName.set(opening.name, verified);
    printer.say(verified);
  }

  // A name that nothing has is probably misspelled, so no story is played. While --watch waits, its file may still come.
  const playsNone = !flags.watch && openings.some(isOfUnknownName);
  for (const opening of playsNone ? [] : openings) {
    if (opening.kind === "unreadable") continue;
    const verified = await verifyOpened(opening.name, opening.opened, call);
    byName.set(opening.name, verified);
    printer.say(verified);
  }

  // JSON is in the order of the command line.
  const verifications: Verified[] = [];
  for (const name of names) {
    const verified = byName.get(name);
    if (verified !== undefined) verifications.push(verified);
  }
  if (flags.json) {
    const documents = verifications.map((verified) => verified.json);
    // With --watch, each document is on a separate line.
    const indent = flags.watch ? 0 : 2;
    io.stdout.write(`${redactKeys(JSON.stringify(documents, null, indent))}\n`);
  } else if (printer.hasText) {
    sayTotal(verifications, call);
  }

  const files = new Set(verifications.flatMap((verified) => verified.files));
  return {
    exitCode: Math.max(...verifications.map((verified) => verified.exitCode)),
    files: [...files],
  };
}

/** A scenario that was read, or why it cannot be read. */
type Opening =
  | { readonly kind: "opened"; readonly name: string; readonly opened: OpenedScenario }
  | { readonly kind: "unreadable"; readonly name: string; readonly error: unknown };

/** Opens a scenario; its error waits until it is reported. */
async function openOrFail(
  name: string,
  source: { readonly cwd: string; readonly stdin: Io["stdin"] },
): Promise<Opening> {
  try {
    const stdin = name === stdinName ? source.stdin : undefined;
    return { kind: "opened", name, opened: await openScenario(name, { cwd: source.cwd, stdin }) };
  } catch (error) {
    return { kind: "unreadable", name, error };
  }
}

function isOfUnknownName(opening: Opening): boolean {
  if (opening.kind === "opened") return false;
  const { error } = opening;
  return error instanceof SandboxError && error.code === "scenario_not_found";
}

/** Prints what came of scenarios, one after the other; nothing if it is printed as JSON. */
class VerifiedPrinter {
  readonly #call: VerifyCall;
  #hasText = false;

  constructor(call: VerifyCall) {
    this.#call = call;
  }

  /** Whether there was a text, which may be empty: of a story, and not only of what could not be read. */
  get hasText(): boolean {
    return this.#hasText;
  }

  say(verified: Verified): void {
    const { flags, io } = this.#call;
    if (flags.json) return;
    if (verified.kind === "not_verified") {
      io.stderr.say(`${verified.error}\n`);
      return;
    }
    // An empty line separates long texts.
    const gap = this.#hasText && !flags.quiet ? "\n" : "";
    io.stdout.say(gap + verified.text);
    this.#hasText = true;
  }
}

/** Prints how many of several scenarios failed. */
function sayTotal(verifications: readonly Verified[], { flags, io }: VerifyCall): void {
  const failed = verifications.filter((verified) => verified.exitCode !== exitCode.fine).length;
  if (verifications.length === 1) return;
  if (failed === 0 && flags.quiet) return;

  const { palette } = io.stdout.style();
  const total = pluralize(verifications.length, "scenario");
  if (failed === 0) io.stdout.say(`\n${palette.green(`${total}: all passed`)}\n`);
  else io.stdout.say(`\n${palette.red(`${total}: ${failed} failed`)}\n`);
}

interface VerifiedBase {
  readonly exitCode: number;
  /** The files to follow with `--watch`. */
  readonly files: readonly string[];
  readonly json: unknown;
}

/** What came of one scenario: its story, or why the scenario could not be read or started. */
type Verified =
  | (VerifiedBase & { readonly kind: "verified"; readonly text: string })
  | (VerifiedBase & { readonly kind: "not_verified"; readonly error: string });

/** Runs the story of a scenario that could be opened. */
async function verifyOpened(name: string, opened: OpenedScenario, call: VerifyCall): Promise<Verified> {
  const { flags, io } = call;
  try {
    const story = await verifyStory(opened, flags);
    return {
      kind: "verified",
      exitCode: story.passed ? exitCode.fine : exitCode.failed,
      files: opened.loaded.files,
      text: verifiedText(story, io.stdout.style(), flags.quiet === true),
      json: verifiedJson(story),
    };
  } catch (error) {
    return notVerified(name, error, io.cwd);
  }
}

/** What came of a scenario that cannot be read or started. */
function notVerified(name: string, error: unknown, cwd: string): Verified {
  if (!(error instanceof SandboxError)) throw error;

  // Broken and missing files are followed, too: they may be mended.
  const files: string[] = [];
  if (!isScenarioName(name)) {
    files.push(resolve(cwd, name));
    const problems = error instanceof ScenarioError ? error.problems : [];
    // A problem may be in a file that the scenario extends.
    for (const problem of problems) files.push(resolve(cwd, problem.file ?? name));
  }
  return {
    kind: "not_verified",
    exitCode: exitCodeOf(error),
    files,
    error: printable(redactKeys(error.message)),
    json: { name, passed: false, problems: problemsJson(error, name), steps: [] },
  };
}

/** What came of the story of a scenario. */
interface VerifiedStory {
  readonly name: string;
  readonly passed: boolean;
  readonly seed: number;
  readonly startedAt: string;
  /** Whether every run starts at that time. */
  readonly isPinned: boolean;
  /** The steps that ran; the last one may have failed. */
  readonly results: readonly PlayedStep[];
  readonly stepCount: number;
  /** The problems of the step that failed. */
  readonly problems: readonly PlacedDifference[];
  readonly durationMs: number;
}

/** Runs the story of a scenario as a test, in a separate sandbox whose clock only the story moves. */
async function verifyStory(opened: OpenedScenario, flags: flag.SandboxFlags): Promise<VerifiedStory> {
  const { name, scenario } = opened.loaded;
  const sandbox = startInNode(opened.loaded, { ...flags, frozen: true });
  const { platform, clock, seed, story } = sandbox;
  const stepCount = story.steps.length;
  const started = platform.stopwatch();
  const startedAt = viewClock(clock).now;

  const results: PlayedStep[] = [];
  let problems: readonly PlacedDifference[] = [];
  for (const result of runStory(sandbox)) {
    results.push(result);
    if (isAsExpected(result)) continue;
    problems = placeDifferences(result, await opened.places());
    // Later steps depend on it.
    break;
  }

  return {
    name,
    // A scenario without a story tests nothing.
    passed: stepCount > 0 && problems.length === 0,
    seed,
    startedAt,
    isPinned: flags.now !== undefined || scenario.clock?.now !== undefined,
    results,
    stepCount,
    problems,
    durationMs: platform.stopwatch() - started,
  };
}

/** Returns a story as JSON; the caller shortens keys. */
function verifiedJson(story: VerifiedStory): unknown {
  const { name, passed, seed, startedAt, results, stepCount } = story;
  const steps: unknown[] = [];
  for (const result of results) {
    const isLast = result.number === results.length;
    steps.push(stepJson(result, isLast ? story.problems : []));
  }
  return snakeCase({
    name,
    passed,
    seed,
    startedAt,
    stepCount,
    problems: stepCount === 0 ? [{ code: "no_story", message: "the scenario has no story" }] : [],
    notReached: stepCount - results.length,
    steps,
    durationMs: Math.round(story.durationMs * 10) / 10,
  });
}

function stepJson(result: PlayedStep, problems: readonly PlacedDifference[]) {
  const differences: unknown[] = [];
  for (const problem of problems) {
    const { at, expected, found, field } = problem;
    // A step that could not run has a problem, and no difference.
    if (at === null) continue;
    differences.push({ at, expected, found, field: pathText(field), place: placeJson(problem) });
  }
  const [first] = problems;
  return {
    ...stepView(result),
    passed: problems.length === 0,
    differences,
    place: first === undefined ? null : placeJson(first),
  };
}

function placeJson({ place }: PlacedDifference) {
  if (place === undefined) return null;
  return { file: place.file ?? null, line: place.line, column: place.column };
}

/** Returns a story as text: the steps, the problems and a summary. `quiet` leaves out what passed. */
function verifiedText(story: VerifiedStory, style: Style, quiet: boolean): string {
  if (story.passed && quiet) return "";
  const name = escapeControls(story.name);

  const lines: string[] = [];
  if (!quiet && story.stepCount > 0) lines.push(...stepTable(name, story, style), "");
  for (const problem of story.problems) {
    lines.push(problemText(problem, name, story.results.length), "");
  }
  lines.push(conclusionText(name, story, style.palette), "");
  return redactKeys(lines.join("\n"));
}

/** How a step is marked: by a sign on a terminal, by a word elsewhere. */
const marks = {
  passed: { sign: "✓", word: "passed", color: "green" },
  failed: { sign: "✗", word: "FAILED", color: "red" },
  done: { sign: " ", word: "", color: "dim" },
} as const;

/** The mark of a step that has run. */
function markOf(result: PlayedStep): keyof typeof marks {
  if (!isAsExpected(result)) return "failed";
  if (result.step.expect !== undefined) return "passed";
  // An action must succeed even without an expectation; a request may end in any way.
  return result.performed === null ? "done" : "passed";
}

function stepTable(name: string, story: VerifiedStory, style: Style): string[] {
  const { palette, isTerminal } = style;
  const rows: string[][] = [];
  for (const result of story.results) {
    const { sign, word, color } = marks[markOf(result)];
    const number = String(result.number).padStart(String(result.of).length);
    const mark = isTerminal ? sign : word;
    // Nothing gets no color.
    const paintedMark = mark === "" ? "" : palette[color](mark);
    rows.push([number, paintedMark, stepLine(result, style)]);
    for (const step of result.timeline) {
      rows.push(["", "", `in between, at ${shortTime(step.at)}: ${actionLine(step)}`]);
    }
  }
  const start = palette.dim(`seed ${story.seed}, from ${shortTime(story.startedAt)}`);
  return [`${palette.bold(name)}  ${start}`, ...alignColumns(rows).map((line) => `  ${line}`)];
}

function problemText(problem: PlacedDifference, name: string, step: number): string {
  const { message, field, place } = problem;
  const text = formatProblem({
    ...place,
    // If the place is not known, the file and the field are shown.
    file: place?.file ?? name,
    field: pathText(field),
    message: `step ${step}: ${message}`,
  });
  return printable(text);
}

/** The last line: whether the story passed, and how much of it ran. */
function conclusionText(name: string, story: VerifiedStory, palette: Palette): string {
  const { results, stepCount, startedAt } = story;
  if (stepCount === 0) {
    return palette.red(
      `${name}: the scenario has no story, so there is nothing to verify. Add story: [ … ].`,
    );
  }

  const milliseconds = Math.max(1, Math.round(story.durationMs));
  const took = `(${milliseconds} ms)`;
  if (story.passed) {
    const expectations = results.filter((result) => markOf(result) === "passed").length;
    const counts = `${name}: ${pluralize(stepCount, "step")}, ${pluralize(expectations, "expectation")}`;
    if (expectations === 0) return palette.yellow(`${counts}: nothing that could fail ${took}`);
    return palette.green(`${counts}, all passed ${took}`);
  }

  const left = stepCount - results.length;
  const rest = left === 0 ? "" : `, ${pluralize(left, "step")} not reached`;
  const failed = palette.red(`${name}: step ${results.length} of ${stepCount} failed${rest} ${took}`);
  if (story.isPinned) return failed;
  return `${failed}\nThe story started at the real time. To repeat this run, add --now ${shortTime(startedAt)}. To always start at the same time, set clock: { now: … } in the scenario.`;
}
