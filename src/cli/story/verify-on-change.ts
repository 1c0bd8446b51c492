import { statSync } from "node:fs";
import { resolve } from "node:path";
import { isScenarioName } from "../../scenario/bundled.js";
import type { Call } from "../command.js";
import { describeFailure, exitCode } from "../exit-codes.js";
import { aborted } from "../io.js";
import { createLog, type LogFlags } from "../serve/log.js";

/** The outcome of verifying some scenarios. */
export interface Verified {
  readonly exitCode: number;
  /** The files that it depends on, those that are broken or missing included; absolute. */
  readonly files: readonly string[];
}

/** Verifies the scenarios, and again whenever one of their files changes, until it is stopped. */
export async function verifyOnChange(
  names: readonly string[],
  { flags, io }: Call<LogFlags>,
  verify: () => Promise<Verified>,
): Promise<number> {
  const stop = io.stopSignal();
  const log = createLog(flags, io);
  const named = names.filter((name) => !isScenarioName(name)).map((name) => resolve(io.cwd, name));
  if (named.length === 0) {
    log.note(
      "Nothing to watch: these scenarios are bundled. Copy one with `svc-sandbox show <name> > my.yaml`.",
    );
    return (await verify()).exitCode;
  }
  let stamps = stampsOf(named);
  const run = async () => {
    // Looked at before they are read, so that what is written meanwhile is not missed.
    const before = stampsOf([...stamps.keys()]);
    const { files } = await verify();
    stamps = new Map([...stampsOf(files), ...before].filter(([file]) => files.includes(file)));
    return files;
  };
  const again = async () => {
    // The watch also reports its beginning.
    if (isUnchanged(stamps) || stop.aborted) return;
    const before = [...stamps.keys()].sort().join("\n");
    const files = await run();
    if ([...files].sort().join("\n") !== before) await watching.follow(files);
    waits();
  };
  const waits = () => log.note(`Waiting for changes of ${names.join(", ")}. Ctrl-C ends.`);

  const { createWatch } = await import("../../node/files/watch.js");
  // One after the other: the files may change again while they are read.
  let queue = Promise.resolve();
  const watching = createWatch(
    () => {
      queue = queue
        .then(again)
        .catch((error) => log.problem(describeFailure(error, { verbose: flags.verbose === true })));
    },
    (error) => log.problem(`Failed to watch: ${(error as Error).message}. Changes may go unseen.`),
  );
  await watching.follow(await run());
  waits();
  await aborted(stop);
  await watching.close();
  await queue;
  return exitCode.fine;
}

// A file that is written, comes or goes has another stamp.
function stampsOf(files: readonly string[]): Map<string, string> {
  return new Map(
    files.map((file) => {
      const stats = statSync(file, { throwIfNoEntry: false });
      return [file, stats === undefined ? "" : `${stats.mtimeMs} ${stats.size} ${stats.ino}`];
    }),
  );
}

function isUnchanged(stamps: ReadonlyMap<string, string>): boolean {
  return [...stampsOf([...stamps.keys()])].every(([file, stamp]) => stamps.get(file) === stamp);
}
