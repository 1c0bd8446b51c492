import type { Run, RunOutcome } from "../../certify/result.js";
import { alignColumns, pluralize } from "../../report/plain-text.js";
import type { Call } from "../command.js";
import { styleFor } from "../terminal.js";

/** Says how far certifying has come: on a terminal a bar that grows, elsewhere a line for each run. */
export interface Progress {
  readonly begin: (what: string) => void;
  readonly ran: (run: Run) => void;
  /** One more attempt to narrow something down. */
  readonly tried: () => void;
  readonly found: (run: Run) => void;
  /** Ends the bar. */
  readonly end: () => void;
}

export function createProgress({
  io,
  flags,
}: Pick<Call<{ color?: boolean; quiet?: boolean }>, "io" | "flags">): Progress {
  const { palette, isTerminal } = styleFor(io.stderr, io.env, flags);
  const paint: Readonly<Record<RunOutcome, (text: string) => string>> = {
    passed: palette.green,
    failed: palette.red,
    timed_out: palette.red,
    flaky: palette.yellow,
    not_run: palette.dim,
  };
  let isOpen = false;
  const write = (text: string) => {
    if (flags.quiet !== true) io.stderr.write(text);
  };
  const end = () => {
    if (isOpen) write("\n");
    isOpen = false;
  };
  const line = (...cells: string[]) => write(`${alignColumns([cells]).join("")}\n`);
  return {
    begin(what) {
      end();
      isOpen = isTerminal;
      write(isTerminal ? `${what}  ` : `${what}\n`);
    },
    ran(run) {
      const { name, outcome, durationMs, requests } = run;
      if (isTerminal)
        return write(paint[outcome](outcome === "passed" ? "■" : outcome === "flaky" ? "?" : "✗"));
      const seconds = `${(durationMs / 1000).toFixed(1)} s`.padStart(7);
      line(outcome.replace("_", " ").padEnd(9), name.padEnd(15), seconds, pluralize(requests, "request"));
    },
    tried: () => void (isTerminal && write(palette.dim("·"))),
    found({ name, outcome, cause }) {
      if (!isTerminal) write(`${name} ${outcome === "flaky" ? "is flaky" : (cause?.sentence ?? outcome)}.\n`);
    },
    end,
  };
}
