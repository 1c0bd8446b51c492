import { type ControlError, call, needsToken, ownChanges, whyOffline } from "./call.js";
import { Shared } from "./shared.js";

/** A text that is another one once anything that the page shows may have changed; `undefined` while that is unknown. */
export const revision = new Shared<string | undefined>(undefined);

/** The milliseconds between two questions. */
const pauseMs = 1000;

/** After this many milliseconds, a server without a response hangs or is unreachable. */
const longestSilenceMs = 10_000;

/** Ends the present sleep. */
let wake = () => {};

/** Keeps `revision` up to date while the page is visible. */
export function followRevision(): void {
  document.addEventListener("visibilitychange", () => wake());
  ownChanges.subscribe(() => wake());
  whyOffline.subscribe(() => {
    // The same revision is news after a failure, because a reading may have failed as well.
    if (whyOffline.value !== undefined) revision.value = undefined;
  });
  // Starts again when a token is entered.
  needsToken.subscribe(keepAsking);
  void keepAsking();
}

async function keepAsking(): Promise<void> {
  while (!needsToken.value) {
    // Nobody sees a hidden page.
    while (document.hidden) await sleepUntilWoken();

    const changesBefore = ownChanges.value;
    const silence = new AbortController();
    const timer = setTimeout(() => silence.abort(), longestSilenceMs);
    try {
      revision.value = await call<string>("/revision", { signal: silence.signal });
      whyOffline.value = undefined;
    } catch (error) {
      revision.value = undefined;
      // The form for the token says why.
      whyOffline.value = needsToken.value ? undefined : (error as ControlError).message;
    }
    clearTimeout(timer);

    // A revision from before a change that this page has just made is old: it asks again immediately.
    const isCurrent = changesBefore === ownChanges.value;
    if (isCurrent && !needsToken.value) await sleepUntilWoken(pauseMs);
  }
}

/** Sleeps until somebody comes back to the page or changes something there, at most for this time. */
function sleepUntilWoken(mostMs?: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = mostMs && setTimeout(resolve, mostMs);
    wake = () => {
      clearTimeout(timer);
      resolve();
    };
  });
}
