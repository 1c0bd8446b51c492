/** The parts of an instruction in the report: preparation, shell command, and request. */
export interface HowToMeet {
  readonly words: string;
  readonly code: string | undefined;
  /** Another scenario that must run first. */
  readonly scenario: string | undefined;
  /** Whether the sandbox must be reset first. */
  readonly resets: boolean;
  /** The same request, for `POST /send`. */
  readonly request: SendableRequest | undefined;
}

/** A body of `POST /send`. */
export interface SendableRequest {
  readonly key: string;
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Splits an instruction of the report into its parts. */
export function howToMeet(text: string): HowToMeet {
  const cut = text.indexOf(": curl ");
  const words = cut === -1 ? text : text.slice(0, cut);
  const code = cut === -1 ? undefined : text.slice(cut + 2);
  return {
    words,
    code,
    scenario: /^start svc-sandbox (\S+?)(?:,| )/.exec(words)?.[1],
    resets: words.startsWith("reset the sandbox"),
    request: code === undefined ? undefined : requestIn(words, code),
  };
}

/** Shell words: in single quotes (with `'\''` for a quote), in double quotes, or bare. */
const shellWord = /'((?:[^']|'\\'')*)'|"([^"]*)"|(\S+)/g;

function requestIn(words: string, code: string): SendableRequest | undefined {
  let method: string | undefined;
  let path: string | undefined;
  let body: string | undefined;
  let option = "";
  const headers: Record<string, string> = {};
  for (const [, single, double, bare] of code.matchAll(shellWord)) {
    const word = single?.replaceAll("'\\''", "'") ?? double ?? bare ?? "";
    if (option === "-H") {
      const colon = word.indexOf(": ");
      headers[word.slice(0, colon).toLowerCase()] = word.slice(colon + 2);
    } else if (option === "-X") method = word;
    else if (option === "-d") body = word;
    else if (word.startsWith("$SVC_BASE_URL")) path = word.slice("$SVC_BASE_URL".length);
    option = single === undefined && double === undefined ? word : "";
  }
  const variable = headers["x-api-key"];
  delete headers["x-api-key"];
  if (path === undefined) return undefined;
  const special = { SVC_KEY_MALFORMED: "malformed", SVC_KEY_UNKNOWN: "unknown" }[variable?.slice(1) ?? ""];
  const key = /\(ref ([^)]+)\)$/.exec(words)?.[1] ?? special ?? "none";
  return { key, method: method ?? "GET", path, headers, ...(body !== undefined && { body }) };
}
