import { redactKeys } from "../domain/redact.js";
import type { JsonLog } from "../node/log.js";
import type { StepEvent } from "../sandbox/events.js";
import type { JournalEntry } from "../sandbox/journal.js";
import type { Runtime } from "../sandbox/runtime.js";
import type { Flags } from "./flags.js";
import { happenedText } from "./happened-text.js";
import type { Io } from "./io.js";
import { paletteFor } from "./palette.js";
import { requestText } from "./request-text.js";

/** What a running command says while it runs, all of it on stderr. */
export interface Log {
  /** Left out when requests are not logged. */
  readonly request?: (entry: JournalEntry) => void;
  /** A step of the timeline or the story; left out when requests are not logged. */
  readonly step?: (event: StepEvent) => void;
  /** Something good to know; not with `--quiet`. */
  readonly note: (message: string) => void;
  /** Something that went wrong; always. */
  readonly problem: (message: string) => void;
  /** Resolves once everything said so far is written. */
  readonly written: () => Promise<void>;
}

/** Makes the log that the flags ask for. */
export function createLog(flags: Flags, io: Io): Log {
  const { log = "pretty", quiet = false, verbose = false } = flags;
  const said = log === "json" ? jsonLog(io) : textLog(io, verbose);
  const { request, step, ...rest } = said;
  return {
    ...rest,
    ...(log !== "off" && !quiet && { request, step }),
    note: quiet ? () => {} : said.note,
  };
}

// Without a log nobody listens, and what nobody hears need not be put together with every request.
/** Logs the requests to a runtime and the steps of its timeline and story, if requests are logged. */
export function logEvents(runtime: Runtime, { request: logRequest, step: logStep }: Log): void {
  if (logRequest === undefined) return;
  runtime.subscribe((event) => {
    if (event.type === "request") logRequest(event.request);
    else if (event.type === "timeline.step" || event.type === "story.step") logStep?.(event);
  });
}

function textLog(io: Io, verbose: boolean): Required<Log> {
  const palette = paletteFor(io.stderr, io.env);
  const write = (message: string) => io.stderr.write(`${redactKeys(message).trimEnd()}\n`);
  return {
    request: (entry) => io.stderr.write(`${requestText(entry, palette, verbose)}\n`),
    step: ({ details }) => write(happenedText(details, palette)),
    note: write,
    problem: (message) => write(palette.red(message)),
    written: () => Promise.resolve(),
  };
}

// The library that writes JSON lines is loaded with the first of them: nothing waits for it before.
function jsonLog(io: Io): Required<Log> {
  let queue: Promise<JsonLog> | undefined;
  const say = (line: (log: JsonLog) => void) => {
    queue ??= import("../node/log.js").then(({ createJsonLog }) =>
      createJsonLog((text) => io.stderr.write(text)),
    );
    queue = queue.then((log) => {
      line(log);
      return log;
    });
  };
  return {
    request: (entry) => say((log) => log.request(entry)),
    step: (event) => say((log) => log.step(event)),
    note: (message) => say((log) => log.note(message)),
    problem: (message) => say((log) => log.problem(message)),
    written: async () => {
      await queue;
    },
  };
}
