import { resolve } from "node:path";
import { captureText } from "../../library/capture.js";
import { writeReportFile } from "../../node/files/write-file.js";
import { pluralize } from "../../report/plain-text.js";
import { SandboxError } from "../../rules/errors.js";
import { listed } from "../../rules/schema/words.js";
import { runDue } from "../../sandbox/operations/operations.js";
import type { SandboxState } from "../../sandbox/sandbox.js";
import { freeRefIn, refOfName } from "../../scenario/format/fields.js";
import type { SandboxPlace } from "../../store/store.js";
import { describeFailure, unwritable } from "../exit-codes.js";
import type { Io } from "../io.js";

/** `capture.yaml` of the server's sandbox, and `capture-<instance>.yaml` of each instance. */
export async function writeCaptures(
  folder: string,
  sandboxes: readonly SandboxPlace[],
  { io, flags: { quiet = false } }: { readonly io: Io; readonly flags: { readonly quiet?: boolean } },
): Promise<void> {
  const written = new Set<string>();
  const why = new Set<string>();
  try {
    for (const { sandbox, instance } of sandboxes) {
      const name = instance === undefined ? "capture" : `capture-${refOfName(instance)}`;
      const text = textOf(sandbox, why);
      if (text === undefined) continue;
      const file = freeRefIn((taken) => written.has(taken), name);
      await writeReportFile(resolve(io.cwd, folder, `${file}.yaml`), text).catch(
        unwritable(JSON.stringify(folder)),
      );
      written.add(file);
    }
  } catch (error) {
    io.stderr.say(describeFailure(error, {}));
  }
  if (quiet) return;
  const files = [...written].map((file) => `${file}.yaml`);
  const shown = files.length > 3 ? [...files.slice(0, 3), pluralize(files.length - 3, "more file")] : files;
  for (const one of written.size === 0 ? why : []) io.stderr.say(`${one}\n`);
  if (written.size > 0) io.stderr.say(`The sandbox's captures are in ${folder}: ${listed(shown, "and")}.\n`);
}

function textOf(sandbox: SandboxState, why: Set<string>): string | undefined {
  try {
    return captureText(runDue(sandbox));
  } catch (error) {
    if (!(error instanceof SandboxError)) throw error;
    why.add(error.message);
    return undefined;
  }
}
