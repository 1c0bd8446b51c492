import { type ControlError, call, needsToken, ownChanges, whyOffline } from "./call.js";
import { Shared } from "./shared.js";

/** Differs once anything that the page shows may have changed; `undefined` while that is unknown. */
export const revision = new Shared<string | undefined>(undefined);

/** The milliseconds between two questions. */
const pause = 1000;

/** After this many milliseconds, a server without a response hangs or is unreachable. */
const longestSilence = 10_000;

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
    while (document.hidden) await sleep();

    const changesBefore = ownChanges.value;
    const silence = new AbortController();
    const timer = setTimeout(() => silence.abort(), longestSilence);
    try {
      revision.value = await call<string>("/revision", { signal: silence.signal });
      whyOffline.value = undefined;
    } catch (error) {
      revision.value = undefined;
      // The form for the token says why.
      whyOffline.value = needsToken.value ? undefined : (error as ControlError).message;
    }
    clearTimeout(timer);

    // The revision may be from before a change that this page has made in the meantime.
    const isCurrent = changesBefore === ownChanges.value;
    if (isCurrent && !needsToken.value) await sleep(pause);
  }
}

/** Ends early when somebody comes back to the page or changes something there; only then without a number. */
function sleep(milliseconds?: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = milliseconds && setTimeout(resolve, milliseconds);
    wake = () => {
      clearTimeout(timer);
      resolve();
    };
  });
}
