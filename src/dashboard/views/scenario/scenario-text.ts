import { computed, effect, signal, untracked } from "@preact/signals";
import { type ControlError, call, fetchControl } from "../../control/call.js";
import { health } from "../../control/resources.js";
import type { Shown } from "../../control/responses.js";
import { revision } from "../../control/revision.js";

// This state outlasts the view, so a visit to another view keeps the edits.

/** A problem of the text, as in `svc-sandbox validate`. */
export type Problem = Shown<"Validation">["problems"][number];

/** The running scenario; `undefined` until it is read. Its pinned keys are hidden. */
export const runningText = signal<string | undefined>(undefined);

/** The text in the editor. */
export const draft = signal("");

/** The text without edits, and what was running when it was shown or applied. */
const base = signal({ text: "", running: "" });

export const isEdited = computed(() => draft.value !== base.value.text);

/** Whether another scenario was started elsewhere while there are edits. */
export const isChangedElsewhere = computed(() => isEdited.value && runningText.value !== base.value.running);

interface Checked {
  readonly text: string;
  readonly problems: readonly Problem[];
  /** Why the text could not be checked. */
  readonly failure?: ControlError;
}

const checked = signal<Checked | undefined>(undefined);

/** The check of the text in the editor; `undefined` until it is checked. */
export const check = computed(() => (checked.value?.text === draft.value ? checked.value : undefined));

const rejected = signal<{ readonly text: string; readonly why: ControlError } | undefined>(undefined);

/** Why the text in the editor was not applied. An edit ends it. */
export const rejection = computed(() =>
  rejected.value?.text === draft.value ? rejected.value.why : undefined,
);

/** The scenario that this page replaced last, to bring it back. */
export const replaced = signal<{ readonly name: string; readonly text: string } | undefined>(undefined);

/** Whether a text lacks the pinned keys of its scenario. */
export const hidesKeys = (written: string) => written.includes("_…");

let isStarting = false;

/** Reads the running scenario, and keeps it up to date, until the returned function is called. Edits keep their text. */
export function followScenario(): () => void {
  const read = () => void readRunning().catch(() => {});
  return effect(() => {
    if (revision.value !== undefined) untracked(read);
  });
}

const readText = async () => (await fetchControl("/scenario")).text();

async function readRunning(): Promise<void> {
  if (isStarting) return;
  if (checked.peek()?.failure !== undefined) void checkText();
  const read = await readText();
  if (isStarting || read === runningText.peek()) return;
  runningText.value = read;
  if (!isEdited.peek()) showRunning();
}

/** Shows the running scenario; edits are lost. */
export function showRunning(): void {
  const shown = runningText.peek() ?? "";
  base.value = { text: shown, running: shown };
  edit(shown);
}

let timer: ReturnType<typeof setTimeout> | undefined;
const pauseBeforeCheck = 400;

export function edit(to: string): void {
  draft.value = to;
  clearTimeout(timer);
  timer = setTimeout(checkText, pauseBeforeCheck);
}

async function checkText(): Promise<void> {
  const yaml = draft.peek();
  const result = await call<Shown<"Validation">>("/scenario/validate", { method: "POST", yaml }).catch(
    (failure: ControlError) => ({ problems: [], failure }),
  );
  if (yaml === draft.peek()) checked.value = { text: yaml, ...result };
}

/** Starts the scenario in the editor. A rejection changes neither the sandbox nor the text. */
export async function apply(): Promise<void> {
  const yaml = draft.peek();
  try {
    await start({ yaml });
    base.value = { text: yaml, running: runningText.peek() ?? "" };
  } catch (error) {
    rejected.value = { text: yaml, why: error as ControlError };
    await checkText();
  }
}

/** Starts and shows a bundled scenario; edits are lost. */
export async function loadBundled(name: string): Promise<void> {
  await start({ body: { name } });
  showRunning();
}

/** Starts the scenario again that this page has replaced. */
export async function bringBack(): Promise<void> {
  const { name, text: yaml } = replaced.peek() ?? { name: "", text: "" };
  const bundled = await call<readonly Shown<"Scenario">[]>("/scenarios");
  await start(bundled.some((one) => one.name === name) ? { body: { name } } : { yaml });
  replaced.value = undefined;
  showRunning();
}

async function start(what: { readonly yaml: string } | { readonly body: object }): Promise<void> {
  const before = { name: health.data.peek()?.scenario ?? "", text: await readText() };
  isStarting = true;
  try {
    await fetchControl("/scenario", { method: "PUT", ...what });
    replaced.value = before;
    runningText.value = await readText();
  } finally {
    isStarting = false;
  }
}
