import { summarizeAction, summarizeStep, summarizeWait } from "../api/story/narrate.js";
import { errorCodeOf } from "../api/story/run-story.js";
import type { Logger } from "../node/logger.js";
import { pluralize } from "../report/plain-text.js";
import { adviceOf } from "../rules/advice.js";
import { redactPlainKeys } from "../rules/keys/redact.js";
import { outcomes } from "../rules/outcomes.js";
import { oneSafeLine, safeOutput, withoutLogCommands } from "../rules/terminal-text.js";
import { isoTime, shortTime } from "../rules/time.js";
import type { Exchange } from "../sandbox/journal/exchange.js";
import type { StepEvent } from "../sandbox/journal/journal.js";
import type { SandboxState } from "../sandbox/sandbox-state.js";
import { allDifferences, type PlayedStep, shownDifferences } from "../sandbox/steps.js";
import type { Io } from "./io.js";
import type { ServeFlags } from "./shared-flags.js";
import { type Palette, paintStatus, responseText, type Style, startOfLine } from "./terminal.js";

/** The flags of a command with a log. */
type LogFlags = Pick<ServeFlags, "log" | "quiet" | "verbose">;

/** Creates the log on stderr that the flags ask for. */
export async function createLog(flags: LogFlags, io: Io): Promise<Logger> {
  const lines = new LogLines(io.stderr);
  const write = (text: string) => lines.write(text);

  let logger: Logger;
  if (flags.log === "json") {
    // Most logs are read by people, so few starts load this.
    const { createJsonLog } = await import("../node/logger.js");
    logger = createJsonLog(write);
  } else {
    logger = createTextLog(write, io.stderr.style(), flags.verbose === true);
  }
  lines.onLoss = logger.problem;
  // With --quiet, only problems are left: `logEvents` logs no event then.
  if (!flags.quiet) return logger;
  return { ...logger, note() {}, controlCall() {} };
}

/** Logs the requests and steps of a sandbox from now on. */
export function logEvents({ journal }: SandboxState, flags: LogFlags, logger: Logger): void {
  // As long as nobody subscribes, no event is created.
  if (flags.log === "off" || flags.quiet) return;
  journal.subscribe((event) => {
    if (event.type === "timeline.step" || event.type === "story.step" || event.type === "request") {
      logger.event(event);
    }
  });
}

/** A log for people: a line for each request and each step. */
function createTextLog(write: (text: string) => void, style: Style, verbose: boolean): Logger {
  const { palette } = style;
  const writeWrapped = (text: string) => {
    const safe = withoutLogCommands(redactPlainKeys(text)).trimEnd();
    write(`${style.wrap(safe)}\n`);
  };
  return {
    event(event) {
      if (event.type === "request") write(`${requestLogLine(event.exchange, palette, verbose)}\n`);
      else writeWrapped(stepLogLine(event, style));
    },
    note: (message) => writeWrapped(safeOutput(message)),
    controlCall: ({ call, result }) => writeWrapped(safeOutput(`${call}  ${result}`)),
    problem: (message) => writeWrapped(palette.red(safeOutput(message))),
  };
}

// The widths of columns.
const responseWidth = Math.max(...outcomes.map((row) => responseText(row).length));
const outcomeWidth = Math.max(...outcomes.map(({ id }) => id.length));
const pathWidth = "/v1/relying-party/me".length;

/** The line of a request. Its key is a ref, the fingerprint of an unknown key, or `-`. */
function requestLogLine(exchange: Exchange, palette: Palette, verbose = false): string {
  const { outcome, fault } = exchange;
  // The lines are in order, so that they need no fractions of a second.
  const time = `${isoTime(exchange.at).slice(0, 19)}Z`;
  const duration = `${exchange.durationMs.toFixed(1)} ms`;
  const paintResponse = paintStatus(palette, exchange.status);
  // A column is padded before it is painted: colors have a length, too.
  const columns = [
    palette.dim(time),
    oneSafeLine(exchange.method).padEnd(4),
    oneSafeLine(exchange.path).padEnd(pathWidth),
    paintResponse(responseText(exchange).padEnd(responseWidth)),
    outcome.padEnd(outcomeWidth),
    palette.dim(duration.padStart(7)),
    exchange.key ?? exchange.fingerprint ?? "-",
  ];

  // A fault that is not the outcome only delays the response.
  if (fault !== null && fault !== outcome) columns.push(palette.dim(fault));
  const adviceColor = { error: palette.red, warning: palette.yellow, note: palette.dim };
  for (const id of exchange.advice) {
    const { level } = adviceOf(id);
    if (verbose || level !== "note") columns.push(adviceColor[level](id));
  }
  if (verbose) columns.push(palette.dim(exchange.id));
  return columns.join("  ");
}

/** Describes a step of the timeline or the story as a line of the log: the sandbox's time, the source, the action. */
function stepLogLine(event: StepEvent, style: Style): string {
  const { palette } = style;
  const timeText = (at: string) => palette.dim(`${at.slice(0, 19)}Z`);
  const columns: string[] = [];
  let differences: ReturnType<typeof allDifferences>;
  if (event.type === "timeline.step") {
    differences = shownDifferences(event.result.differences);
    columns.push(timeText(event.result.at), palette.magenta("timeline"), actionLine(event.result));
  } else {
    const { now, number, of } = event.result;
    differences = allDifferences(event.result);
    columns.push(timeText(now), palette.magenta(`story ${number}/${of}`), stepLine(event.result, style));
  }

  for (const { at, expected, found } of differences) {
    const difference = oneSafeLine(`unexpected: ${at}: expected ${expected}, found ${found}`);
    columns.push(palette.red(difference));
  }
  return columns.join("  ");
}

/** About a hundred thousand lines wait for the reader: one that stops reading must not fill the memory. */
const maxUnreadLength = 32 * 1024 * 1024;

/** Lines are lost if they cannot be written, or if too many wait for the reader; their number is reported later. */
class LogLines {
  readonly #output: Io["stderr"];
  /** Gets the message about lost lines. */
  onLoss: (message: string) => void = () => {};
  /** The number of lost lines that are not reported yet. */
  #lost = 0;
  /** The length of the text that waits for the reader. */
  #waiting = 0;

  constructor(output: Io["stderr"]) {
    this.#output = output;
  }

  write(text: string): void {
    if (this.#waiting > maxUnreadLength) {
      this.#lost += 1;
      return;
    }
    this.#waiting += text.length;
    this.#output.write(text, (error) => {
      this.#waiting -= text.length;
      if (error) this.#lost += 1;
      else if (this.#lost > 0) this.#reportLoss();
    });
  }

  #reportLoss(): void {
    const count = pluralize(this.#lost, "message");
    this.#lost = 0;
    this.onLoss(`The log could not be written for a while: ${count} lost before the last line.`);
  }
}

/** The most columns of narration in a log on a terminal. */
const maxNarration = 60;

/** Describes a step of the story on one line: the action and its result. On a terminal, narration is shortened. */
export function stepLine(result: PlayedStep, { palette, isTerminal }: Style): string {
  const { say, step, failure, response } = result;
  const wait = summarizeWait(step);
  if (say !== null) {
    const line = wait + oneSafeLine(say.trim().replace(/\s+/g, " "));
    return palette.dim(isTerminal ? startOfLine(line, maxNarration) : line);
  }
  // A step may leave out the method and path of its request.
  const intent = oneSafeLine(summarizeStep(step, result.request));
  if (failure !== null) return `${intent} → ${palette.red(failure.code)}`;
  if (response !== null) {
    const { status, outcome, fault } = response;
    const outcomeText = fault === null || fault === outcome ? outcome : `${outcome}, ${fault}`;
    const text = oneSafeLine(responseText({ status, code: errorCodeOf(response) }));
    return `${intent} → ${paintStatus(palette, status)(text)}  ${palette.dim(outcomeText)}`;
  }
  if (step.advance !== undefined) return `${intent} → ${shortTime(result.now)}`;
  return wait + actionLine(result);
}

/** Describes an action in a few words, with its error: `rotate active → active-2, overlap 60m`. */
export function actionLine({ step, performed }: Pick<PlayedStep, "step" | "performed">): string {
  const intent = summarizeAction(step, performed);
  const error = performed?.error ?? null;
  if (error === null) return oneSafeLine(intent);
  return oneSafeLine(`${intent} → rejected: ${error.code} (${error.message})`);
}
