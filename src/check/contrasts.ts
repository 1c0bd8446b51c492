import { type Answer, headerOf, isObject, memberOf } from "./answer.js";
import { bodyInWords } from "./judge-answer.js";
import { quoted, visible } from "./shown.js";

/** Where two answers differ. */
export interface Contrast {
  /** `body`, `headers`, the name of a header, or the JSON path of a member. */
  readonly at: string;
  /** Which members and headers there are and how they are written; or the value of one that both answers have. */
  readonly kind: "form" | "value";
  readonly inBody: boolean;
  readonly one: string;
  readonly other: string;
}

/** Where two answers of one status differ; the request id and the date are other ones each time. */
export function contrasts(one: Answer, other: Answer): Contrast[] {
  const members = memberContrasts(one, other);
  const sameText = one.text === other.text;
  const writing: Contrast[] = [
    { at: "body", kind: "form", inBody: true, one: quoted(one.text ?? ""), other: quoted(other.text ?? "") },
  ];
  return [
    ...members,
    ...(members.length === 0 && !sameText ? writing : []),
    ...headerContrasts(one, other, !sameText),
  ];
}

function memberContrasts(one: Answer, other: Answer): Contrast[] {
  if (one.json === undefined || other.json === undefined) {
    if (one.text === other.text) return [];
    const [mine, theirs] = [one, other].map((answer) =>
      answer.json === undefined ? bodyInWords(answer) : "JSON",
    ) as [string, string];
    return [{ at: "body", kind: "value", inBody: true, one: mine, other: theirs }];
  }
  const [mine, theirs] = [membersOf(one.json), membersOf(other.json)];
  return [...new Set([...mine.keys(), ...theirs.keys()])].flatMap((at): Contrast[] => {
    const values = [mine.get(at), theirs.get(at)] as const;
    if (values[0] === values[1]) return [];
    const kind = values.includes(undefined) ? "form" : "value";
    return [{ at: visible(at), kind, inBody: true, one: jsonShown(values[0]), other: jsonShown(values[1]) }];
  });
}

// The members of the body and of its `error`, each as JSON that does not depend on the order of members.
function membersOf(json: unknown): Map<string, string> {
  const error = memberOf(json, "error");
  const rows: [at: string, value: unknown][] = [];
  const add = (at: string, value: unknown, leftOut?: unknown) => {
    if (!isObject(value)) return rows.push([at, value]);
    for (const [name, member] of Object.entries(value)) {
      if (member !== leftOut) rows.push([`${at}.${name}`, member]);
    }
  };
  if (isObject(error)) add("$.error", error);
  add("$", json, isObject(error) ? error : undefined);
  return new Map(rows.map(([at, value]) => [at, sortedJson(value)]));
}

function sortedJson(value: unknown): string {
  return JSON.stringify(value, (_name, member: unknown) =>
    isObject(member)
      ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  );
}

function jsonShown(json: string | undefined): string {
  return json === undefined ? "nothing" : visible(json);
}

// That these are there is compared, but not what they say.
const freeValues = new Set(["date", "x-request-id"]);
// These follow from the body.
const ofTheBody = new Set(["content-length", "etag"]);

function headerContrasts(one: Answer, other: Answer, bodiesDiffer: boolean): Contrast[] {
  const [mine, theirs] = [namesOf(one), namesOf(other)];
  const names = new Set([...mine, ...theirs].map((name) => name.toLowerCase()));
  const found = [...names].flatMap((name): Contrast[] => {
    const values = [headerOf(one, name), headerOf(other, name)] as const;
    const kind = values.includes(undefined) ? "form" : "value";
    if (values[0] === values[1] || (bodiesDiffer && ofTheBody.has(name))) return [];
    if (kind === "value" && freeValues.has(name)) return [];
    const at = [...theirs, ...mine].find((written) => written.toLowerCase() === name) ?? name;
    return [
      { at: visible(at), kind, inBody: false, one: headerShown(values[0]), other: headerShown(values[1]) },
    ];
  });
  const written = [mine.join(", "), theirs.join(", ")] as const;
  if (found.some(({ kind }) => kind === "form") || written[0] === written[1]) return found;
  const [first, second] = [visible(written[0]), visible(written[1])];
  return [...found, { at: "headers", kind: "form", inBody: false, one: first, other: second }];
}

function namesOf({ headers }: Answer): string[] {
  return headers.map(([name]) => name);
}

function headerShown(value: string | undefined): string {
  return value === undefined ? "no such header" : quoted(value);
}
