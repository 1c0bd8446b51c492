import { isMapping } from "../rules/schema/shape.js";
import type { CheckedRule, ContractDifference } from "./contract.js";
import type { CompletedAttempt } from "./judge.js";
import { scopesOf } from "./learn.js";
import { type CheckedResponse, headerOf, memberAt, minuteOf, quoted, shownText } from "./response.js";

export function compareSuccesses(successes: readonly CompletedAttempt[]): ContractDifference[] {
  return [...compareRequestIds(successes), ...compareUsage(successes), ...compareReplacement(successes)];
}

/** Compares the scopes that a permitted `SVC_KEY_WRONG_SCOPE` has with those of each other permitted key (R21). */
export function compareScopes(
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
export type RejectedAttempt = CompletedAttempt & { readonly responses: CheckedResponse[] };

/** How many responses to a cause it takes to report a difference. */
export const minResponses = 5;

/** Compares the 401 responses with the first (R14). A difference must follow the cause more often than by chance: ids and nodes differ, too. */
export function compareRejections(rejections: readonly RejectedAttempt[]): ComparedRejections {
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

export interface ComparedRejections {
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
