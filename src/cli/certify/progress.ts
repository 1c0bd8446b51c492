import type { Progress } from "../../certify/certification.js";
import { stopwatch } from "../../library/real-time.js";
import { alignColumns, pluralize } from "../../report/plain-text.js";
import type { CommandCall } from "../command.js";
import { styleFor, tell } from "../terminal.js";

interface Bar {
  /** Infinity if unknown. */
  readonly total: number;
  readonly started: number;
  done: number;
  failed: number;
}

const barWidth = 24;

/** Shows the progress of a certification: on a terminal a bar with the remaining time, otherwise a line for each run. */
export function createProgress({
  io,
  flags,
}: Pick<CommandCall<{ color?: boolean; quiet?: boolean }>, "io" | "flags">): Progress {
  const { palette, isTerminal } = styleFor(io.stderr, io.env, flags);
  let attempts = 0;
  let bar: Bar | undefined;
  const write = (text: string) => {
    if (flags.quiet !== true) tell(io.stderr, text);
  };
  const end = () => {
    if (bar !== undefined) write("\n");
    bar = undefined;
  };
  const draw = () => {
    if (bar === undefined) return;
    const { done, total, failed, started } = bar;
    const signs = Math.round((barWidth * Math.min(done, total)) / total);
    const left = Math.ceil(((stopwatch() - started) * (total - done)) / Math.max(done, 1) / 1000);
    const words = [
      total === Number.POSITIVE_INFINITY ? `${done} attempts` : `${done} of ${total}`,
      ...(failed === 0 ? [] : [palette.red(`${failed} failed`)]),
      ...(done > 0 && total > done && Number.isFinite(left) ? [`about ${left} s left`] : []),
    ];
    const filled = (failed === 0 ? palette.green : palette.red)("■".repeat(signs));
    write(`\r${filled}${palette.dim("·".repeat(barWidth - signs))} ${words.join(", ")}\u001b[K`);
  };
  const step = (isFailed = false) => {
    if (bar === undefined) return;
    bar.done += 1;
    if (isFailed) bar.failed += 1;
    draw();
  };
  const line = (...cells: string[]) => write(`${alignColumns([cells]).join("")}\n`);
  return {
    begin(what: string, total = Number.POSITIVE_INFINITY) {
      end();
      write(`${what}\n`);
      attempts = 0;
      if (isTerminal) bar = { total, done: 0, failed: 0, started: stopwatch() };
      draw();
    },
    ran({ name, outcome, durationMs, requests }) {
      if (isTerminal) return step(outcome !== "passed");
      const seconds = `${(durationMs / 1000).toFixed(1)} s`.padStart(7);
      line(outcome.replace("_", " ").padEnd(9), name.padEnd(15), seconds, pluralize(requests, "request"));
    },
    broke({ id, outcome, durationMs }) {
      if (isTerminal) return step(outcome === "not_noticed");
      line(outcome.replace("_", " ").padEnd(11), id, `${(durationMs / 1000).toFixed(1)} s`);
    },
    tried() {
      attempts += 1;
      step();
      if (!isTerminal && attempts % 10 === 0) write(`${attempts} attempts\n`);
    },
    found({ name, outcome, cause }) {
      if (!isTerminal) write(`${name} ${outcome === "flaky" ? "is flaky" : (cause?.sentence ?? outcome)}.\n`);
    },
    end,
  };
}
