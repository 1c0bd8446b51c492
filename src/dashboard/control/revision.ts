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
  needsToken.subscribe(() => wake());
  void keepAsking();
}

/** Asks for the revision again and again, as long as the page is open. */
async function keepAsking(): Promise<void> {
  for (;;) {
    // Nobody sees a hidden page, and nothing is returned until a token is entered.
    while (document.hidden || needsToken.value) await sleepUntilWoken();

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

    // After a change that this page has made in between, the revision is old: it asks again immediately.
    const hasChanged = changesBefore !== ownChanges.value;
    if (!hasChanged) await sleepUntilWoken(pauseMs);
  }
}

/** Sleeps until somebody comes back to the page, changes something there or enters a token, at most for this time. */
function sleepUntilWoken(mostMs?: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = mostMs && setTimeout(resolve, mostMs);
    wake = () => {
      clearTimeout(timer);
      resolve();
    };
  });
}
