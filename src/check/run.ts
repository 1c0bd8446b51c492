import { me } from "../api/endpoints/me.js";
import { isNoResponse, type NoResponse, type Send } from "../node/clients/send-once.js";
import { pluralize } from "../report/plain-text.js";
import { outcomeOf } from "../rules/outcomes.js";
import { isMapping } from "../rules/schema/shape.js";
import { mix32 } from "../rules/seed.js";
import {
  type CheckedRule,
  type ContractDifference,
  findKey,
  type KeyedPath,
  keyedPaths,
  keylessPaths,
  keysInVariables,
  limitPaths,
  unusedVariables,
  type Variables,
} from "./contract.js";
import { type Attempt, type CompletedAttempt, judgeNoLimit, perMinuteOf, whyUntried } from "./judge.js";
import { inferAssumptions, scopesOf } from "./learn.js";
import { type CheckReport, checkReportOf } from "./report.js";
import {
  type CheckedResponse,
  createRedact,
  headerOf,
  isHtml,
  memberAt,
  minuteOf,
  quoted,
  readResponse,
  shownText,
  undocumentedIn,
} from "./response.js";

interface CheckOptions {
  readonly url: string;
  readonly env: Variables;
  readonly maxRequests: number;
  readonly probeLimits: boolean;
  /** Makes well-formed but unknown keys, by number. */
  readonly unknownKey: (index: number) => string;
}

/** Requests without a key come first: a host gets a key only if its responses could be the API's. */
export async function runCheck(send: Send, options: CheckOptions): Promise<CheckReport> {
  const { env, maxRequests, unknownKey, url } = options;
  const session = createSession(send, options);
  const attempts: Attempt[] = [];
  for (const { pathId, keyOf } of keylessPaths(unknownKey)) {
    attempts.push(await session.attempt({ pathId, keyOf, apiKey: keyOf(0) }));
  }
  for (const path of keyedPaths) attempts.push(await tryKeyedPath(session, path));
  const [working] = withStatus(attempts, 200);
  // The second response to the same key shows whether requests are counted.
  const repeated = working === undefined ? [] : [await session.attempt(working)];
  for (const path of limitPaths) attempts.push(await tryLimit(session, path, working));
  const allAttempts = [...attempts, ...repeated];
  const rejections = await repeatRejections(session, withStatus(attempts, 401));
  return checkReportOf({
    url,
    requests: session.requests(),
    maxRequests,
    stopped: session.stopped(),
    attempts,
    compared: [
      ...rejections.differences,
      ...compareSuccesses(withStatus(allAttempts, 200)),
      ...compareScopes(
        withResponse(attempts).find(({ pathId }) => pathId === "403.insufficient_scope"),
        withStatus(attempts, 200),
      ),
    ],
    assumptions: inferAssumptions(allAttempts),
    notes: [
      ...Array.from(session.undocumented, (name) => `${name} is not in the contract.`),
      ...notesOnRejections(rejections, session.requests()),
      ...attempts.flatMap(({ pathId, variable }) =>
        variable === "SVC_KEY_LEGACY"
          ? [`SVC_KEY_LEGACY_LIVE was not tried: ${pathId} was checked with ${variable}.`]
          : [],
      ),
      ...unusedVariables(env).map((name) => `${name} is not used: no path has this name.`),
    ],
  });
}

/** Starts a check that removes every key from its responses. */
function createSession(send: Send, options: CheckOptions) {
  const { env, maxRequests, unknownKey, url } = options;
  const unknown = Array.from({ length: maxResponses }, (_, index) => unknownKey(index));
  const redact = createRedact([...keysInVariables(env), ...unknown]);
  const undocumented = new Set<string>();
  let requests = 0;
  let withoutResponse = 0;
  let stopped: string | undefined;

  function whyNone(): string | undefined {
    if (stopped !== undefined) return "nothing was sent after the first request";
    if (withoutResponse >= maxWithoutResponse)
      return `nothing was sent after ${withoutResponse} requests without a response`;
    return requests < maxRequests ? undefined : `the ${maxRequests} requests of --max-requests are used up`;
  }
  async function ask(attempt: Attempt): Promise<CheckedResponse | NoResponse> {
    requests += 1;
    const reply = await send(attempt.apiKey, attempt.request);
    withoutResponse = isNoResponse(reply) ? withoutResponse + 1 : 0;
    if (isNoResponse(reply)) return reply;
    const response = readResponse(reply, redact);
    for (const name of undocumentedIn(response, attempt.endpoint ?? me)) undocumented.add(name);
    return response;
  }
  async function attempt({ pathId, apiKey, variable, keyOf, endpoint, request }: Attempt): Promise<Attempt> {
    const tried = { pathId, apiKey, variable, keyOf, endpoint, request };
    const reason = whyNone();
    if (reason !== undefined) return { ...tried, reason };
    const reply = await ask(tried);
    if (requests === 1) stopped = whyNotTheApi(reply, url);
    if (isNoResponse(reply)) return { ...tried, noResponse: reply.found };
    return { ...tried, response: reply, reason: whyUntried(tried, reply) };
  }
  return {
    options,
    requests: () => requests,
    undocumented,
    stopped: () => stopped,
    left: () => (whyNone() === undefined ? maxRequests - requests : 0),
    ask,
    attempt,
  };
}

type Session = ReturnType<typeof createSession>;

const maxWithoutResponse = 2;
const maxResponses = 25;
/** The responses to a cause after which a leak on half of the nodes would have been seen, as good as always. */
const enoughResponses = 8;

/** `undefined` if the response may be the API's: a redirect, a captive portal or a misspelled address must not get a key. */
function whyNotTheApi(reply: CheckedResponse | NoResponse, url: string): string | undefined {
  if (isNoResponse(reply)) return `Failed to reach ${url}: ${reply.found}. ${reply.hint}`;
  const { status } = reply;
  const why = (found: string, hint: string) => `Failed to check ${url}: ${found}. ${hint} No key was sent.`;
  if (status >= 300 && status < 400) {
    const location = headerOf(reply, "location");
    return why(
      `it redirects${location === undefined ? "" : ` to ${shownText(location)}`} (${status}), which is not followed`,
      "Give the address of the API itself; if a proxy or captive portal redirects, sign in there first.",
    );
  }
  if (isHtml(reply)) {
    return why(
      `it returns an HTML page (${status}), not JSON`,
      "A gateway without a backend, a proxy, a captive portal or another web site responds like this.",
    );
  }
  if (status !== 404) return undefined;
  return why("there is nothing at this path (404)", "The base URL is the part before /v1/relying-party/me.");
}

/** Returns the attempts that got this status, if it is also their path's. */
function withStatus(attempts: readonly Attempt[], status: number): CompletedAttempt[] {
  return withResponse(attempts).filter(
    ({ pathId, response }) => response.status === status && outcomeOf(pathId).status === status,
  );
}

function withResponse(attempts: readonly Attempt[]): CompletedAttempt[] {
  return attempts.filter((one): one is CompletedAttempt => one.response !== undefined);
}

/** Repeats rejected requests, since a server may reveal a cause on some nodes only; after a few rounds only suspects, until a difference is clear. */
async function repeatRejections(session: Session, rejected: readonly CompletedAttempt[]) {
  const rejections = rejected.map((one): RejectedAttempt => ({ ...one, responses: [one.response] }));
  for (let round = 1; ; round++) {
    const compared = compareRejections(rejections);
    const { suspects, differences } = compared;
    const isEven = round < minResponses || suspects.length + differences.length === 0;
    const repeated = isEven ? rejections : [...rejections.slice(0, 1), ...suspects];
    const max = isEven ? enoughResponses : maxResponses;
    if (repeated.length < 2 || round >= max || session.left() < repeated.length) return compared;
    // Another order each time: a balancer that takes its nodes in turn must not give each cause its own node.
    const order = repeated.map((one, i) => ({ one, at: mix32(64 * round + i) })).sort((a, b) => a.at - b.at);
    for (const { one } of order) {
      const reply = await session.ask({ ...one, apiKey: one.keyOf?.(round) ?? one.apiKey });
      if (isNoResponse(reply) || reply.status !== 401) return compareRejections(rejections);
      one.responses.push(reply);
    }
  }
}

function notesOnRejections(
  { suspects, differences, varying, responses }: ComparedRejections,
  requests: number,
) {
  const paths = suspects.map(({ pathId }) => pathId).join(", ");
  const enough = requests + 6 * minResponses;
  const perhaps = `${paths}: the response differs from 401.missing, perhaps by chance. To see if it reveals the cause (R14), check again with --max-requests ${enough}.`;
  const part = `Not compared between causes of 401, because it varies between equal requests (ids, numbers, times, nodes): ${varying.join(", ")}.`;
  const unseen = `Compared ${pluralize(responses, "response")} to each cause of 401. Nodes of the server that sent none of them were not tried.`;
  const isEven = suspects.length === 0 && differences.length === 0 && responses > 0;
  return [suspects.length > 0 && perhaps, varying.length > 0 && part, isEven && unseen].filter(
    (note) => note !== false,
  );
}

async function tryKeyedPath(session: Session, path: KeyedPath): Promise<Attempt> {
  const { pathId } = path;
  const keyFound = findKey(path, session.options.env);
  return "reason" in keyFound ? { pathId, ...keyFound } : session.attempt({ pathId, ...keyFound });
}

/** Reaches a limit if requested: with a key at its limit, or by using up a working key's minute if enough requests are left. */
async function tryLimit(session: Session, path: KeyedPath, working?: CompletedAttempt): Promise<Attempt> {
  const { pathId } = path;
  if (!session.options.probeLimits)
    return { pathId, reason: "limits are only reached on purpose with --probe-limits" };
  const keyed = await tryKeyedPath(session, path);
  // A minute may have passed since its key reached the limit.
  const spare =
    keyed.apiKey === undefined
      ? working
      : withResponse([keyed]).find(({ response }) => response.status === 200);
  if (pathId !== "429.per_minute" || spare === undefined) return keyed;
  const perMinute = perMinuteOf(spare);
  if (perMinute === undefined) return { pathId, reason: "the response to the working key has no per_minute" };
  const needed = perMinute + 1;
  if (session.left() >= needed) return useUpMinute(session, { ...spare, pathId }, perMinute);
  const enough = session.requests() + needed;
  const reason = `needs ${needed} requests, one more than per_minute, and ${session.left()} are left; --max-requests ${enough} has room for them`;
  return { pathId, reason };
}

async function useUpMinute(session: Session, probe: CompletedAttempt, perMinute: number): Promise<Attempt> {
  const responses: CheckedResponse[] = [];
  while (responses.length <= perMinute) {
    const probed = await session.attempt(probe);
    if (probed.response?.status !== 200) return probed;
    responses.push(probed.response);
  }
  return { ...probe, response: responses.at(-1), ...judgeNoLimit(responses, perMinute) };
}

function compareSuccesses(successes: readonly CompletedAttempt[]): ContractDifference[] {
  return [...compareRequestIds(successes), ...compareUsage(successes), ...compareReplacement(successes)];
}

/** Compares the scopes that a permitted `SVC_KEY_WRONG_SCOPE` has with those of each other permitted key (R21). */
function compareScopes(
  lacking: CompletedAttempt | undefined,
  permitted: readonly CompletedAttempt[],
): ContractDifference[] {
  if (lacking?.response.status !== 200 || permitted.length === 0) return [];
  const [first = [], ...others] = permitted.map(({ response }) => scopesOf(response));
  const common = first.filter((scope) => others.every((scopes) => scopes.includes(scope)));
  const scopes = scopesOf(lacking.response);
  // A key with one of them may have the scope that the endpoint needs.
  if (scopes.length === 0 || common.length === 0 || common.some((scope) => scopes.includes(scope))) return [];
  const expected = `403, without the scope that each permitted key has: ${shownText(common.join(" or "))}`;
  const found = `200 with ${shownText(scopes.join(", "))}. If the endpoint needs no scope, leave SVC_KEY_WRONG_SCOPE out`;
  return [{ rules: ["R21"], pathId: "403.insufficient_scope", at: "status", expected, found }];
}

function compareRequestIds(successes: readonly CompletedAttempt[]): ContractDifference[] {
  const ids = successes.map(({ response }) => headerOf(response, "x-request-id") ?? "");
  return successes.flatMap(({ pathId }, index) => {
    const id = ids[index] as string;
    if (id === "" || ids.indexOf(id) === index) return [];
    const expected = "a request id that no earlier response has";
    return [{ rules: ["R7"], pathId, at: "X-Request-Id", expected, found: `${shownText(id)} again` }];
  });
}

// Compares consecutive requests with the same key.
function compareUsage(successes: readonly CompletedAttempt[]): ContractDifference[] {
  const firstByKey = new Map<string, { count: number; minute: number }>();
  const rules: CheckedRule[] = ["R6", "R24"];
  return successes.flatMap(({ apiKey = "", pathId, response }) => {
    const count = memberAt(response, "data", "usage", "today");
    if (typeof count !== "number") return [];
    const before = firstByKey.get(apiKey);
    const minute = minuteOf(response);
    firstByKey.set(apiKey, { count, minute });
    if (before === undefined || count === before.count + 1) return [];
    // A new day may have started in between, with a new minute.
    if (count === 1 && (before.count > 1 || minute !== before.minute)) return [];
    const hint = count > before.count ? "; does another client use this key?" : "";
    const expected = `${before.count + 1}, one more than in the response before`;
    return [{ rules, pathId, at: "$.data.usage.today", expected, found: `${count}${hint}` }];
  });
}

// The name of an organization may be spelled in several ways.
const inherited: readonly (readonly [rule: CheckedRule, ...path: string[]])[] = [
  ["R26", "limits", "per_minute"],
  ["R26", "limits", "per_day"],
  ["R37", "scopes"],
  ["R37", "organization", "id"],
];

function compareReplacement(successes: readonly CompletedAttempt[]): ContractDifference[] {
  const pathId = "200.replacement";
  const [old, replacement] = ["200.retiring", pathId].map((path) =>
    successes.find((one) => one.pathId === path),
  );
  if (old === undefined || replacement === undefined) return [];
  return inherited.flatMap(([rule, ...path]) => {
    const [before = "", found = ""] = [old, replacement].map(({ response }) => {
      const value = memberAt(response, "data", ...path);
      return shownText(`${JSON.stringify(Array.isArray(value) ? [...value].sort() : value)}`);
    });
    const expected = `${before}, as for 200.retiring`;
    return before === found
      ? []
      : [{ rules: [rule], pathId, at: `$.data.${path.join(".")}`, expected, found }];
  });
}

/** A rejected request and every response to it: the first one, then its repetitions. */
type RejectedAttempt = CompletedAttempt & { readonly responses: CheckedResponse[] };

/** How many responses to a cause it takes to report a difference. */
const minResponses = 5;

/** Compares the 401 responses with the first (R14). A difference must follow the cause more often than by chance: ids and nodes differ, too. */
function compareRejections(rejections: readonly RejectedAttempt[]): ComparedRejections {
  const parts = rejections.map(({ responses }) => responses.map(partsOf));
  const places = [...new Set(parts.flat().flatMap((one) => [...one.keys()]))].map((at): Place => {
    return { at, values: parts.map((all) => all.map((one) => one.get(at))) };
  });
  const contrasts = places.flatMap((place) => contrastsAt(place, rejections));
  /** The places that vary between equal requests. The more of them, the more differ by chance. */
  const varying = withoutDerived(places.filter(isVarying)).map(({ at }) => shownText(at));
  const rarest = 1 / 300 / (1 + varying.length);
  const compared = rejections.map((rejection) => {
    const found = withoutDerived(contrasts.filter(({ pathId }) => pathId === rejection.pathId));
    const isEnough = rejection.responses.length >= minResponses;
    return { rejection, found, clear: found.filter(({ chance }) => isEnough && chance < rarest) };
  });
  return {
    differences: compared.flatMap(({ clear }) => clear.map(({ chance, ...difference }) => difference)),
    suspects: compared
      .filter(({ found, clear }) => found.length > 0 && clear.length === 0)
      .map(({ rejection }) => rejection),
    varying,
    responses: rejections.length < 2 ? 0 : Math.min(...rejections.map(({ responses }) => responses.length)),
  };
}

interface ComparedRejections {
  readonly differences: readonly ContractDifference[];
  /** Rejections that may differ, but not yet clearly. */
  readonly suspects: readonly RejectedAttempt[];
  /** The places that vary between equal requests. */
  readonly varying: readonly string[];
  /** How often each cause was compared; 0 if there are no two causes. */
  readonly responses: number;
}

interface Place extends Pick<ContractDifference, "at"> {
  readonly values: readonly (readonly (string | undefined)[])[];
}

/** With the probability that it would be if causes made no difference. */
type Contrast = ContractDifference & { readonly chance: number };

// By R14, only the presence of these is equal.
const freeValues = new Set(["date", "x-request-id"]);

const isMixed = (all: readonly unknown[] = []) => new Set(all).size > 1;

const isVarying = ({ at, values }: Place) => !freeValues.has(at.toLowerCase()) && values.some(isMixed);

/** Returns a contrast for each cause with values that neither the first cause has, nor other keys by themselves. */
function contrastsAt({ at, values }: Place, rejections: readonly RejectedAttempt[]): Contrast[] {
  const forms = formsOf(values, at.toLowerCase());
  // Each of these requests has another key, so their responses also show what follows the key.
  const isNoise = rejections.map(({ keyOf }, i) => i > 0 && keyOf !== undefined && isMixed(forms[i]));
  const isBody = at.startsWith("$");
  const show = (value: string | undefined) => {
    if (value === undefined) return isBody ? "nothing" : "no such header";
    return isBody ? shownText(value) : quoted(value);
  };
  return rejections.flatMap(({ pathId, keyOf }, self): Contrast[] => {
    const mine = forms[self] ?? [];
    const formsOfOthers = new Set(forms.filter((_, i) => i === 0 || (i !== self && isNoise[i])).flat());
    const ownForms = mine.filter((form) => !formsOfOthers.has(form));
    const isNoisy = isNoise.some((noise, i) => noise && i !== self);
    if (ownForms.length === 0 || (isNoisy && isMixed(mine) === (keyOf !== undefined))) return [];
    const sharing = forms.filter((all) => all.some((form) => ownForms.includes(form))).flat();
    const again = sharing.filter(
      (form) => ownForms.includes(form) && sharing.indexOf(form) !== sharing.lastIndexOf(form),
    );
    const isShared = isMixed(mine) && sharing.length > mine.length;
    const chance = isShared ? 1 : chanceOf(again.length, sharing.length, forms.flat().length);
    const expected = `${show(values[0]?.[0])}, as for ${rejections[0]?.pathId}`;
    const found = show(values[self]?.[mine.indexOf(ownForms[0])]);
    return [{ rules: ["R14"], pathId, at: shownText(at), expected, found, chance }];
  });
}

/** The probability that these many responses are all among a part of all responses by chance. */
function chanceOf(count: number, part: number, all: number): number {
  return count === 0 ? 1 : chanceOf(count - 1, part - 1, all - 1) * (part / all);
}

const word = /([A-Za-z0-9]+(?:\.\d+[A-Za-z]*)?)/;

/** Replaces the words that vary within a cause: ids, numbers, times, and words without a digit that never return. */
function formsOf(values: Place["values"], name: string): Place["values"] {
  const isFree = name === "date" || (name === "x-request-id" && values.every((all) => all.length === 1));
  if (isFree) return values.map((all) => all.map((value) => value && ""));
  const framed = values.map((all) =>
    all.map((value) => {
      const parts = value?.split(word) ?? [];
      return { value, parts, frame: parts.filter((_, i) => i % 2 === 0).join("\0") };
    }),
  );
  const noise = new Map<string, boolean[]>();
  for (const { frame, parts } of framed.flat()) {
    const varies =
      noise.get(frame) ??
      parts.map((_, i) => {
        const alike = framed.map((all) =>
          all.flatMap((one) => (one.frame === frame ? one.parts.slice(i, i + 1) : [])),
        );
        const words = alike.flat().filter((one) => !/\d/.test(one));
        return alike.some(isMixed) && new Set(words).size === words.length;
      });
    noise.set(frame, varies);
  }
  return framed.map((all) =>
    all.map(
      ({ value, parts, frame }) =>
        value && parts.map((part, i) => (noise.get(frame)?.[i] ? "…" : part)).join(""),
    ),
  );
}

function partsOf({ reason, headers, text = "not UTF-8", json }: CheckedResponse): Map<string, string> {
  const parts = new Map<string, string>();
  const add = (at: string, value: string) =>
    parts.set(at, parts.has(at) ? `${parts.get(at)}, ${value}` : value);
  add("reason phrase", reason);
  for (const [name, value] of headers) add(name, value);
  add("headers", headers.map(([name]) => name).join(", "));
  for (const [at, value] of json === undefined ? [] : membersOf(json)) add(at, value);
  add("body", text);
  return parts;
}

function membersOf(json: unknown, at = "$"): [string, string][] {
  if (!isMapping(json)) return [[at, JSON.stringify(json)]];
  return Object.entries(json).flatMap(([name, value]) =>
    at === "$" && name === "error" ? membersOf(value, "$.error") : [[`${at}.${name}`, JSON.stringify(value)]],
  );
}

/** Leaves out places that differ only because another one does. */
function withoutDerived<Item extends { readonly at: string }>(found: readonly Item[]): Item[] {
  const isIn = (pattern: RegExp) => found.some(({ at }) => pattern.test(at));
  return found.filter(({ at }) => {
    if (at === "body") return !isIn(/^\$/);
    if (/^(?:content-length|etag)$/i.test(at)) return !isIn(/^\$|^body$/);
    return at !== "headers" || !isIn(/^(?!\$|body$|headers$|reason phrase$)/);
  });
}
