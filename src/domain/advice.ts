/** Levels of advice: good to know; likely a defect; a defect, often of security. */
export const adviceLevels = ["note", "warning", "error"] as const;
export type AdviceLevel = (typeof adviceLevels)[number];

/** One kind of client behaviour that its developers should know of. */
export interface Advice {
  readonly id: string;
  readonly level: AdviceLevel;
  /** The rules or the section of the specification behind it. */
  readonly rule: string;
  /** Behaviour of the client, in words. */
  readonly meaning: string;
  readonly whatToDo: string;
}

/** All advice, the most serious first; report, documentation and OpenAPI description follow it. */
export const adviceTable = [
  {
    id: "key-in-output",
    level: "error",
    rule: "section 5, point 11; R46",
    meaning: "The command wrote a full key to its output, where logs keep it.",
    whatToDo: "Log the ref or a fingerprint of the key, never the key. Rotate a real key that was in a log.",
  },
  {
    id: "key-in-query",
    level: "error",
    rule: "section 5, point 11; R46",
    meaning: "A key was in the query of the URL, where proxies, logs and histories keep it.",
    whatToDo:
      "Send the key in the x-api-key header and nowhere else. A real key that was in a URL: rotate it.",
  },
  {
    id: "key-in-authorization",
    level: "error",
    rule: "section 5, point 1; R9, R10",
    meaning:
      "A key was not alone in x-api-key: it was in Authorization, Cookie or another header, behind a scheme or in quotation marks, or its variable was sent instead of its value.",
    whatToDo:
      "Send the key in the x-api-key header, as it is: no Bearer, no quotation marks, the value of a variable and not its name.",
  },
  {
    id: "key-from-browser",
    level: "error",
    rule: "section 5, point 11",
    meaning: "A browser sent a key, or asked whether it may: everyone who opens the page can read it.",
    whatToDo: "Call the API from a server of yours, and let the page call that server. Rotate a real key.",
  },
  {
    id: "real-key-suspected",
    level: "error",
    rule: "section 5, point 11; R11",
    meaning: "The request held a well-formed key that no sandbox has made: it may be a real one.",
    whatToDo:
      "Give the client a key of this sandbox (they have sbx after their prefix). If the other one is real, rotate it: it has been where it should not be.",
  },
  {
    id: "same-key-after-401",
    level: "warning",
    rule: "R11–R14",
    meaning: "A key that had got 401 was sent again; the answer is the same for ever.",
    whatToDo: "Stop at the first 401 and tell an operator; only another key helps.",
  },
  {
    id: "same-key-after-403",
    level: "warning",
    rule: "R18–R21",
    meaning: "A key got 403 and was sent again. The response stays the same until an administrator acts.",
    whatToDo:
      "Stop at the first 403 and tell an operator: the organization or the key's scopes need a change.",
  },
  {
    id: "too-soon-after-429",
    level: "warning",
    rule: "R22–R24",
    meaning:
      "A key that had got 429 was sent again before the time that the answer named; where it named none, before the turn of the minute, on the sandbox's clock or the real one.",
    whatToDo:
      "Wait for what Retry-After says; where there is none, until the minute is over, and longer each time. Spread requests over the minute.",
  },
  {
    id: "no-pause-after-failure",
    level: "warning",
    rule: "section 4.1",
    meaning: "After a server error (5xx), a key was sent again and again without a pause of a second.",
    whatToDo: "Wait after a 5xx, longer each time, and give up in the end.",
  },
  {
    id: "old-key-after-replacement-seen",
    level: "warning",
    rule: "R37, R38",
    meaning:
      "A replaced key was sent after its replacement had been answered with 200: a part of the client still has the old key.",
    whatToDo:
      "Look for the instance, job or cache that still has the old key, and change it over before the overlap ends. A test that means to send both sends the old one first, or resets the sandbox between them (curl -X POST -H content-type:application/json $SVC_CONTROL_URL/reset).",
  },
  {
    id: "query-or-body-sent",
    level: "warning",
    rule: "R8",
    meaning: "A query or a body was sent; the endpoint takes neither, and ignores both.",
    whatToDo: "Leave them out. If they were to change the answer, they do not.",
  },
  {
    id: "wrong-method-or-path",
    level: "warning",
    rule: "R47, R49, section 4",
    meaning: "The API does not have this path, or the path does not take this method.",
    whatToDo: "Call GET /v1/relying-party/me: exactly this path, in lower case, without a slash at its end.",
  },
  {
    id: "sent-again-after-refusal",
    level: "note",
    rule: "R11–R14, R18–R24",
    meaning:
      "A key got 401, 403 or 429 and was sent again. This may be a retry, a burst, or several tests that use the same key.",
    whatToDo:
      "Reset the sandbox between tests (POST $SVC_CONTROL_URL/reset): what is still sent again is a retry. svc-sandbox certify tells them apart.",
  },
  {
    id: "key-of-another-sandbox",
    level: "note",
    rule: "R11",
    meaning:
      "A sandbox has made this key (it has sbx after its prefix), but not this one: it is of another seed or scenario, or was made before a reset.",
    whatToDo:
      "Give the client a key of this sandbox: svc-sandbox keys lists them, with the same scenario and --seed as the sandbox.",
  },
  {
    id: "retiring-key-in-use",
    level: "note",
    rule: "R38",
    meaning: "A key was used that has been replaced and works only until its overlap ends.",
    whatToDo: "Change over to its replacement before that.",
  },
  {
    id: "legacy-key-in-use",
    level: "note",
    rule: "R16, R17",
    meaning: "A key with a legacy prefix was used; it works until it is rotated.",
    whatToDo: "Rotate it: the replacement has the current prefix.",
  },
  {
    id: "key-with-browser-headers",
    level: "note",
    rule: "section 5, point 11",
    meaning:
      "A key came with headers that browsers send (Origin, Referer, Sec-Fetch-Site): a proxy that adds the key passed them on, or a page has the key.",
    whatToDo:
      "Where a server of yours adds the key, nothing is wrong. Where the page has it, let the page call a server of yours.",
  },
] as const satisfies readonly Advice[];

/** The stable id of an advice. */
export type AdviceId = (typeof adviceTable)[number]["id"];

/** All ids, in the order of the list. */
export const adviceIds: readonly AdviceId[] = adviceTable.map(({ id }) => id);

const byId: ReadonlyMap<string, Advice> = new Map(adviceTable.map((row) => [row.id, row]));

/** The row of an advice. */
export function adviceOf(id: AdviceId): Advice {
  return byId.get(id) as Advice;
}
