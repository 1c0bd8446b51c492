import { decoded } from "./route.js";
import { Shared } from "./shared.js";

// The control token of this tab. Each control plane has its own.

const tokenName = `svc-sandbox token ${new URL("./", document.baseURI).pathname}`;

/** The token of this tab; `null` without one. */
export const storedToken = () => sessionStorage.getItem(tokenName);

/** Whether the control plane requires a token that the page does not have. */
export const needsToken = new Shared(false);

/** Stores the token for this tab. Calls that require it are retried. */
export function storeToken(token: string): void {
  sessionStorage.setItem(tokenName, token);
  needsToken.value = false;
}

/** Moves the token from the address to this tab. The printed link has `#token=…`, or `#token=…&/story` for a view. */
export function takeToken(): void {
  const match = /^#token=([^&]+)&?(.*)$/.exec(location.hash);
  if (match === null) return;
  const [, token = "", view = ""] = match;
  history.replaceState(null, "", `${location.pathname}${location.search}#${view}`);
  storeToken(decoded(token));
  dispatchEvent(new Event("hashchange"));
}
