import type { PromiseRun, Run, RunOutcome } from "../../certify/result.js";
import { alignColumns, pluralize } from "../../report/plain-text.js";
import type { Call } from "../command.js";
import { tell } from "../tell.js";
import { styleFor } from "../terminal.js";

export type Progress = ReturnType<typeof createProgress>;

/** Shows the progress of certifying: a bar that grows on a terminal, or a line for each run. */
export function createProgress({
  io,
  flags,
}: Pick<Call<{ color?: boolean; quiet?: boolean }>, "io" | "flags">) {
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
    if (flags.quiet !== true) tell(io.stderr, text);
  };
  const end = () => {
    if (isOpen) write("\n");
    isOpen = false;
  };
  const paintOf = {
    noticed: palette.green,
    not_noticed: palette.red,
    not_tried: palette.dim,
    not_run: palette.dim,
  };
  const line = (...cells: string[]) => write(`${alignColumns([cells]).join("")}\n`);
  return {
    begin(what: string) {
      end();
      isOpen = isTerminal;
      write(`${what}\n`);
    },
    ran(run: Run) {
      const { name, outcome, durationMs, requests } = run;
      if (isTerminal)
        return write(paint[outcome](outcome === "passed" ? "■" : outcome === "flaky" ? "?" : "✗"));
      const seconds = `${(durationMs / 1000).toFixed(1)} s`.padStart(7);
      line(outcome.replace("_", " ").padEnd(9), name.padEnd(15), seconds, pluralize(requests, "request"));
    },
    broke({ id, outcome, durationMs }: PromiseRun) {
      if (isTerminal) return write(paintOf[outcome](outcome === "not_noticed" ? "✗" : "■"));
      line(outcome.replace("_", " ").padEnd(11), id, `${(durationMs / 1000).toFixed(1)} s`);
    },
    /** One more attempt to narrow something down. */
    tried: () => void (isTerminal && write(palette.dim("·"))),
    found({ name, outcome, cause }: Run) {
      if (!isTerminal) write(`${name} ${outcome === "flaky" ? "is flaky" : (cause?.sentence ?? outcome)}.\n`);
    },
    /** Ends the bar. */
    end,
  };
}
