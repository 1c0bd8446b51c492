/** Levels of advice: useful to know; probably a defect; a defect, often in security. */
export const adviceLevels = ["note", "warning", "error"] as const;
export type AdviceLevel = (typeof adviceLevels)[number];

/** What a client should do better. */
interface Advice {
  /** Its stable name: `key-in-query`. */
  readonly id: string;
  readonly level: AdviceLevel;
  /** The rules and sections that it is based on. */
  readonly rule: string;
  /** What has happened. */
  readonly meaning: string;
  /** Names in braces, such as `{endpoints}` and `{unknown}`, stand for values of a sandbox: `fillPlaceholders` of `api` has all. */
  readonly whatToDo: string;
}

/** All advice, most serious first; the report, documentation and OpenAPI description use this order. */
export const adviceTable = [
  {
    id: "key-in-output",
    level: "error",
    rule: "section 5, point 11; R46",
    meaning: "Your command wrote a full key to its output, where logs keep it.",
    whatToDo:
      "Log the key's ref or fingerprint, never the key. Tracebacks of pytest show keys: add --tb=line. Rotate a real key that was in a log.",
  },
  {
    id: "key-in-query",
    level: "error",
    rule: "section 5, point 11; R46",
    meaning: "Your client sent a key in the URL's query, where proxies, logs and histories keep it.",
    whatToDo: "Send the key only in the x-api-key header. Rotate a real key that was in a URL.",
  },
  {
    id: "key-in-url",
    level: "error",
    rule: "section 5, point 11; R46",
    meaning:
      "Your client sent a key in the URL's path or user info, where proxies, logs and histories keep it.",
    whatToDo: "Send the key only in the x-api-key header. Rotate a real key that was in a URL.",
  },
  {
    id: "key-in-authorization",
    level: "error",
    rule: "section 5, point 1; R9, R10",
    meaning:
      "Your client sent the key in Authorization, Cookie or another header, or in x-api-key after a scheme, in quotation marks, or as the name of a variable.",
    whatToDo:
      "Send the key in the x-api-key header, unchanged: no Bearer, no quotation marks, and the variable's value.",
  },
  {
    id: "key-from-browser",
    level: "error",
    rule: "section 5, point 11",
    meaning:
      "A browser sent a key, or a preflight request to send one. Everyone who opens the page can read the key.",
    whatToDo: "Call the API from your server, and call that server from the page. Rotate a real key.",
  },
  {
    id: "real-key-suspected",
    level: "error",
    rule: "section 5, point 11; R11",
    meaning: "The request had a well-formed key that no sandbox created: it may be a real one.",
    whatToDo:
      "Use a key of this sandbox (with sbx after its prefix). To test a rejection, send {unknown} or {malformed} instead of an invented key. If the other key is real, rotate it.",
  },
  {
    id: "same-key-after-401",
    level: "error",
    rule: "R11–R14",
    meaning: "Your client resent a rejected key. A 401 stays the same for this key.",
    whatToDo: "Stop at the first 401 and alert an operator. Only another key helps.",
  },
  {
    id: "same-key-after-403",
    level: "error",
    rule: "R18–R21",
    meaning: "Your client resent a key after a 403. The response stays the same until an administrator acts.",
    whatToDo: "Stop at the first 403 and alert an administrator: its error code names what must change.",
  },
  {
    id: "too-soon-after-429",
    level: "error",
    rule: "R22–R24",
    meaning:
      "Your client resent a key too soon after a 429: before the time in the response, or before the next minute.",
    whatToDo:
      "Wait for Retry-After, or for the next minute, and longer each time. Spread your requests over the minute.",
  },
  {
    id: "too-soon-after-503",
    level: "error",
    rule: "section 4.1; RFC 9110, 10.2.3",
    meaning: "Your client resent a key after a 503, before the time in its Retry-After.",
    whatToDo:
      "Wait for Retry-After, in seconds or until the date, also after a 503, before you send anything again.",
  },
  {
    id: "query-or-body-sent",
    level: "warning",
    rule: "R8",
    meaning: "Your client sent a query or a body. The endpoint ignores both.",
    whatToDo: "Remove them.",
  },
  {
    id: "wrong-method-or-path",
    level: "warning",
    rule: "R47, R49, section 4",
    meaning: "The API does not have this path, or the path does not accept this method.",
    whatToDo: "Call exactly {endpoints}, in lower case, without a slash at the end.",
  },
  {
    id: "key-cut",
    level: "warning",
    rule: "R11",
    meaning: "The request had a sandbox's key that was cut or extended: it has the mark, but not the length.",
    whatToDo:
      "Send the whole key, unchanged. A shell, a secret store with a maximum length, or copying may have cut it.",
  },
  {
    id: "sent-again-after-rejection",
    level: "note",
    rule: "R11–R14, R18–R24",
    meaning:
      "Your client resent a key after a 401, 403 or 429: a retry, a burst, or several tests that use the same key.",
    whatToDo: "To find out: `{certify} --only resend -- {command}`.",
  },
  {
    id: "old-key-after-replacement-seen",
    level: "note",
    rule: "R37, R38",
    meaning:
      "A key was rotated while the sandbox ran. Its replacement got a 200, and still works. After that, your client sent the old key.",
    whatToDo:
      "If no test sends both keys on purpose, find the server, job or cache that still has the old key.",
  },
  {
    id: "key-of-another-sandbox",
    level: "note",
    rule: "R11",
    meaning:
      "Another sandbox created this key: one with another seed or scenario, or this one before a reset. Or its prefix was changed.",
    whatToDo: "Use a key of this sandbox. The command `keys` lists them: pass the same scenario and --seed.",
  },
  {
    id: "retiring-key-in-use",
    level: "note",
    rule: "R38",
    meaning: "Your client uses a replaced key, which works only until its overlap ends.",
    whatToDo: "Switch to the replacement before then.",
  },
  {
    id: "legacy-key-in-use",
    level: "note",
    rule: "R16, R17",
    meaning: "Your client uses a key with a legacy prefix.",
    whatToDo: "Rotate it. The replacement has the current prefix.",
  },
  {
    id: "key-with-browser-headers",
    level: "note",
    rule: "section 5, point 11",
    meaning:
      "A key came with headers that browsers send (Origin, Referer, Sec-Fetch-Site): a proxy added the key, or a page has it.",
    whatToDo: "If your server adds the key, nothing is wrong. Otherwise call your server from the page.",
  },
] as const satisfies readonly Advice[];

export type AdviceId = (typeof adviceTable)[number]["id"];

export const adviceIds: readonly AdviceId[] = adviceTable.map(({ id }) => id);

const byId: ReadonlyMap<string, Advice> = new Map(adviceTable.map((row) => [row.id, row]));

export function adviceOf(id: AdviceId): Advice {
  return byId.get(id) as Advice; // each id has its row
}
