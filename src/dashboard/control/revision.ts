import { batch, computed, effect, signal } from "@preact/signals";
import { type ControlError, call, needsToken, ownChanges } from "./call.js";

/** Differs once anything that the page shows may have changed; `undefined` while that is unknown. */
export const revision = signal<string | undefined>(undefined);

const problem = signal<ControlError | undefined>(undefined);

/** Whether the page is up to date: `waiting` at first, and while the sandbox does not respond. */
export const connection = computed(() => (revision.value === undefined ? "waiting" : "open"));

/** Whether the sandbox has stopped responding, so that no button can call it. */
export const isOffline = computed(() => problem.value !== undefined);

const isGone = computed(() => problem.value?.code.endsWith("not_found") === true);

/** Why the server has no sandbox at this address; `undefined` while it has one. */
export const whyGone = computed(() => (isGone.value ? gone : undefined));

/** Why the page is not up to date, as a sentence: no response, or the reason of a server that rejects every request. */
export const whyOffline = computed(() => whyGone.value ?? problem.value?.message);

const gone = "This address no longer has a sandbox.";

/** In milliseconds, between two questions. */
const pause = 700;

/** In milliseconds. Each pause after a failure is twice as long as the one before. */
const [firstPause, longestPause] = [1000, 30_000];

/** In milliseconds, until a server without a response hangs or is unreachable. */
const longestSilence = 10_000;

/** Keeps `revision` up to date while the page is visible. */
export function followRevision(): void {
  // Runs again when a token is entered.
  effect(() => {
    if (!needsToken.value) void keepAsking();
  });
}

async function keepAsking(): Promise<void> {
  for (let wait = pause; !needsToken.peek(); ) {
    await visible();
    const changes = ownChanges.peek();
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), longestSilence);
    try {
      const next = await call<string>("/revision", { signal: late.signal });
      batch(() => {
        problem.value = undefined;
        revision.value = next;
      });
      wait = pause;
    } catch (error) {
      batch(() => {
        // The same revision is news after a failure, because a reading may have failed as well.
        revision.value = undefined;
        problem.value = needsToken.peek() ? undefined : (error as ControlError);
      });
      wait = Math.min(longestPause, Math.max(firstPause, wait * 2));
    }
    clearTimeout(timer);
    if (changes === ownChanges.peek() && !needsToken.peek()) await sleep(wait);
  }
}

async function visible(): Promise<void> {
  while (document.hidden)
    await new Promise((resolve) => document.addEventListener("visibilitychange", resolve, { once: true }));
}

/** Ends early when somebody comes back to the page or changes something there, or asks for it by `tryNow`. */
function sleep(milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    const over = new AbortController();
    const end = () => {
      clearTimeout(timer);
      over.abort();
      stop();
      resolve();
    };
    const timer = setTimeout(end, milliseconds);
    const changes = ownChanges.peek();
    const stop = ownChanges.subscribe((now) => now !== changes && end());
    for (const name of ["focus", "online", "try-now"]) addEventListener(name, end, { signal: over.signal });
    document.addEventListener("visibilitychange", end, { signal: over.signal });
  });
}

export const tryNow = () => dispatchEvent(new Event("try-now"));
