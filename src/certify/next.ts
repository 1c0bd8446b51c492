import { commandLine, pluralize } from "../report/plain-text.js";
import type { ReportDocument, ReportFormat, TableRow, TestCase, Tone } from "../report/render/document.js";
import { render, type TextStyle } from "../report/render/render.js";
import {
  type AnnouncedChange,
  type ChangeFields,
  datedChanges,
  dateText,
  type Part,
  partsOf,
} from "../sandbox/timeline.js";
import { day, minute } from "../spec/api-key.js";
import { outcomes } from "../spec/outcomes.js";
import { redactEncoded, redactValue } from "../spec/redact.js";
import { snakeCase } from "../spec/schema/json.js";
import { listed } from "../spec/schema/words.js";
import { execAgain } from "./brief.js";
import { minimize } from "./narrow.js";
import words from "./next-words.json" with { type: "json" };
import remedies from "./remedies.json" with { type: "json" };
import type { Run } from "./result.js";

/** Runs a client with announced changes, with the sandbox's clock at an instant; `undefined` leaves the clock unchanged. */
export type TryAt = (changes: ChangeFields, now: number | undefined) => Promise<Tried>;

interface Tried {
  readonly failed: boolean;
  /** The refs of the changes that some response showed. */
  readonly shown: ReadonlySet<string>;
  readonly lastRequest?: Run["lastRequest"];
}

/** `unclear`: it also fails without any change at that date, or not each time. */
type NextVerdict = "passes" | "breaks" | "unclear" | "not_covered";

/** The effect of an announced change on a client. */
export interface Rehearsed extends Pick<AnnouncedChange, "ref"> {
  readonly say?: string | undefined;
  /** The dates of the change: its own, and a moved path's sunset. */
  readonly dates: readonly string[];
  readonly verdict: NextVerdict;
  /** The first date when it breaks the client. */
  readonly breaksOn?: string;
  /** The other changes needed to break the client. */
  readonly together?: readonly string[];
  readonly sentence?: string;
  readonly whatToDo?: string;
  readonly lastRequest?: Run["lastRequest"];
}

const hour = 60 * minute;

/** Returns when a change applies, and when a moved path ends. */
const datesOf = ({ at, ends }: AnnouncedChange) => (Number.isFinite(ends) ? [at, ends] : [at]);

/** Returns the instants before, at and after a date. */
const momentsAround = (date: number) => [date - hour, date, date + day];

/**
 * Runs a client around each date of announced changes: with each change on its own, then with all changes that do not break
 * it. The client must pass without any change.
 */
export async function rehearseChanges(changes: ChangeFields, tryAt: TryAt): Promise<Rehearsed[]> {
  const alone = await Promise.all(datedChanges(changes).map((change) => rehearseOne(change, changes, tryAt)));
  const sound = alone.filter(({ verdict }) => verdict === "passes" || verdict === "not_covered");
  const pair = await breakTogether(
    pick(
      changes,
      sound.map(({ ref }) => ref),
    ),
    tryAt,
  );
  return alone.map((one) => {
    if (!pair?.refs.includes(one.ref)) return one;
    const others = pair.refs.filter((ref) => ref !== one.ref);
    const sentence = `fails together with ${listed(others, "and")}`;
    const whatToDo = "rehearseChanges these changes in one file, without the others";
    return { ...one, verdict: "breaks", together: others, sentence, whatToDo, ...pair.failure };
  });
}

async function rehearseOne(change: AnnouncedChange, changes: ChangeFields, tryAt: TryAt): Promise<Rehearsed> {
  const { ref, fields } = change;
  const only = pick(changes, [ref]);
  const dates = datesOf(change);
  const known = { ref, say: fields.say, dates: dates.map(dateText) };
  const { failure, shown } = await firstFailure(only, dates, tryAt);
  if (failure === undefined) return { ...known, verdict: shown.has(ref) ? "passes" : "not_covered" };
  const { now, ...found } = failure;
  if (found.sentence !== undefined) return { ...known, verdict: "unclear", ...found };
  const fails = async (parts: readonly Part[]) => (await tryAt({ [ref]: joined(change, parts) }, now)).failed;
  const parts = partsOf(change);
  const least = parts.length > 1 ? await minimize(parts, fails) : parts;
  const texts = least.map((part) => wordsFor(part, change, now));
  const [sentences, whatToDo] = [texts.map(([one = ""]) => one), texts.map(([, one = ""]) => one)];
  const cause = { sentence: listed(sentences, "and"), whatToDo: [...new Set(whatToDo)].join("; ") };
  return { ...known, verdict: "breaks", ...found, ...cause };
}

/** The first instant when a client fails; with a sentence, it shows nothing about the change. */
interface Failure extends Pick<Rehearsed, "breaksOn" | "sentence" | "whatToDo" | "lastRequest"> {
  readonly now: number;
}

async function firstFailure(
  changes: ChangeFields,
  dates: readonly number[],
  tryAt: TryAt,
): Promise<{ shown: ReadonlySet<string>; failure?: Failure }> {
  const moments = [...new Set(dates.flatMap(momentsAround))].sort((one, other) => one - other);
  const tries = await Promise.all(moments.map((now) => tryAt(changes, now)));
  const shown = new Set(tries.flatMap((one) => [...one.shown]));
  const index = tries.findIndex(({ failed }) => failed);
  if (index === -1) return { shown };
  const now = moments[index] as number;
  const [again, without] = await Promise.all([tryAt(changes, now), tryAt({}, now)]);
  const last = dates.filter((date) => date <= now).at(-1) ?? now;
  const facts = {
    now,
    breaksOn: dateText(last),
    ...(again.lastRequest && { lastRequest: again.lastRequest }),
  };
  if (again.failed && !without.failed) return { shown, failure: facts };
  const [sentence, whatToDo] = without.failed
    ? ["fails at that time without any change", "write the times of the scenario as durations, such as 30d"]
    : ["fails once and passes once", "find out what else the client depends on"];
  return { shown, failure: { ...facts, sentence, whatToDo } };
}

async function breakTogether(changes: ChangeFields, tryAt: TryAt) {
  const dated = datedChanges(changes);
  if (dated.length < 2) return undefined;
  const dates = dated.flatMap(datesOf).sort((one, other) => one - other);
  const { failure } = await firstFailure(changes, dates, tryAt);
  if (failure === undefined || failure.sentence !== undefined) return undefined;
  const { now, ...found } = failure;
  const fails = async (refs: readonly string[]) => (await tryAt(pick(changes, refs), now)).failed;
  return { refs: await minimize(Object.keys(changes), fails), failure: found };
}

function pick(changes: ChangeFields, refs: readonly string[]): ChangeFields {
  return Object.fromEntries(Object.entries(changes).filter(([ref]) => refs.includes(ref)));
}

/** Returns a change with some of its parts. */
function joined({ fields }: AnnouncedChange, parts: readonly Part[]): ChangeFields[string] {
  const change: Record<string, unknown> = { at: fields.at };
  for (const { path, value } of parts) {
    const [kind = "", ...names] = path;
    if (names.length === 0) change[kind] = value;
    else {
      const { in: place, on } =
        (fields as Readonly<Record<string, { in?: string; on?: number }>>)[kind] ?? {};
      change[kind] ??= { ...(place && { in: place }), ...(on && { on }) };
      const group = change[kind] as Record<string, unknown>;
      const [operation = "", name] = names;
      if (name === undefined) group[operation] = value;
      else if (operation === "remove" || value === undefined)
        group[operation] = [...((group[operation] ?? []) as string[]), name];
      else group[operation] = { ...(group[operation] as object), [name]: value };
    }
  }
  return change as unknown as ChangeFields[string];
}

const wordsOf: Readonly<Record<string, readonly string[]>> = words;

function wordsFor({ path, value }: Part, { fields, ends }: AnnouncedChange, now: number): readonly string[] {
  const [kind = "", ...names] = path;
  const { move } = fields;
  const name = kind === "move" ? move?.from : names.at(-1);
  const { status } = outcomes.find(({ path, code }) => path === name || code === name) ?? {};
  const to = kind === "move" ? move?.to : value;
  const facts: Record<string, unknown> = { name, to, status, at: fields.at, in: fields.members?.in };
  const row =
    kind === "move" ? (now < ends ? "move" : "sunset") : names.length > 1 ? `${kind}.${names[0]}` : kind;
  const [sentence = "", whatToDo = ""] = wordsOf[row] ?? [];
  const remedy = (remedies as Readonly<Record<string, string>>)[kind === "assumptions" ? String(name) : ""];
  const fill = (text: string) => text.replace(/\{(\w+)\}/g, (_, fact) => String(facts[fact]));
  const lower = remedy && remedy.slice(0, 1).toLowerCase() + remedy.slice(1).replace(/\.$/, "");
  return [fill(sentence), lower ?? fill(whatToDo)];
}

/** The effects of announced changes on a client. */
export interface Rehearsal {
  readonly scenario: string;
  /** The file or bundled name of the changes. */
  readonly next: string;
  readonly command: readonly string[];
  /** The intercepted hosts. */
  readonly intercept?: readonly string[] | undefined;
  /** `unusable`: without any change, the client fails or sends no request. */
  readonly verdict: "passed" | "failed" | "unclear" | "unusable";
  readonly runs: number;
  readonly changes: readonly Rehearsed[];
}

const tones: Readonly<Record<NextVerdict, Tone>> = {
  passes: "good",
  breaks: "bad",
  unclear: "warning",
  not_covered: "quiet",
};

/** Renders the calendar of announced changes for a client. */
export function renderCalendar(rehearsal: Rehearsal, format: ReportFormat, style?: TextStyle): string {
  return render(calendarOf(redactValue(rehearsal, redactEncoded)), format, style);
}

function calendarOf(rehearsal: Rehearsal): ReportDocument {
  const { scenario, next, command, verdict, runs, changes } = rehearsal;
  const again = (date = "") => execAgain([scenario, "--at", date, "--changes", next], rehearsal);
  const row = (one: Rehearsed): TableRow => ({
    cells: [one.dates.join(", "), one.ref, { text: textOf(one), tone: tones[one.verdict] }],
    details: [
      one.say === undefined ? [] : [one.say],
      one.lastRequest
        ? [`${one.lastRequest.pathId}, ${one.lastRequest.status || "no response"}, ${one.lastRequest.id}`]
        : [],
      one.breaksOn === undefined ? [] : [again(one.breaksOn)],
    ],
  });
  const details = ["announced", "last request", "see it again"];
  return {
    kind: "calendar",
    subject: next,
    title: `${commandLine(command)} in ${pluralize(runs, "run")} against ${scenario}, with the changes of ${next}`,
    sections: [
      { title: "Calendar", columns: ["date", "change", "verdict", ...details], rows: changes.map(row) },
    ],
    notes: [],
    conclusion: { text: conclusionOf(rehearsal), tone: verdict === "passed" ? "good" : "bad" },
    failures: [],
    suites: [{ name: "changes", cases: changes.map((one) => caseOf(one, again)) }],
    json: snakeCase({ svcSandboxCalendar: 1, ...rehearsal }) as object,
  };
}

/** As in "Breaks on 2027-06-01: relies on the code `rate_limited` of a 429; read the status." */
function textOf({ verdict, breaksOn, sentence, whatToDo }: Rehearsed): string {
  if (verdict === "passes") return "passes";
  if (verdict === "not_covered") return "not covered: the client gets no response that it changes";
  const start = verdict === "breaks" ? `Breaks on ${breaksOn}` : `Unclear on ${breaksOn}`;
  return `${start}: ${sentence}; ${whatToDo}.`;
}

function conclusionOf({ verdict, changes }: Rehearsal): string {
  const count = (wanted: NextVerdict) => changes.filter((one) => one.verdict === wanted).length;
  if (verdict === "unusable")
    return "Not rehearsed: the client must pass without any change, and send requests.";
  const of = pluralize(changes.length, "announced change");
  const counts = `${count("passes")} of ${of} pass, ${count("not_covered")} not covered, ${count("unclear")} unclear`;
  const [first] = changes
    .flatMap(({ breaksOn, verdict }) => (verdict === "breaks" ? (breaksOn ?? []) : []))
    .sort();
  return first === undefined
    ? `No change breaks the client: ${counts}.`
    : `The client breaks on ${first}: ${counts}.`;
}

function caseOf(one: Rehearsed, again: (date?: string) => string): TestCase {
  const name = `${one.dates[0]} ${one.ref}`;
  if (one.verdict === "passes") return { name, verdict: "passed" };
  if (one.verdict === "not_covered") return { name, verdict: "skipped", message: textOf(one) };
  return { name, verdict: "failed", message: textOf(one), output: again(one.breaksOn) };
}
