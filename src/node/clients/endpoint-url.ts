import { me } from "../../api/endpoints/me.js";
import { SandboxError } from "../../domain/errors.js";

/** Reads a URL of HTTP or HTTPS without a name or a password in it; `undefined` for anything else. */
export function readHttpUrl(text: string): URL | undefined {
  const url = URL.canParse(text.trim()) ? new URL(text.trim()) : undefined;
  const isHttp = url?.protocol === "http:" || url?.protocol === "https:";
  return isHttp && url.username === "" && url.password === "" ? url : undefined;
}

/**
 * Returns the URL of the endpoint under a base URL, which may have a path and a slash at its end.
 *
 * Throws `usage` for anything else, without repeating it: it may hold a password or a key.
 */
export function endpointUnder(base: string): URL {
  const url = readHttpUrl(base);
  if (url === undefined || url.search !== "" || url.hash !== "") {
    throw new SandboxError(
      "usage",
      "Failed to read the base URL: it has to begin with http: or https: and to have no password, query or fragment. Give one such as https://api.example; keys come from SVC_KEY_<REF> variables.",
    );
  }
  const path = url.pathname.replace(/\/+$/, "");
  url.pathname = path.endsWith(me.path) ? path : path + me.path;
  return url;
}
