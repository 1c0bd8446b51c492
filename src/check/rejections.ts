import { isMapping } from "../rules/schema/shape.js";
import type { ContractDifference } from "./contract.js";
import type { CompletedAttempt } from "./judge.js";
import { type CheckedResponse, quoted, shownText } from "./response.js";

/** The parts of a response by their places, as texts. */
type Parts = ReadonlyMap<string, string>;

/** A cause of 401, and the parts of each response to it. */
interface Cause {
  readonly attempt: CompletedAttempt;
  readonly responses: Parts[];
}

/** A place where the responses to one cause agree, as do those to all others, with another value. */
interface Contrast {
  readonly at: string;
  readonly cause: Cause;
  readonly own: string | undefined;
  readonly others: string | undefined;
}

interface Resending {
  /** The number of requests that may still be sent. */
  readonly left: () => number;
  /** Sends the request again, with another key if that is not the server's. Resolves to `undefined` if the response is not a 401. */
  readonly resend: (attempt: CompletedAttempt, index: number) => Promise<CheckedResponse | undefined>;
}

/** Whether each turn is reversed: a balancer that alternates must not give each cause its own node. */
const turns = [false, true, true, false, true, false, false, true];

/** Compares the 401s of different causes (R14): one with all others, each sent twice, and again in turn with another before it counts. */
export async function compareRejections(
  rejected: readonly CompletedAttempt[],
  { left, resend }: Resending,
): Promise<{ readonly differences: readonly ContractDifference[]; readonly note?: string }> {
  const causes = rejected.map((attempt): Cause => ({ attempt, responses: [partsOf(attempt.response)] }));
  const sendAgain = async (some: readonly Cause[]) => {
    for (const { attempt, responses } of some) {
      const response = await resend(attempt, responses.length);
      if (response !== undefined) responses.push(partsOf(response));
    }
  };
  const uncompared = (some: readonly Cause[], needed: number) => {
    const paths = some.map(({ attempt }) => attempt.pathId).join(", ");
    const note = `Not compared with the other causes of 401 (R14): ${paths}. That takes ${needed - left()} more of --max-requests.`;
    return { differences: [], note };
  };
  // Of two that differ, neither is the wrong one.
  if (causes.length < 3) return { differences: [] };
  if (left() < causes.length) return uncompared(causes, causes.length);
  await sendAgain(causes);
  const compared = causes.filter(({ responses }) => responses.length === 2);
  const contrasts = contrastsIn(compared);
  const suspects = compared.filter((one) => contrasts.some(({ cause }) => cause === one));
  // Unknown keys are different each time: a node that follows the key shows no cause.
  const other = compared.findLast((one) => one !== suspects[0] && one.attempt.variable === undefined);
  const resent = suspects.length === 1 && other !== undefined ? [...suspects, other] : suspects;
  const needed = resent.length * turns.length;
  if (left() < needed) return uncompared(suspects, needed);
  for (const isReversed of resent.length > 0 ? turns : [])
    await sendAgain(isReversed ? resent.toReversed() : resent);
  const staying = contrasts.filter((contrast) => resent.every((one) => stays(contrast, one)));
  const varying = placesIn(compared).filter(
    (at) => valuesAt(at, compared).length > 1 && !staying.some((one) => one.at === at),
  );
  const unjudged = withoutDerived(varying.map((at) => ({ at })));
  return {
    differences: suspects.flatMap((suspect) =>
      withoutDerived(staying.filter(({ cause }) => cause === suspect)).map((one) =>
        differenceOf(one, causes),
      ),
    ),
    ...(unjudged.length > 0 && {
      note: `Not judged between the causes of 401, because it also varies otherwise: ${unjudged.map(({ at }) => shownText(at)).join(", ")}.`,
    }),
  };
}

function contrastsIn(causes: readonly Cause[]): Contrast[] {
  return placesIn(causes).flatMap((at) =>
    causes.flatMap((cause) => {
      const [own, ...moreOwn] = valuesAt(at, [cause]);
      const [others, ...moreOthers] = valuesAt(
        at,
        causes.filter((one) => one !== cause),
      );
      const isContrast = moreOwn.length + moreOthers.length === 0 && own !== others;
      return isContrast ? [{ at, cause, own, others }] : [];
    }),
  );
}

function placesIn(causes: readonly Cause[]): string[] {
  return [...new Set(causes.flatMap(({ responses }) => responses.flatMap((parts) => [...parts.keys()])))];
}

/** The different values at a place; `undefined` for a response without it. */
function valuesAt(at: string, causes: readonly Cause[]): (string | undefined)[] {
  return [...new Set(causes.flatMap(({ responses }) => responses.map((parts) => parts.get(at))))];
}

function stays({ at, cause, own, others }: Contrast, resent: Cause): boolean {
  const expected = resent === cause ? own : others;
  const { responses } = resent;
  return responses.length === 2 + turns.length && responses.every((parts) => parts.get(at) === expected);
}

function differenceOf({ at, cause, own, others }: Contrast, causes: readonly Cause[]): ContractDifference {
  const { pathId } = cause.attempt;
  const isBody = at.startsWith("$");
  const show = (value: string | undefined) => {
    if (value === undefined) return isBody ? "nothing" : "no such header";
    return isBody ? shownText(value) : quoted(value);
  };
  const right = causes.find((one) => one !== cause)?.attempt.pathId;
  const expected = `${show(others)}, as for ${right}`;
  return { rules: ["R14"], pathId, at: shownText(at), expected, found: show(own) };
}

// By R14, only the presence of these is equal.
const freeHeaders = new Set(["date", "x-request-id"]);

function partsOf({ reason, headers, text = "not UTF-8", json }: CheckedResponse): Parts {
  const parts = new Map([["reason phrase", reason]]);
  for (const [name, value] of headers) {
    const shown = freeHeaders.has(name.toLowerCase()) ? "present" : value;
    parts.set(name, parts.has(name) ? `${parts.get(name)}, ${shown}` : shown);
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
  const all = [...(isMapping(error) ? members(error, "$.error") : []), ...members(others, "$")];
  return all.map(([at, member]) => [at, JSON.stringify(member)]);
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
