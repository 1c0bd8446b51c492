import type { Logger } from "../../node/logger.js";
import { adviceOf } from "../../rules/advice.js";
import { redactPlainKeys } from "../../rules/keys/redact.js";
import { outcomes } from "../../rules/outcomes.js";
import { oneSafeLine, safeOutput, withoutLogCommands } from "../../rules/terminal-text.js";
import { isoTime } from "../../rules/time.js";
import type { StepEvent } from "../../sandbox/journal/events.js";
import type { Exchange } from "../../sandbox/journal/exchange.js";
import type { SandboxState } from "../../sandbox/sandbox-state.js";
import { allDifferences, shownDifferences } from "../../sandbox/step-results.js";
import type { Io } from "../io.js";
import { actionLine, stepLine } from "../output/step-line.js";
import { type Palette, paintStatus, responseText, type Style } from "../output/terminal.js";
import { LogLines } from "./log-lines.js";

/** The flags of a command with a log. */
export interface LogFlags {
  readonly log?: "pretty" | "json" | "off";
  readonly quiet?: boolean;
  readonly verbose?: boolean;
}

/** Creates the log on stderr that the flags ask for. */
export async function createLog(flags: LogFlags, io: Io): Promise<Logger> {
  const lines = new LogLines(io.stderr);
  const write = (text: string) => lines.write(text);

  let logger: Logger;
  if (flags.log === "json") {
    // Most logs are read by people, so few starts load this.
    const { createJsonLog } = await import("../../node/logger.js");
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

function differencesOf(event: StepEvent) {
  if (event.type === "timeline.step") return shownDifferences(event.result.differences);
  return allDifferences(event.result);
}

/** Describes a step of the timeline or the story as a line of the log: the sandbox's time, the source, the action. */
function stepLogLine(event: StepEvent, style: Style): string {
  const { palette } = style;
  const timeText = (at: string) => palette.dim(`${at.slice(0, 19)}Z`);
  const columns: string[] = [];
  if (event.type === "timeline.step") {
    columns.push(timeText(event.result.at), palette.magenta("timeline"), actionLine(event.result));
  } else {
    const { now, number, of } = event.result;
    columns.push(timeText(now), palette.magenta(`story ${number}/${of}`), stepLine(event.result, style));
  }

  for (const { at, expected, found } of differencesOf(event)) {
    const difference = oneSafeLine(`unexpected: ${at}: expected ${expected}, found ${found}`);
    columns.push(palette.red(difference));
  }
  return columns.join("  ");
}
