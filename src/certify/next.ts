import type { Endpoint } from "../api/endpoint.js";
import { commandLine, execAgain, pluralize } from "../report/plain-text.js";
import type { ReportDocument, ReportFormat, TableRow, Tone } from "../report/render/document.js";
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
import { lastRequestOf } from "./brief.js";
import { remedyOf } from "./plan.js";
import type { CertifyResult, Run } from "./result.js";

export type TryAt = (changes: ChangeFields, now: number) => Promise<Tried>;

interface Tried {
  readonly failed: boolean;
  readonly shown: boolean;
  readonly lastRequest?: Run["lastRequest"];
}

/** `unclear`: it also fails without any change at that date, or not each time. */
type NextVerdict = "passes" | "breaks" | "unclear" | "not_covered";

export interface Rehearsed extends Pick<AnnouncedChange, "ref"> {
  readonly say?: string | undefined;
  /** The dates of the change: its own, and a moved path's sunset. */
  readonly dates: readonly string[];
  readonly verdict: NextVerdict;
  readonly breaksOn?: string;
  readonly sentence?: string;
  readonly whatToDo?: string;
  readonly lastRequest?: Run["lastRequest"];
}

const hour = 60 * minute;

/** Runs a client around each date of each announced change of these endpoints. It must pass without any change. */
export function rehearseChanges(
  changes: ChangeFields,
  tryAt: TryAt,
  endpoints?: readonly Endpoint[],
): Promise<Rehearsed[]> {
  return Promise.all(
    datedChanges(changes, endpoints).map((change) =>
      rehearseOne(change, { [change.ref]: changes[change.ref] as ChangeFields[string] }, tryAt),
    ),
  );
}

async function rehearseOne(change: AnnouncedChange, only: ChangeFields, tryAt: TryAt): Promise<Rehearsed> {
  const { ref, fields, at, ends } = change;
  const dates = Number.isFinite(ends) ? [at, ends] : [at];
  const known = { ref, say: fields.say, dates: dates.map(dateText) };
  const moments = dates.flatMap((date) => [date - hour, date, date + day]).sort((one, other) => one - other);
  const tries = await Promise.all(moments.map((now) => tryAt(only, now)));
  const now = moments[tries.findIndex(({ failed }) => failed)];
  if (now === undefined) {
    return { ...known, verdict: tries.some(({ shown }) => shown) ? "passes" : "not_covered" };
  }
  const [again, without] = await Promise.all([tryAt(only, now), tryAt({}, now)]);
  const breaksOn = dateText(dates.filter((date) => date <= now).at(-1) ?? now);
  const found = { ...known, breaksOn, ...(again.lastRequest && { lastRequest: again.lastRequest }) };
  if (without.failed) {
    const sentence = "fails at that time without any change";
    const whatToDo = "write the times of the scenario as durations, such as 30d";
    return { ...found, verdict: "unclear", sentence, whatToDo };
  }
  if (!again.failed) {
    const whatToDo = "find out what else the client depends on";
    return { ...found, verdict: "unclear", sentence: "fails once and passes once", whatToDo };
  }
  const texts = partsOf(change).map((part) => wordsFor(part, change, now));
  const sentence = listed(
    texts.map(([one = ""]) => one),
    "or",
  );
  const whatToDo = [...new Set(texts.map(([, one = ""]) => one))].join("; ");
  return { ...found, verdict: "breaks", sentence, whatToDo };
}

/** What a client relies on, and what to do instead, by the part of a change. */
const wordsOf: Readonly<Record<string, readonly string[]>> = {
  codes: ["relies on the code `{name}` of a {status}", "read the status"],
  statuses: ["relies on the status {status} of `{name}`", "read `error.code` as well"],
  "members.add": ["rejects the new member `{name}` of `{in}`", "ignore members that you do not know"],
  "members.rename": ["relies on the member `{name}` of `{in}`", "read `{to}` if it is there"],
  "members.remove": ["relies on the member `{name}` of `{in}`", "do without it"],
  "headers.add": ["rejects the header `{name}: {to}`", "ignore headers that you do not know"],
  "headers.rename": ["relies on the header `{name}`", "read `{to}` if it is there"],
  "headers.remove": ["relies on the header `{name}`", "do without it"],
  "scopes.rename": ["relies on the scope name `{name}`", "look for `{to}` as well"],
  "scopes.add": ["rejects the new scope `{name}`", "ignore scopes that you do not know"],
  "scopes.remove": ["relies on the scope `{name}`", "do without it"],
  assumptions: ["relies on the value of `{name}`, which becomes {to}", "accept each value"],
  move: [
    "rejects the headers `Deprecation`, `Sunset` and `Link` of `{name}`",
    "ignore headers that you do not know",
  ],
  sunset: ["calls `{name}` after its sunset", "call `{to}` from {at} on"],
};

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
  const remedy = kind === "assumptions" ? remedyOf(String(name)) : undefined;
  const fill = (text: string) => text.replace(/\{(\w+)\}/g, (_, fact) => String(facts[fact]));
  const lower = remedy && remedy.slice(0, 1).toLowerCase() + remedy.slice(1).replace(/\.$/, "");
  return [fill(sentence), lower ?? fill(whatToDo)];
}

export interface Rehearsal {
  readonly scenario: string;
  /** The file or bundled name of the changes. */
  readonly next: string;
  readonly command: readonly string[];
  readonly intercept?: readonly string[] | undefined;
  readonly document?: CertifyResult["document"];
  /** `unusable`: without any change, the client fails or sends no request. */
  readonly verdict: "passed" | "failed" | "unclear" | "unusable";
  readonly runs: number;
  readonly changes: readonly Rehearsed[];
}

const tones: Readonly<Record<NextVerdict, Tone>> = {
  passes: "good",
  breaks: "bad",
  unclear: "bad",
  not_covered: "quiet",
};

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
      lastRequestOf(one),
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
  return `${count("breaks")} of ${of} break the client: ${count("passes")} pass, ${count("not_covered")} not covered, ${count("unclear")} unclear.`;
}
