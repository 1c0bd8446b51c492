import { resolve } from "node:path";
import { openFileLog } from "../../log/file/file-log.js";
import type { Log } from "../../log/log.js";
import { listed, quote } from "../../spec/schema/words.js";
import type { CommandCall } from "../command.js";
import { givenFlags, startNamed } from "../open-scenario.js";
import { type KeepingFlags, type LogContext, readImport } from "./keeping.js";

/** Continues the sandbox of a file, or starts one, and notes which. */
export async function openNamedState(
  name: string,
  { flags, io }: CommandCall<KeepingFlags>,
  { own, logger, onProblem }: LogContext,
): Promise<Log> {
  const given = givenFlags(flags, own());
  const { maxInstances, instanceTtl, maxMemory } = flags;
  const log = await openFileLog(
    { file: resolve(io.cwd, name), given: name },
    {
      own,
      start: () => startNamed(own(), flags),
      given,
      onProblem,
      maxInstances,
      instanceTtl,
      maxMemory,
      imported: await readImport(flags, io),
    },
  );
  if (log.note !== "") logger.note(log.note);
  if (log.savedAt !== undefined) {
    const ignored = Object.entries(given).flatMap(([flag, value]) =>
      value === undefined ? [] : `--${flag}`,
    );
    const wins =
      ignored.length === 0 ? "" : ` It overrides ${listed(ignored, "and")}; remove it to start again.`;
    logger.note(
      `Continuing from ${quote(flags.import ?? name)}, saved ${new Date(log.savedAt).toISOString()}.${wins}`,
    );
  }
  return log;
}
