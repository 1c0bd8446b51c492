import { errorCodeOf } from "../../api/story/expectation.js";
import { actionIntent, stepIntent } from "../../api/story/step-text.js";
import type { Logger } from "../../node/logger.js";
import { pluralize } from "../../report/plain-text.js";
import { adviceOf } from "../../rules/advice.js";
import { outcomes } from "../../rules/outcomes.js";
import { redactKeys } from "../../rules/redact.js";
import { escapeCommands, escapeControls, printable } from "../../rules/terminal-text.js";
import { isoOf, shortTime } from "../../rules/time.js";
import type { StepEvent } from "../../sandbox/journal/events.js";
import type { Exchange } from "../../sandbox/journal/exchange.js";
import type { SandboxState } from "../../sandbox/sandbox-state.js";
import type { PlayedStep, StoryResponse } from "../../sandbox/step-results.js";
import type { Io } from "../io.js";
import { type Palette, paintStatus, responseText, type Style } from "../terminal.js";

export interface LogFlags {
  readonly log?: "pretty" | "json" | "off";
  readonly quiet?: boolean;
  readonly verbose?: boolean;
}

// About a hundred thousand lines: a reader that stops reading must not fill the memory.
const maxUnread = 32 * 1024 * 1024;

export async function createLog(flags: LogFlags, io: Io): Promise<Logger> {
  const { log, quiet = false, verbose = false } = flags;
  const lines = new LogLines(io.stderr, (message) => logger.problem(message));
  const write = (text: string) => lines.write(text);
  const logger: Logger =
    log === "json"
      ? // Most logs are read by people, so few starts load this.
        (await import("../../node/logger.js")).createJsonLog(write)
      : textLog(write, io.stderr.style(), verbose);
  return quiet ? { ...logger, note() {}, controlCall() {} } : logger;
}

/** Lines are lost if they cannot be written, or if too many wait for the reader; their number is reported later. */
class LogLines {
  readonly #output: Io["stderr"];
  readonly #onLoss: (message: string) => void;
  #lost = 0;
  #waiting = 0;

  constructor(output: Io["stderr"], onLoss: (message: string) => void) {
    [this.#output, this.#onLoss] = [output, onLoss];
  }

  write(text: string): void {
    if (this.#waiting > maxUnread) {
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
    this.#onLoss(`The log could not be written for a while: ${count} lost before the last line.`);
  }
}

export function logEvents(
  { journal }: SandboxState,
  { log = "pretty", quiet = false }: LogFlags,
  logger: Logger,
): void {
  // Without a subscriber, no event is created.
  if (log === "off" || quiet) return;
  journal.subscribe((event) => {
    if (event.type === "timeline.step" || event.type === "story.step" || event.type === "request")
      logger.event(event);
  });
}

function textLog(write: (text: string) => void, style: Style, verbose: boolean): Logger {
  const { palette, wrap } = style;
  const line = (text: string) => write(`${wrap(escapeCommands(redactKeys(text)).trimEnd())}\n`);
  return {
    event(event) {
      if (event.type === "request") write(`${requestLogLine(event.exchange, palette, verbose)}\n`);
      else line(stepLogLine(event, style));
    },
    note: (message) => line(printable(message)),
    warning: (message) => line(palette.yellow(printable(message))),
    controlCall: ({ call, result }) => line(printable(`${call}  ${result}`)),
    problem: (message) => line(palette.red(printable(message))),
  };
}

const responseWidth = Math.max(...outcomes.map((row) => responseText(row).length));
const outcomeWidth = Math.max(...outcomes.map(({ id }) => id.length));
const pathWidth = "/v1/relying-party/me".length;

/** The key is its ref, the fingerprint of an unknown key, or `-`. */
export function requestLogLine(exchange: Exchange, palette: Palette, verbose = false): string {
  const { at, method, path, status, outcome, fault, key, fingerprint, advice, durationMs } = exchange;
  const adviceColor = { error: palette.red, warning: palette.yellow, note: palette.dim };
  // Without fractions of a second: the lines are in order.
  const time = `${isoOf(at).slice(0, 19)}Z`;
  const paint = paintStatus(palette, status);
  return [
    palette.dim(time),
    escapeControls(method).padEnd(4),
    escapeControls(path).padEnd(pathWidth),
    paint(responseText(exchange).padEnd(responseWidth)),
    outcome.padEnd(outcomeWidth),
    palette.dim(`${durationMs.toFixed(1)} ms`.padStart(7)),
    key ?? fingerprint ?? "-",
    // A fault that only delays the response; any other fault is the outcome.
    ...(fault === null || fault === outcome ? [] : [palette.dim(fault)]),
    ...advice
      .filter((id) => verbose || adviceOf(id).level !== "note")
      .map((id) => adviceColor[adviceOf(id).level](id)),
    ...(verbose ? [palette.dim(exchange.id)] : []),
  ].join("  ");
}

/** Describes a step of the story on one line: the action and its result. On a terminal, narration is shortened. */
export function stepLine(result: PlayedStep, { palette, isTerminal }: Style): string {
  const { say, step, failure, performed, request, response, now } = result;
  if (say !== null) return palette.dim(onOneLine(say, isTerminal));
  // A step may leave out the method and path of its request.
  const intent = escapeControls(stepIntent(step, request));
  if (failure !== null) return `${intent} → ${palette.red(failure.code)}`;
  if (response !== null) return `${intent} → ${responseLine(response, palette)}`;
  if (step.advance !== undefined) return `advance ${step.advance} → ${shortTime(now)}`;
  return actionLine({ step, performed });
}

/** Describes an action in a few words, with its error: `rotate active → active-2, overlap 60m`. */
export function actionLine({ step, performed }: Pick<PlayedStep, "step" | "performed">): string {
  const error = performed?.error ?? null;
  const rejected = error === null ? "" : ` → rejected: ${error.code} (${error.message})`;
  return escapeControls(actionIntent(step, performed) + rejected);
}

/** Describes a step of the timeline or the story as a line of the log: the sandbox's time, the source, the action. */
function stepLogLine({ type, result }: StepEvent, style: Style): string {
  const { palette } = style;
  const [at, whose, text] =
    type === "timeline.step"
      ? [result.at, "timeline", actionLine(result)]
      : [result.now, `story ${result.number}/${result.of}`, stepLine(result, style)];
  const unexpected = result.differences.map(({ at, expected, found }) =>
    palette.red(escapeControls(`unexpected: ${at}: expected ${expected}, found ${found}`)),
  );
  return [palette.dim(`${at.slice(0, 19)}Z`), palette.magenta(whose), text, ...unexpected].join("  ");
}

function responseLine(response: StoryResponse, palette: Palette): string {
  const { status, outcome, fault } = response;
  const outcomes = fault === null || fault === outcome ? outcome : `${outcome}, ${fault}`;
  const text = escapeControls(responseText({ status, code: errorCodeOf(response) }));
  return `${paintStatus(palette, status)(text)}  ${palette.dim(outcomes)}`;
}

function onOneLine(text: string, isShortened: boolean): string {
  const line = escapeControls(text.trim().replace(/\s+/g, " "));
  return !isShortened || line.length <= 60 ? line : `${line.slice(0, 59).trimEnd()}…`;
}
