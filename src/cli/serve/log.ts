import { type AdviceId, adviceOf } from "../../domain/advice.js";
import { outcomes } from "../../domain/outcomes.js";
import { redactKeys } from "../../domain/redact.js";
import type { JsonLog } from "../../node/log.js";
import { escapeControls } from "../../report/plain-text.js";
import type { StepEvent, WorldEvent } from "../../sandbox/events.js";
import type { JournalEntry } from "../../sandbox/journal.js";
import type { Runtime } from "../../sandbox/runtime.js";
import type { Io } from "../io.js";
import { stepLogLine } from "../story/step-line.js";
import { answerText, type Palette, paintStatus, paletteFor } from "../terminal.js";

type LoggedEvent = StepEvent | Extract<WorldEvent, { readonly type: "request" }>;

/** The messages of a running command, all of them on stderr. */
export interface Log {
  /** A request, or a step of the timeline or the story; left out when requests are not logged. */
  readonly event?: (event: LoggedEvent) => void;
  /** Something good to know; not with `--quiet`. */
  readonly note: (message: string) => void;
  /** Something that went wrong; always. */
  readonly problem: (message: string) => void;
  /** Resolves once everything said so far is written. */
  readonly written: () => Promise<void>;
}

/** The flags that say what is logged. */
export interface LogFlags {
  readonly log?: "pretty" | "json" | "off";
  readonly quiet?: boolean;
  readonly verbose?: boolean;
}

/** Makes the log that the flags ask for. */
export function createLog(flags: LogFlags, io: Io): Log {
  const { log = "pretty", quiet = false, verbose = false } = flags;
  const said = log === "json" ? jsonLog(io) : textLog(io, verbose);
  const { event, ...rest } = said;
  return { ...rest, ...(log !== "off" && !quiet && { event }), note: quiet ? () => {} : said.note };
}

/** Logs the requests to a runtime and the steps of its timeline and story, if requests are logged. Without a subscriber no event is put together. */
export function logEvents(runtime: Runtime, { event: logEvent }: Log): void {
  if (logEvent === undefined) return;
  runtime.subscribe((event) => {
    const { type } = event;
    if (type === "request" || type === "timeline.step" || type === "story.step") logEvent(event);
  });
}

function textLog(io: Io, verbose: boolean): Required<Log> {
  const palette = paletteFor(io.stderr, io.env);
  const write = (message: string) => io.stderr.write(`${redactKeys(message).trimEnd()}\n`);
  return {
    event(event) {
      if (event.type === "request") io.stderr.write(`${requestLine(event.request, palette, verbose)}\n`);
      else write(stepLogLine(event, palette));
    },
    note: write,
    problem: (message) => write(palette.red(message)),
    written: () => Promise.resolve(),
  };
}

// The library that writes JSON lines is loaded with the first of them: nothing waits for it before.
function jsonLog(io: Io): Required<Log> {
  let queue: Promise<JsonLog> | undefined;
  const say = (line: (log: JsonLog) => void) => {
    queue ??= import("../../node/log.js").then(({ createJsonLog }) =>
      createJsonLog((text) => io.stderr.write(text)),
    );
    queue = queue.then((log) => {
      line(log);
      return log;
    });
  };
  return {
    event: (event) => say((log) => (event.type === "request" ? log.request(event.request) : log.step(event))),
    note: (message) => say((log) => log.note(message)),
    problem: (message) => say((log) => log.problem(message)),
    written: async () => {
      await queue;
    },
  };
}

const answerWidth = Math.max(...outcomes.map((row) => answerText(row).length));
const pathIdWidth = Math.max(...outcomes.map(({ path }) => path.length));
const pathWidth = "/v1/relying-party/me".length;

/**
 * A request as one line: time on the sandbox's clock, method, path, answer, path id, milliseconds, key.
 *
 * The key is its ref, the fingerprint of one that the scenario does not have, or `-`. A fault that delayed the answer
 * follows, and the advice that the request earned. Verbose adds the request id.
 */
export function requestLine(entry: JournalEntry, palette: Palette, verbose = false): string {
  const { at, method, path, status, pathId, fault, key, fingerprint, advice, durationMs } = entry;
  // Without fractions of a second: the order of the lines says what they would.
  const time = `${new Date(at).toISOString().slice(0, 19)}Z`;
  return [
    palette.dim(time),
    escapeControls(method).padEnd(4),
    escapeControls(path).padEnd(pathWidth),
    paintStatus(palette, status)(answerText(entry).padEnd(answerWidth)),
    pathId.padEnd(pathIdWidth),
    palette.dim(`${durationMs.toFixed(1)} ms`.padStart(7)),
    key ?? fingerprint ?? "-",
    // A fault that only delays the answer; any other is the path itself.
    ...(fault === null || fault === pathId ? [] : [palette.dim(fault)]),
    ...advice.map((id) => paintAdvice(palette, id)),
    ...(verbose ? [palette.dim(entry.id)] : []),
  ].join("  ");
}

function paintAdvice({ red, yellow, dim }: Palette, id: AdviceId): string {
  return { error: red, warning: yellow, note: dim }[adviceOf(id).level](id);
}
