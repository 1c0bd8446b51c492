import { resolve } from "node:path";
import { runStory } from "../../api/story/run-story.js";
import { stepView } from "../../api/story/step-view.js";
import { type PlacedDifference, placeDifferences } from "../../node/dry-run.js";
import { type OpenedScenario, openScenario } from "../../node/files/load-scenario.js";
import { nodePlatform, startNamed } from "../../node/platform.js";
import { alignColumns, pluralize } from "../../report/plain-text.js";
import { SandboxError } from "../../rules/errors.js";
import { redactKeys } from "../../rules/redact.js";
import { snakeCase } from "../../rules/schema/json.js";
import { pathText } from "../../rules/schema/shape.js";
import { escapeControls, printable } from "../../rules/terminal-text.js";
import { shortTime } from "../../rules/time.js";
import { isAsExpected, type PlayedStep } from "../../sandbox/step-results.js";
import { viewClock } from "../../sandbox/views.js";
import { isScenarioName, scenarioNames } from "../../scenario/bundled.js";
import { formatProblem, ScenarioError } from "../../scenario/problems.js";
import { type CallOf, declareCommand } from "../command.js";
import { describeFailure, exitCode, exitCodeOf } from "../exit-codes.js";
import * as flag from "../flags.js";
import { aborted } from "../io.js";
import { namedOrOwn, problemsJson } from "../open-scenario.js";
import { actionLine, createLog, stepLine } from "../serve/log.js";
import type { Palette, Style } from "../terminal.js";

const flags = {
  all: flag.plainToggle("--all", "every bundled scenario"),
  // No variable: one for `start` would keep it running.
  watch: flag.plainToggle("--watch", "verify again whenever a file of the scenarios changes, until Ctrl-C"),
  ...flag.ofFrozenSandbox,
  json: flag.json,
  quiet: flag.quiet("only what failed"),
};
type VerifyCall = CallOf<typeof flags>;

export const verifyCommand = declareCommand({
  summary: "run the stories of scenarios as tests",
  description:
    "Runs the story of each scenario without waiting, in its own sandbox with a frozen clock that only the story moves, and prints the result of each step. A story ends with its first unexpected result, and its place in the file is shown. Exits with 1 if a story fails or is missing, with 2 if a scenario cannot be read.",
  words: { "[scenario...]": "bundled names or files (default: svc-sandbox.yaml)" },
  flags,
  examples: {
    "svc-sandbox verify": "the story of svc-sandbox.yaml",
    "svc-sandbox verify my.yaml --watch": "again whenever the file changes",
    "svc-sandbox verify scenarios/*.yaml --quiet": "many, for CI: only what failed",
    "svc-sandbox verify --all --profile varied": "every bundled story, in another profile",
  },
  async run(call) {
    const { words, flags, io } = call;
    const named = () => namedOrOwn(words, "verify", io, ", or give --all for every bundled one");
    const names = [...new Set(flags.all === true ? [...scenarioNames, ...words] : named())];
    return flags.watch === true ? verifyOnChange(names, call) : (await verifyAll(names, call)).exitCode;
  },
});

// Verifies the scenarios, and again whenever one of their files changes, until stopped.
async function verifyOnChange(names: readonly string[], call: VerifyCall): Promise<number> {
  const { flags, io } = call;
  const stop = io.stopSignal();
  const log = await createLog(flags, io);
  if (names.every(isScenarioName)) {
    log.note(
      `Nothing to watch: these scenarios are bundled. Copy one with \`${io.program} show <name> > my.yaml\`.`,
    );
    return (await verifyAll(names, call)).exitCode;
  }
  const { FileWatch } = await import("../serve/watch.js");
  const unread = new AbortController();
  const run = async () => {
    if (stop.aborted) return;
    const readAt = nodePlatform.time();
    const { files } = await verifyAll(names, call);
    if (!(await io.stdout.room(stop))) return unread.abort();
    await watching.follow(files, readAt);
    log.note(`Waiting for changes of ${names.join(", ")}. Ctrl-C ends.`);
  };
  const watching = new FileWatch(() => run().catch((error) => log.problem(describeFailure(error, flags))));
  await run();
  await aborted(AbortSignal.any([stop, unread.signal]));
  await watching.close();
  return exitCode.fine;
}

// A broken scenario does not stop the others, but a name that nothing has is probably misspelled.
async function verifyAll(names: readonly string[], call: VerifyCall) {
  const { flags, io } = call;
  const { quiet = false, watch = false } = flags;
  const byName = new Map<string, Verified>();
  // A folder that was deleted is one error, and not an error of each scenario.
  const { cwd, stdin } = io;
  const openings = names.map((name) => [name, openScenario(name, { cwd, stdin })] as const);
  const settled = await Promise.allSettled(openings.map(([, opening]) => opening));
  // What cannot be read is reported before the first story is played.
  const ofStatus = (status: string) => openings.filter((_, index) => settled[index]?.status === status);
  const isUnknown = (result: (typeof settled)[number]) =>
    result.status === "rejected" && (result.reason as SandboxError).code === "scenario_not_found";
  // A file that is missing may still come while --watch waits.
  const playsNone = !watch && settled.some(isUnknown);
  for (const [name, opening] of [...ofStatus("rejected"), ...(playsNone ? [] : ofStatus("fulfilled"))]) {
    const verification = await verifiedAs(name, opening, call);
    // An empty line separates long texts.
    const isLater = !quiet && [...byName.values()].some(({ text }) => text !== undefined);
    if (!flags.json && verification.text !== undefined)
      io.stdout.say(`${isLater ? "\n" : ""}${verification.text}`);
    if (!flags.json && verification.error !== undefined) io.stderr.say(`${verification.error}\n`);
    byName.set(name, verification);
  }
  const verifications = names.flatMap((name) => byName.get(name) ?? []);
  const failed = verifications.filter((verification) => verification.exitCode !== exitCode.fine).length;
  const wasRead = verifications.some(({ text }) => text !== undefined);
  if (flags.json) {
    // With --watch, each document is on a separate line.
    const documents = verifications.map((verification) => verification.json);
    io.stdout.write(`${redactKeys(JSON.stringify(documents, null, watch ? 0 : 2))}\n`);
  } else if (verifications.length > 1 && wasRead && (failed > 0 || !quiet)) {
    io.stdout.say(totalText(verifications.length, failed, io.stdout.style().palette));
  }
  return {
    exitCode: Math.max(...verifications.map((verification) => verification.exitCode)),
    files: [...new Set(verifications.flatMap(({ files }) => files))],
  };
}

function totalText(count: number, failed: number, { green, red }: Palette): string {
  const total = pluralize(count, "scenario");
  if (failed === 0) return `\n${green(`${total}: all passed`)}\n`;
  return `\n${red(`${total}: ${failed} failed`)}\n`;
}

interface Verified {
  readonly exitCode: number;
  readonly files: readonly string[];
  readonly error: string | undefined;
  /** `undefined` if the scenario could not be read. */
  readonly text: string | undefined;
  readonly json: unknown;
}

async function verifiedAs(
  name: string,
  opening: Promise<OpenedScenario>,
  { flags, io }: VerifyCall,
): Promise<Verified> {
  try {
    const opened = await opening;
    const story = await verifyStory(opened, flags);
    return {
      exitCode: story.passed ? exitCode.fine : exitCode.failed,
      files: opened.loaded.files,
      error: undefined,
      text: verifiedText(story, io.stdout.style(), flags.quiet === true),
      json: verifiedJson(story),
    };
  } catch (error) {
    if (!(error instanceof SandboxError)) throw error;
    // A problem may be in a file that the scenario extends.
    const placed = error instanceof ScenarioError ? error.problems.map(({ file }) => file ?? name) : [];
    return {
      exitCode: exitCodeOf(error),
      // Broken and missing files are followed, too: they may be mended.
      files: isScenarioName(name) ? [] : [name, ...placed].map((file) => resolve(io.cwd, file)),
      text: undefined,
      error: printable(redactKeys(error.message)),
      json: { name, passed: false, problems: problemsJson(error, name), steps: [] },
    };
  }
}

type VerifiedStory = Awaited<ReturnType<typeof verifyStory>>; // an interface would list the members again

/** Runs the story of a scenario as a test, in a separate sandbox whose clock only the story moves. */
async function verifyStory({ loaded, places }: OpenedScenario, flags: flag.SandboxFlags) {
  const { name, scenario } = loaded;
  const sandbox = startNamed(loaded, { ...flags, frozen: true });
  const { platform, clock, seed, story } = sandbox;
  const stepCount = story.steps.length;
  const started = platform.stopwatch();
  const startedAt = viewClock(clock).now;
  const results: PlayedStep[] = [];
  for (const result of runStory(sandbox)) {
    results.push(result);
    // Later steps depend on it.
    if (!isAsExpected(result)) break;
  }
  const last = results.at(-1);
  const problems = last === undefined || isAsExpected(last) ? [] : placeDifferences(last, await places());
  return {
    name,
    // A scenario without a story tests nothing.
    passed: stepCount > 0 && problems.length === 0,
    seed,
    startedAt,
    /** Whether every run starts at that time. */
    isPinned: flags.now !== undefined || scenario.clock?.now !== undefined,
    /** The steps that ran; the last one may have failed. */
    results,
    stepCount,
    problems,
    durationMs: platform.stopwatch() - started,
  };
}

/** Returns a story as JSON; the caller shortens keys. */
function verifiedJson(story: VerifiedStory): unknown {
  const { isPinned: _, results, problems, durationMs, ...shown } = story;
  const { length } = results;
  return snakeCase({
    ...shown,
    problems: shown.stepCount === 0 ? [{ code: "no_story", message: "the scenario has no story" }] : [],
    notReached: shown.stepCount - length,
    steps: results.map((result) => judgedJson(result, result.number === length ? problems : [])),
    durationMs: Math.round(durationMs * 10) / 10,
  });
}

function judgedJson(result: PlayedStep, problems: readonly PlacedDifference[]) {
  const placed = problems.map(({ message: _, field, place, ...difference }) => ({
    ...difference,
    field: pathText(field),
    place: place === undefined ? null : { file: place.file ?? null, line: place.line, column: place.column },
  }));
  return {
    ...stepView(result),
    passed: problems.length === 0,
    differences: placed.filter(({ at }) => at !== null),
    place: placed[0]?.place ?? null,
  };
}

/** Returns a story as text: the steps, the problems and a summary. `quiet` leaves out what passed. */
function verifiedText(verified: VerifiedStory, style: Style, quiet: boolean): string {
  const story = { ...verified, name: escapeControls(verified.name) };
  if (story.passed && quiet) return "";
  const lines = [
    ...(quiet || story.stepCount === 0 ? [] : [...stepTable(story, style), ""]),
    ...story.problems.flatMap((problem) => [problemText(problem, story), ""]),
    conclusionText(story, style.palette),
    "",
  ];
  return redactKeys(lines.join("\n"));
}

const marks = {
  passed: { sign: "✓", word: "passed", color: "green" },
  failed: { sign: "✗", word: "FAILED", color: "red" },
  done: { sign: " ", word: "", color: "dim" },
} as const;

// An action must succeed even without an expectation; a request may end in any way.
function markOf(result: PlayedStep): keyof typeof marks {
  if (!isAsExpected(result)) return "failed";
  return result.step.expect !== undefined || result.performed !== null ? "passed" : "done";
}

function stepTable({ name, seed, startedAt, results }: VerifiedStory, style: Style): string[] {
  const { palette, isTerminal } = style;
  const rows = results.flatMap((result) => {
    const { sign, word, color } = marks[markOf(result)];
    const number = String(result.number).padStart(String(result.of).length);
    const line = stepLine(result, style);
    const timeline = result.timeline.map((one) => `in between, at ${shortTime(one.at)}: ${actionLine(one)}`);
    const mark = isTerminal ? sign : word;
    return [[number, mark && palette[color](mark), line], ...timeline.map((text) => ["", "", text])];
  });
  return [
    `${palette.bold(name)}  ${palette.dim(`seed ${seed}, from ${shortTime(startedAt)}`)}`,
    ...alignColumns(rows).map((line) => `  ${line}`),
  ];
}

function problemText({ message, field, place }: PlacedDifference, { name, results }: VerifiedStory): string {
  // Without a place, the file and the field must do.
  const text = formatProblem({
    ...place,
    file: place?.file ?? name,
    field: pathText(field),
    message: `step ${results.length}: ${message}`,
  });
  return printable(text);
}

function conclusionText(story: VerifiedStory, palette: Palette): string {
  const { name, passed, results, stepCount, durationMs, isPinned, startedAt } = story;
  if (stepCount === 0) {
    return palette.red(
      `${name}: the scenario has no story, so there is nothing to verify. Add story: [ … ].`,
    );
  }
  const took = `(${Math.max(1, Math.round(durationMs))} ms)`;
  if (passed) {
    const expectations = results.filter((result) => markOf(result) === "passed").length;
    const counts = `${name}: ${pluralize(stepCount, "step")}, ${pluralize(expectations, "expectation")}`;
    if (expectations === 0) return palette.yellow(`${counts}: nothing that could fail ${took}`);
    return palette.green(`${counts}, all passed ${took}`);
  }
  const left = stepCount - results.length;
  const rest = left === 0 ? "" : `, ${pluralize(left, "step")} not reached`;
  const failed = palette.red(`${name}: step ${results.length} of ${stepCount} failed${rest} ${took}`);
  if (isPinned) return failed;
  return `${failed}\nThe story started at the real time. To repeat this run, add --now ${shortTime(startedAt)}. To always start at the same time, set clock: { now: … } in the scenario.`;
}
