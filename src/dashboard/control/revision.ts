import { type ControlError, call } from "./call.js";
import { connect, disconnect, ownChanges } from "./connection.js";
import { needsToken } from "./token.js";

/** The milliseconds between two questions. */
const pauseMs = 1000;

/** After this many milliseconds, a server without a response hangs or is unreachable. */
const longestSilenceMs = 10_000;

/** Ends the present sleep. */
let wake = () => {};

/** Keeps the connection up to date while the page is visible. */
export function followRevision(): void {
  document.addEventListener("visibilitychange", () => wake());
  ownChanges.subscribe(() => wake());
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
      connect(await call<string>("/revision", { signal: silence.signal }));
    } catch (error) {
      // The form for the token says why.
      disconnect(needsToken.value ? undefined : (error as ControlError).message);
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
    wake = resolve;
    if (mostMs !== undefined) setTimeout(resolve, mostMs);
  });
}
