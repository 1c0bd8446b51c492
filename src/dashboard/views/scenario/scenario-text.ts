import { signal } from "@preact/signals";
import { type ControlError, call, fetchControl, listen } from "../../control/call.js";
import type { Shown } from "../../control/responses.js";
import { saveFile } from "../../elements/save-file.js";
import type { Editor } from "./editor.js";
import type { Problem } from "./problem.js";

// This state outlasts the view, so a visit to another view keeps the edits.

/** The text without edits; `undefined` until it is read. */
export const base = signal<string | undefined>(undefined);
/** Whether there are edits that were not applied. */
export const isEdited = signal(false);
/** The problems of the text in the editor; `undefined` during the check. */
export const problems = signal<readonly Problem[] | undefined>(undefined);
/** Why the text could not be checked. */
export const checkProblem = signal<ControlError | undefined>(undefined);
/** Whether another scenario was started elsewhere while there are edits. */
export const isChangedElsewhere = signal(false);
/** A message about the last action. */
export const lastDone = signal("");

let draft: string | undefined;
let running: string | undefined;
let editor: Editor | undefined;
// The number of starts by this page whose events have not arrived yet.
let ownStarts = 0;

export function textToEdit(): string {
  return draft ?? base.peek() ?? "";
}

/** Uses an editor until the returned function is called. */
export function useEditor(opened: Editor): () => void {
  editor = opened;
  void check();
  return () => {
    draft = isEdited.peek() ? opened.text() : undefined;
    editor = undefined;
    clearTimeout(timer);
    opened.close();
  };
}

/** Follows the running scenario until the returned function is called. Edits keep their text. */
export function followScenario(): () => void {
  void readRunning().catch(() => {});
  return listen((events) => {
    let isNews = false;
    for (const { type } of events) {
      if (type === "gap") isNews = true;
      if (type !== "world.started") continue;
      if (ownStarts > 0) ownStarts -= 1;
      else isNews = true;
    }
    // Every connection starts with a gap, so the next connection repeats a failed reading.
    if (isNews) void readRunning().catch(() => {});
    if (isNews && checkProblem.peek() !== undefined) void check();
  });
}

async function readScenario(): Promise<string> {
  return (await fetchControl("/scenario")).text();
}

async function readRunning(): Promise<void> {
  const text = await readScenario();
  if (text === running) return;
  const isFirst = running === undefined;
  running = text;
  if (isEdited.peek()) isChangedElsewhere.value = !isFirst;
  else show(text);
}

/** Shows a text without edits in the editor. */
function show(text: string): void {
  base.value = text;
  draft = undefined;
  isChangedElsewhere.value = false;
  if (editor?.text() !== text) editor?.replace(text);
  isEdited.value = false;
}

let timer: ReturnType<typeof setTimeout> | undefined;
const pauseBeforeCheck = 400;

export function textChanged(): void {
  isEdited.value = editor?.text() !== base.peek();
  lastDone.value = "";
  problems.value = undefined;
  clearTimeout(timer);
  timer = setTimeout(check, pauseBeforeCheck);
}

let checking = new AbortController();

async function check(): Promise<void> {
  const checked = editor;
  if (checked === undefined) return;
  checking.abort();
  checking = new AbortController();
  const { signal: until } = checking;
  try {
    const response = await call<Shown<"Validation">>("/scenario/validate", {
      method: "POST",
      yaml: checked.text(),
      signal: until,
    });
    if (until.aborted || checked !== editor) return;
    problems.value = response.problems;
    checkProblem.value = undefined;
    checked.show(response.problems);
  } catch (error) {
    if (!until.aborted) checkProblem.value = error as ControlError;
  }
}

/** Starts the scenario in the editor. A rejection changes neither the sandbox nor the text. */
export async function apply(): Promise<void> {
  if (editor === undefined) return;
  const text = editor.text();
  await start({ yaml: text });
  base.value = text;
  isEdited.value = editor?.text() !== text;
  isChangedElsewhere.value = false;
  lastDone.value = "Applied: the sandbox restarted with this scenario.";
  running = await readScenario();
}

/** Starts and shows a bundled scenario; edits are lost. */
export async function loadBundled(name: string): Promise<void> {
  await start({ body: { name } });
  running = await readScenario();
  show(running);
  lastDone.value = `Loaded: the sandbox restarted with ${name}.`;
}

async function start(what: { readonly yaml: string } | { readonly body: object }): Promise<void> {
  ownStarts += 1;
  try {
    await fetchControl("/scenario", { method: "PUT", ...what });
  } catch (error) {
    ownStarts -= 1;
    throw error;
  }
}

/** Reverts all edits in one undoable step. */
export function revert(): void {
  editor?.replace(base.peek() ?? "");
}

export function showRunning(): void {
  if (running !== undefined) show(running);
}

export function goTo({ line, column }: Problem): void {
  if (line !== null && column !== null) editor?.goTo(line, column);
}

export function download(name: string): void {
  saveFile(new Blob([editor?.text() ?? ""], { type: "application/yaml" }), name, "yaml");
}
