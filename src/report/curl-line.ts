import { faultKindRow, isFault } from "../rules/fault-effects.js";
import { keyVariable } from "../rules/key-text.js";
import { shellWord } from "./shell-words.js";

/** A request that a user can send. */
export interface RequestToSend {
  /** Default: GET. */
  readonly method?: string | undefined;
  readonly path: string;
  /** The ref of the key; `none`, `malformed` or `unknown` if the sandbox does not have it. */
  readonly ref: string;
}

/** A request that ends on an outcome, as a command for a shell with the environment of clients. */
export function curlLine(sent: RequestToSend, curlOptions: string, outcome: string): string {
  const { ref, method, path } = sent;
  const words = ["curl"];
  if (curlOptions !== "") words.push(curlOptions);
  // Without a timeout, curl would wait forever.
  if (isFault(outcome) && faultKindRow(outcome).ends === "hang") words.push("-m 5");
  if (method === "HEAD") words.push("--head");
  else if (method !== undefined) words.push(`-X ${method}`);
  if (ref !== "none") words.push(`-H "x-api-key: $${keyVariable(ref)}"`);
  words.push(shellUrl(path));
  return words.join(" ");
}

/** The URL of a path, for a shell with the environment of clients. */
function shellUrl(path: string): string {
  // curl drops what is behind a `#`.
  const encoded = path.replaceAll("#", "%23");
  // Only these are plain in double quotes. curl resolves the segments `.` and `..`.
  const isPlain = /^[\w/.~:@%+,=?&;-]*$/.test(encoded);
  const hasDotSegment = /\/\.\.?(?:[/?]|$)/.test(encoded);
  if (isPlain && !hasDotSegment) return `"$SVC_BASE_URL${encoded}"`;
  return `--globoff --path-as-is "$SVC_BASE_URL"${shellWord(encoded)}`;
}
