import { me } from "../../api/endpoints/me.js";
import { SandboxError } from "../../domain/errors.js";
import { redactEncoded } from "../../domain/redact.js";

/**
 * Returns the URL of the endpoint under a base URL, which may have a path and a slash at its end.
 *
 * Throws `usage` for anything else; passwords and keys in it are not repeated.
 */
export function endpointUnder(base: string): URL {
  const refuse = (found: string, hint: string) =>
    new SandboxError("usage", `Failed to read the base URL: ${found}. ${hint}`);
  const example = "Give one such as https://api.example or http://127.0.0.1:4747.";
  const url = URL.canParse(base.trim()) ? new URL(base.trim()) : undefined;
  if (url === undefined || url.host === "") {
    throw refuse(`${JSON.stringify(shortened(base))} is not a URL`, example);
  }
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    throw refuse(`it begins with ${url.protocol}`, `Only http: and https: can be checked. ${example}`);
  }
  if (url.username !== "" || url.password !== "") {
    throw refuse(
      "it has a name or a password in it",
      "Leave them out; keys come from SVC_KEY_<REF> variables.",
    );
  }
  if (url.search !== "" || url.hash !== "") {
    throw refuse("it has a query or a fragment", "Leave them out; the endpoint takes no parameters.");
  }
  if (url.pathname.replace(/\/+$/, "").endsWith(me.path)) {
    throw refuse(`it ends with ${me.path}`, "Leave that out: it is added.");
  }
  url.pathname = url.pathname.replace(/\/+$/, "") + me.path;
  return url;
}

function shortened(text: string): string {
  // The part before an @ may be a password.
  const shown = redactEncoded(text).replace(/\/\/[^/]*@/, "//…@");
  return shown.length > 60 ? `${shown.slice(0, 60)}…` : shown;
}
