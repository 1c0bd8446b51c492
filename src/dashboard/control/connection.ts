import { Shared } from "./shared.js";

// What the page knows of its connection to the sandbox.

/** A text that is another one once anything that the page shows may have changed; `undefined` while that is unknown. */
export const revision = new Shared<string | undefined>(undefined);

/** Why the page is not up to date, as a sentence; `undefined` if it is, or if another part of the page says why. */
export const whyOffline = new Shared<string | undefined>(undefined);

/** The number of calls of this page that may have changed something. */
export const ownChanges = new Shared(0);

/** Shows that the page is up to date with a revision. */
export function connect(current: string): void {
  revision.value = current;
  whyOffline.value = undefined;
}

/** Shows that the page is not up to date. The same revision is then news as well, because a reading may have failed. */
export function disconnect(why: string | undefined): void {
  revision.value = undefined;
  whyOffline.value = why;
}
