import { errorCodeOf } from "../api/story/run-story.js";
import { summarizeAction, summarizeStep, summarizeWait } from "../api/story/summarize.js";
import type { Logger } from "../node/logger.js";
import { adviceOf } from "../rules/advice.js";
import { outcomes } from "../rules/outcomes.js";
import { isoTime, shortTime } from "../rules/time.js";
import type { Exchange } from "../sandbox/journal/exchange.js";
import type { StepEvent } from "../sandbox/journal/journal.js";
import type { SandboxState } from "../sandbox/sandbox-state.js";
import { allDifferences, differenceText, type PlayedStep, type StepDifference } from "../sandbox/steps.js";
import type { Io } from "./io.js";
import type { ServeFlags } from "./shared-flags.js";
import { type Output, type Palette, paintStatus, responseText } from "./terminal.js";

/** The flags of a command with a log. */
type LogFlags = Pick<ServeFlags, "log" | "quiet" | "verbose">;

/** Creates the log on stderr that the flags ask for. */
export async function createLog(flags: LogFlags, { stderr }: Pick<Io, "stderr">): Promise<Logger> {
  let logger: Logger;
  if (flags.log === "json") {
    // Most logs are read by people, so few starts load this.
    const { createJsonLog } = await import("../node/logger.js");
    logger = createJsonLog(boundedWriter(stderr.write));
  } else {
    logger = createTextLog(boundedWriter(stderr.say), stderr.style().palette, flags.verbose === true);
  }
  // Only problems are left: `logEvents` logs no event then.
  if (!flags.quiet && flags.log !== "off") return logger;
  return { ...logger, note() {}, controlCall() {} };
}

/** The most characters of a log that wait for its reader, about ten thousand lines. */
const mostUnread = 1024 * 1024;

/** Returns what writes a line, and leaves out lines while too much waits for a reader that has stopped reading: they must not fill the memory. */
function boundedWriter(write: Output["write"]): (line: string) => void {
  let waiting = 0;
  return (line) => {
    if (waiting > mostUnread) return;
    waiting += line.length;
    write(line, () => {
      waiting -= line.length;
    });
  };
}

/** Logs the requests and steps of a sandbox that come later. */
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
function createTextLog(write: (line: string) => void, palette: Palette, verbose: boolean): Logger {
  return {
    event(event) {
      const line =
        event.type === "request"
          ? requestLogLine(event.exchange, palette, verbose)
          : stepLogLine(event, palette);
      // A name of the user may have several lines.
      write(`${line.replace(/\n\s*/g, " ")}\n`);
    },
    note: (message) => write(`${message.trimEnd()}\n`),
    controlCall: ({ call, result }) => write(`${call}  ${result}\n`),
    problem: (message) => write(`${palette.red(message.trimEnd())}\n`),
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
    exchange.method.padEnd(4),
    exchange.path.padEnd(pathWidth),
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
function stepLogLine(event: StepEvent, palette: Palette): string {
  const timeText = (at: string) => palette.dim(`${at.slice(0, 19)}Z`);
  const columns: string[] = [];
  let differences: readonly StepDifference[];
  if (event.type === "timeline.step") {
    ({ differences } = event.result);
    columns.push(timeText(event.result.at), palette.magenta("timeline"), actionLine(event.result));
  } else {
    const { now, number, of } = event.result;
    differences = allDifferences(event.result);
    columns.push(timeText(now), palette.magenta(`story ${number}/${of}`), stepLine(event.result, palette));
  }

  for (const difference of differences) {
    columns.push(palette.red(`unexpected: ${differenceText(difference)}`));
  }
  return columns.join("  ");
}

/** Describes a step of the story on one line: the action and its result. */
export function stepLine(result: PlayedStep, palette: Palette): string {
  const { say, step, failure, response } = result;
  const wait = summarizeWait(step);
  if (say !== null) return palette.dim(wait + say.trim().replace(/\s+/g, " "));
  // A step may leave out the method and path of its request.
  const intent = summarizeStep(step, result.request);
  if (failure !== null) return `${intent} → ${palette.red(failure.code)}`;
  if (response !== null) {
    const { status, outcome, fault } = response;
    const outcomeText = fault === null || fault === outcome ? outcome : `${outcome}, ${fault}`;
    const text = responseText({ status, code: errorCodeOf(response) });
    return `${intent} → ${paintStatus(palette, status)(text)}  ${palette.dim(outcomeText)}`;
  }
  if (step.advance !== undefined) return `${intent} → ${shortTime(result.now)}`;
  return wait + actionLine(result);
}

/** Describes an action in a few words, with its error: `rotate active → active-2, overlap 60m`. */
export function actionLine({ step, performed }: Pick<PlayedStep, "step" | "performed">): string {
  const intent = summarizeAction(step, performed);
  const error = performed?.error ?? null;
  return error === null ? intent : `${intent} (${error.message})`;
}
