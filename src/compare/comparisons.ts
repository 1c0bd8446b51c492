import { isMapping } from "../rules/schema/shape.js";
import type { ContractDifference } from "./contract.js";
import type { CompletedAttempt } from "./judge.js";
import { headerOf, memberIn, minuteOf, quoted, type RedactedResponse, shownText } from "./response.js";

// Responses compared with each other: successes by their members, and the 401s of different causes (R14).

/** Compares the successes with each other, and with a `permitted` key that should lack the scope. */
export function compareSuccesses(
  successes: readonly CompletedAttempt[],
  permitted: RedactedResponse | undefined,
): ContractDifference[] {
  return [
    ...compareRequestIds(successes),
    ...compareUsage(successes),
    ...compareReplacement(successes),
    ...(permitted?.status === 200 ? compareScopes(permitted, successes) : []),
  ];
}

function compareRequestIds(successes: readonly CompletedAttempt[]): ContractDifference[] {
  const ids = successes.map(({ response }) => headerOf(response, "x-request-id") ?? "");
  return successes.flatMap(({ outcome }, index) => {
    const id = ids[index] ?? "";
    if (id === "" || ids.indexOf(id) === index) return [];
    const expected = "a request id that no earlier response has";
    return [{ rules: ["R7"], outcome, at: "X-Request-Id", expected, found: `${shownText(id)} again` }];
  });
}

/** Compares consecutive responses to the same key. */
function compareUsage(successes: readonly CompletedAttempt[]): ContractDifference[] {
  const latest = new Map<string, { count: number; minute: number }>();
  return successes.flatMap(({ apiKey = "", outcome, response }): ContractDifference[] => {
    const count = memberIn(response, ["data", "usage", "today"]);
    if (typeof count !== "number") return [];
    const before = latest.get(apiKey);
    const minute = minuteOf(response);
    latest.set(apiKey, { count, minute });
    if (before === undefined || count === before.count + 1) return [];
    // A new day may have started in between, with a new minute.
    if (count === 1 && (before.count > 1 || minute !== before.minute)) return [];
    const hint = count > before.count ? "; does another client use this key?" : "";
    const expected = `${before.count + 1}, one more than in the response before`;
    return [{ rules: ["R6", "R24"], outcome, at: "$.data.usage.today", expected, found: `${count}${hint}` }];
  });
}

// The name of an organization may be spelled in several ways.
const inherited = [
  ["R26", "limits", "per_minute"],
  ["R26", "limits", "per_day"],
  ["R37", "scopes"],
  ["R37", "organization", "id"],
] as const;

function compareReplacement(successes: readonly CompletedAttempt[]): ContractDifference[] {
  const outcome = "200.replacement";
  const [old, replacement] = ["200.retiring", outcome].map((id) =>
    successes.find((one) => one.outcome === id),
  );
  if (old === undefined || replacement === undefined) return [];
  return inherited.flatMap(([rule, ...path]): ContractDifference[] => {
    const [before = "", found = ""] = [old, replacement].map(({ response }) => {
      const value = memberIn(response, ["data", ...path]);
      return shownText(`${JSON.stringify(Array.isArray(value) ? [...value].sort() : value)}`);
    });
    const expected = `${before}, as for 200.retiring`;
    return before === found
      ? []
      : [{ rules: [rule], outcome, at: `$.data.${path.join(".")}`, expected, found }];
  });
}

/** Compares the scopes of a permitted `SVC_KEY_WRONG_SCOPE` with those that every other permitted key has (R21). */
function compareScopes(
  permitted: RedactedResponse,
  successes: readonly CompletedAttempt[],
): ContractDifference[] {
  const [first = [], ...others] = successes.map(({ response }) => scopesOf(response));
  const common = first.filter((scope) => others.every((scopes) => scopes.includes(scope)));
  const scopes = scopesOf(permitted);
  // A key with one of them may have the scope that the endpoint needs.
  if (scopes.length === 0 || common.length === 0 || common.some((scope) => scopes.includes(scope))) return [];
  const expected = `403, without the scope that each permitted key has: ${shownText(common.join(" or "))}`;
  const advice = "If the endpoint needs no scope, leave SVC_KEY_WRONG_SCOPE out";
  const difference = { expected, found: `200 with ${shownText(scopes.join(", "))}. ${advice}` };
  return [{ rules: ["R21"], outcome: "403.insufficient_scope", at: "status", ...difference }];
}

function scopesOf(response: RedactedResponse): string[] {
  const scopes = memberIn(response, ["data", "scopes"]);
  return Array.isArray(scopes) ? scopes.filter((one) => typeof one === "string") : [];
}

/** The parts of a response by their places, as texts. */
type Parts = ReadonlyMap<string, string>;

/** A cause of 401, and the parts of each response to it. */
interface CauseResponses {
  readonly attempt: CompletedAttempt;
  readonly responses: Parts[];
}

/** A place where the responses to one cause agree in all words that stay, as do those to all others, with another text. */
interface Contrast {
  readonly at: string;
  readonly cause: CauseResponses;
  readonly own: string | undefined;
  readonly others: string | undefined;
}

interface Resending {
  /** The number of requests that may still be sent. */
  readonly left: () => number;
  /** Sends the request again, with another key if that is not the server's. Resolves to `undefined` if the response is not a 401. */
  readonly resend: (attempt: CompletedAttempt, index: number) => Promise<RedactedResponse | undefined>;
}

/** Whether each turn is reversed: a balancer that alternates must not give each cause its own node. */
const turns = [false, true, true, false, true, false, false, true];

/** Compares the 401s of different causes (R14): one with all others, each sent twice, and again in turn with another before it counts. */
export async function compareRejections(
  rejected: readonly CompletedAttempt[],
  session: Resending,
): Promise<{ readonly differences: readonly ContractDifference[]; readonly notes: readonly string[] }> {
  const causes = rejected.map(
    (attempt): CauseResponses => ({ attempt, responses: [partsOf(attempt.response)] }),
  );
  const sendAgain = async (some: readonly CauseResponses[]) => {
    for (const { attempt, responses } of some) {
      const response = await session.resend(attempt, responses.length);
      if (response !== undefined) responses.push(partsOf(response));
    }
  };
  const uncompared = (some: readonly CauseResponses[], needed: number) => {
    const outcomes = some.map(({ attempt }) => attempt.outcome).join(", ");
    const note = `Not compared with the other causes of 401 (R14): ${outcomes}. That takes ${needed - session.left()} more of --max-requests.`;
    return { differences: [], notes: [note] };
  };
  // Of two that differ, neither is the wrong one.
  if (causes.length < 3) return { differences: [], notes: [] };
  if (session.left() < causes.length) return uncompared(causes, causes.length);
  await sendAgain(causes);
  const compared = causes.filter(({ responses }) => responses.length === 2);
  const contrasts = contrastsIn(compared);
  const suspects = compared.filter((one) => contrasts.some(({ cause }) => cause === one));
  // Unknown keys are different each time: a node that follows the key shows no cause.
  const usual = compared.findLast((one) => one !== suspects[0] && one.attempt.variable === undefined);
  const resent = suspects.length === 1 && usual !== undefined ? [...suspects, usual] : suspects;
  const needed = resent.length * turns.length;
  if (session.left() < needed) return uncompared(suspects, needed);
  for (const isReversed of resent.length > 0 ? turns : [])
    await sendAgain(isReversed ? resent.toReversed() : resent);
  const isResent = resent.every(({ responses }) => responses.length === 2 + turns.length);
  const staying = contrastsIn(compared).filter(({ at, cause }) =>
    contrasts.some((one) => isResent && one.at === at && one.cause === cause),
  );
  const differences = suspects.flatMap((suspect) =>
    withoutDerived(staying.filter(({ cause }) => cause === suspect)).map((one) => differenceOf(one, causes)),
  );
  return { differences, notes: notesOnVarying(compared, staying) };
}

/** Notes on the places that differ without a cause that explains it. */
function notesOnVarying(compared: readonly CauseResponses[], staying: readonly Contrast[]): string[] {
  const varying = comparedParts(compared).filter(
    (at) => valuesAt(at, compared).length > 1 && !staying.some((one) => one.at === at),
  );
  const places = withoutDerived(varying.map((at) => ({ at }))).map(({ at }) => at);
  const isComparable = (at: string) => stayingTexts(at, compared) !== undefined;
  const noteOn = (what: string, some: readonly string[]) =>
    some.length === 0 ? [] : [`Not ${what}: ${some.map(shownText).join(", ")}.`];
  return [
    ...noteOn(
      "judged between the causes of 401, because it also varies otherwise",
      places.filter(isComparable),
    ),
    ...noteOn(
      "compared between the causes of 401, because the number of its words varies",
      places.filter((at) => !isComparable(at)),
    ),
  ];
}

function contrastsIn(causes: readonly CauseResponses[]): Contrast[] {
  return comparedParts(causes).flatMap((at) => {
    const texts = stayingTexts(at, causes) ?? [];
    return texts.flatMap((own, index) => {
      const [others, ...more] = new Set(texts.filter((_, other) => other !== index));
      const cause = causes[index] as CauseResponses;
      return more.length === 0 && own !== others ? [{ at, cause, own, others }] : [];
    });
  });
}

/**
 * The text of each cause at a place, without the words that differ between the responses of one cause. `undefined` if
 * these have different numbers of words.
 */
function stayingTexts(at: string, causes: readonly CauseResponses[]): (string | undefined)[] | undefined {
  const texts = causes.map(({ responses }) => responses.map((parts) => splitWords(parts.get(at))));
  if (texts.some(([first, ...more]) => more.some((words) => words?.length !== first?.length)))
    return undefined;
  const nameOf = (words: readonly string[], index: number) => `word ${index} of ${words.length}`;
  const varying = texts.flatMap(([first = [], ...more]) =>
    first.flatMap((word, i) => (more.some((words) => words?.[i] !== word) ? [nameOf(first, i)] : [])),
  );
  const isVarying = new Set(varying);
  return texts.map(([first]) =>
    first?.map((word, i) => (isVarying.has(nameOf(first, i)) ? "…" : word)).join(""),
  );
}

/** Spaces count, and the members of a value are words. */
function splitWords(text: string | undefined): readonly string[] | undefined {
  return text?.split(/(?=\s)(?<!\s)|(?<=\s)(?!\s)|(?<=[,:{[])/);
}

function comparedParts(causes: readonly CauseResponses[]): string[] {
  return [...new Set(causes.flatMap(({ responses }) => responses.flatMap((parts) => [...parts.keys()])))];
}

/** The different values at a place; `undefined` for a response without it. */
function valuesAt(at: string, causes: readonly CauseResponses[]): (string | undefined)[] {
  return [...new Set(causes.flatMap(({ responses }) => responses.map((parts) => parts.get(at))))];
}

function differenceOf(
  { at, cause, own, others }: Contrast,
  causes: readonly CauseResponses[],
): ContractDifference {
  const { outcome } = cause.attempt;
  const isBody = at.startsWith("$");
  const show = (value: string | undefined) => {
    if (value === undefined) return isBody ? "nothing" : "no such header";
    return isBody ? shownText(value) : quoted(value);
  };
  const right = causes.find((one) => one !== cause)?.attempt.outcome;
  const expected = `${show(others)}, as for ${right}`;
  return { rules: ["R14"], outcome, at: shownText(at), expected, found: show(own) };
}

// By R14, only the presence of these is equal.
const freeHeaders = new Set(["date", "x-request-id"]);

function partsOf({ reason, headers, text = "not UTF-8", json }: RedactedResponse): Parts {
  const parts = new Map([["reason phrase", reason]]);
  for (const [name, value] of headers) {
    const compared = freeHeaders.has(name.toLowerCase()) ? "present" : value;
    parts.set(name, parts.has(name) ? `${parts.get(name)}, ${compared}` : compared);
  }
  parts.set("headers", headers.map(([name]) => name).join(", "));
  for (const [at, value] of membersOf(json)) parts.set(at, value);
  return parts.set("body", text);
}

function membersOf(json: unknown): [at: string, value: string][] {
  if (!isMapping(json)) return json === undefined ? [] : [["$", JSON.stringify(json)]];
  const members = (value: object, at: string) =>
    Object.entries(value).map(([name, member]): [string, unknown] => [`${at}.${name}`, member]);
  const { error, ...others } = json;
  const ofError = isMapping(error) ? members(error, "$.error") : [];
  return [...ofError, ...members(others, "$")].map(([at, member]) => [at, JSON.stringify(member)]);
}

/** Leaves out places that differ only because another one does. */
function withoutDerived<Item extends { readonly at: string }>(items: readonly Item[]): Item[] {
  const isIn = (pattern: RegExp) => items.some(({ at }) => pattern.test(at));
  return items.filter(({ at }) => {
    if (at === "body") return !isIn(/^\$/);
    if (/^(?:content-length|etag)$/i.test(at)) return !isIn(/^\$|^body$/);
    return at !== "headers" || !isIn(/^(?!\$|body$|headers$|reason phrase$)/);
  });
}
