import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { SandboxError } from "../domain/errors.js";
import { writeFailure } from "./files/write-file.js";
import { parseState, type SavedState, stateText, unreadableState } from "./state-format.js";

/** The place of a saved state. */
export interface StatePlace {
  /** Absolute. */
  readonly file: string;
  /** As it was given, for messages. */
  readonly given: string;
}

/** Reads a state; `undefined` when there is no such file. Throws `state_unreadable`. */
export function readState({ file, given }: StatePlace): SavedState | undefined {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw unreadableState(given, writeFailure(error));
  }
  return parseState(text, given);
}

/**
 * Writes a state atomically, readable by its owner alone: a reader sees the old state or the new one.
 *
 * It outlives a process that is killed at any time; a machine that loses power may lose the latest writes, since
 * waiting for the disk each time would take longer than everything else. Throws `state_unwritable`.
 */
export function writeState({ file, given }: StatePlace, state: SavedState, whatToDo: string): void {
  // Always the same name, so that processes which are killed do not leave a trail of drafts.
  const draft = `${file}.tmp`;
  try {
    rmSync(draft, { force: true });
    writeFileSync(draft, stateText(state), { mode: 0o600, flag: "wx" });
    renameSync(draft, file);
  } catch (error) {
    discard(draft);
    throw new SandboxError(
      "state_unwritable",
      `Failed to write the state to ${JSON.stringify(given)}: ${writeFailure(error)}. ${whatToDo}`,
    );
  }
}

function discard(draft: string): void {
  try {
    rmSync(draft, { force: true });
  } catch {
    // Where it cannot be removed it could not be made either.
  }
}
