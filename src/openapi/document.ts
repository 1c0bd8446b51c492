import { escapeControls } from "../rules/redact.js";
import { isTooDeep, parsedJson } from "../rules/schema/json.js";
import type { Members } from "../rules/schema/messages.js";
import { isMapping, type Path, pathText } from "../rules/schema/shape.js";
import { quote } from "../rules/schema/words.js";
import { besides } from "../scenario/document-files.js";
import { scenarioLimits } from "../scenario/format/fields.js";
import { placeInText } from "../scenario/places.js";
import { ScenarioError, type ScenarioMistake, type SourcePlace } from "../scenario/problems.js";
import type { Scenario } from "../scenario/scenario.generated.js";
import { readDocument } from "../scenario/yaml.js";

// An OpenAPI document from its text, or from the texts of several files. The host of the sandbox passes it, so it is trusted.

/** The text of a document, the file name for its problems, and the texts of the files that its references name. */
export type DocumentText = Exclude<Scenario["openapi"], string | undefined>;

export interface ApiDocument {
  readonly root: Members;
  /** Whether its schemas have the keywords of OpenAPI 3.0. */
  readonly isOld: boolean;
  readonly notes: Notes;
}

/** Reads a document in JSON or YAML. Throws a `ScenarioError` only if nothing of it can be served. */
export function readApiDocument({ text, file, files }: DocumentText): ApiDocument {
  const problems: ScenarioMistake[] = [];
  const { value: root, placeOf } = readText(text, file ?? unnamed, (problem) => void problems.push(problem));
  if (problems.length === 0) problems.push(...problemsOf(root));
  refuse(problems, file, placeOf);
  const notes = new Notes();
  const version = versionOf(root as Members);
  if (version === "3.2")
    notes.say(
      "unchecked",
      "The document is OpenAPI 3.2. It is read like 3.1, without what is new, such as QUERY.",
    );
  const isOld = version === "3.0";
  if (files === undefined) return { root: root as Members, isOld, notes };
  return { root: withFiles(root as Members, files, (file ?? unnamed).replace(/^.*[\\/]/, "")), isOld, notes };
}

const filesMember = "x-files";

/** A document with the content of other files as a member, where its references lead then. */
function withFiles(root: Members, files: Readonly<Record<string, string>>, main: string): Members {
  const contents: Record<string, unknown> = {};
  for (const [name, text] of Object.entries(files)) {
    // A description may be in a file of its own.
    if (!/\.(?:json|ya?ml)$/i.test(name)) contents[name] = text;
    if (Object.hasOwn(contents, name)) continue;
    const problems: ScenarioMistake[] = [];
    const { value, placeOf } = readText(text, name, (problem) => void problems.push(problem));
    refuse(problems, name, placeOf);
    contents[name] = value;
  }
  const moved = new Map<unknown, unknown>();
  const move = (value: unknown, from: string): unknown => {
    if (typeof value !== "object" || value === null) return value;
    const earlier = moved.get(value);
    if (earlier !== undefined) return earlier;
    const copy = (Array.isArray(value) ? [] : {}) as Record<string, unknown>;
    moved.set(value, copy);
    for (const [name, member] of Object.entries(value))
      copy[name] =
        name === "$ref" && typeof member === "string" ? referenceIn(member, from) : move(member, from);
    return copy;
  };
  const referenceIn = (reference: string, from: string): string => {
    const [name = "", pointer = ""] = reference.split(/#(.*)/s);
    const file = name === "" ? from : besides(from, decoded(name));
    if (file === "" || file === main) return `#${pointer}`;
    if (!Object.hasOwn(contents, file)) return reference;
    return `#/${filesMember}/${file.replaceAll("~", "~0").replaceAll("/", "~1")}${pointer}`;
  };
  const inFiles = Object.entries(contents).map(([name, value]) => [name, move(value, name)]);
  return { ...(move(root, "") as Members), [filesMember]: Object.fromEntries(inFiles) };
}

const unnamed = "<openapi>";

type PlaceOf = (path: Path) => SourcePlace | undefined;

/** Throws the problems of a document, if there are any. */
function refuse(problems: readonly ScenarioMistake[], file = unnamed, placeOf: PlaceOf): void {
  if (problems.length === 0) return;
  throw new ScenarioError(
    problems.map(({ code, path, message, hint = "", place }) => {
      const textPlace = place ?? placeOf(path);
      return {
        code,
        path: pathText(path),
        message,
        hint,
        file: textPlace?.source.file ?? file,
        ...textPlace?.describe(),
      };
    }),
  );
}

/** Reads the text of a document. JSON is ten times as fast as YAML, and its places are only needed for problems. */
function readText(text: string, file: string, report: (mistake: ScenarioMistake) => void) {
  const isJson = text.length <= scenarioLimits.bytesOfDocument && /^\s*[{[]/.test(text);
  const value = isJson ? parsedJson(text) : undefined;
  if (value !== undefined) {
    if (isTooDeep(value, scenarioLimits.levelsOfDocument)) report(tooDeep);
    return { value, placeOf: (path: Path) => placeInJson(text, file, path) };
  }
  const isWrong = isJson && file.endsWith(".json");
  if (isWrong) report(jsonProblem(text, file));
  const reading = isWrong ? undefined : readDocument(text, file, report);
  return { value: reading?.value, placeOf: (path: Path) => reading?.placeOf(path, "value").place };
}

const tooDeep: ScenarioMistake = {
  code: "too_deep",
  path: [],
  message: `nested deeper than ${scenarioLimits.levelsOfDocument} levels`,
  hint: "move inner schemas to components",
};

/** The place of a text's value, or of the value of a member at its top, without a tree of a large text. */
function placeInJson(text: string, file: string, [name]: Path): SourcePlace {
  let levels = 0;
  for (const { 0: token, 1: word, index } of text.matchAll(/[[\]{}]|"((?:[^"\\]|\\.)*)"(?:\s*:\s*)?/g)) {
    if (name === undefined) return placeInText(text, file, index);
    if (word === undefined) levels += /[[{]/.test(token) ? 1 : -1;
    else if (levels === 1 && word === name && !token.endsWith('"'))
      return placeInText(text, file, index + token.length);
  }
  return placeInText(text, file, 0);
}

// The message of `JSON.parse` may quote the text.
function jsonProblem(text: string, file: string): ScenarioMistake {
  let offset = 0;
  try {
    JSON.parse(text);
  } catch (error) {
    offset = Number(/position (\d+)/.exec(String(error))?.[1] ?? text.length);
  }
  const before = text.slice(0, offset).trimEnd();
  const isComma = before.endsWith(",") && /^\s*[}\]]/.test(text.slice(offset));
  const place = placeInText(text, file, isComma ? before.length - 1 : offset);
  const hint = isComma ? "remove this comma" : "correct it, or save it as .yaml";
  return { code: "yaml_syntax", path: [], message: "not valid JSON", hint, place };
}

function problemsOf(root: unknown): ScenarioMistake[] {
  const wrong = (path: Path, message: string, hint: string): ScenarioMistake[] => [
    { code: "openapi_version", path, message, hint },
  ];
  if (!isMapping(root)) return wrong([], "an OpenAPI document is a mapping", "start with openapi: 3.1.0");
  if (versionOf(root) !== undefined) return [];
  const { openapi, swagger } = root;
  if (openapi !== undefined)
    return wrong(["openapi"], `openapi is ${quote(openapi)}`, "write openapi: 3.1.0");
  if (swagger === undefined) return wrong([], "openapi is missing", "write openapi: 3.1.0");
  const problem = `this is a document of Swagger ${String(swagger).slice(0, 10)}`;
  return wrong([], problem, "convert it here: npx swagger2openapi FILE -o openapi.yaml");
}

/** Such as `3.1`; `undefined` for one that is not read. */
const versionOf = ({ openapi }: Members) => /^(3\.[012])(?:\.|$)/.exec(String(openapi))?.[1];

/** The value at a JSON pointer, such as `#/components/schemas/Pet`; `undefined` for another reference. */
export function valueAt(root: unknown, reference: string): unknown {
  if (!isPointer(reference)) return undefined;
  let value = root;
  for (const step of stepsOf(reference)) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, step)) return undefined;
    value = (value as Members)[step];
  }
  return value;
}

const isPointer = (reference: string) => /^#(?:\/|$)/.test(reference);

export function stepsOf(reference: string): string[] {
  return decoded(reference)
    .split("/")
    .slice(1)
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
}

const maxSteps = 50;

/** The object that a node or its reference is, and its path; notes a reference that leads nowhere. */
export function resolved(
  document: ApiDocument,
  node: unknown,
  path: Path,
): { readonly node: Members; readonly path: Path } {
  let place = { node: isMapping(node) ? node : {}, path };
  for (let step = 0; typeof place.node.$ref === "string"; step++) {
    const reference = place.node.$ref;
    const target = valueAt(document.root, reference);
    if (target === undefined || step === maxSteps) noteReference(document, reference);
    place = { node: isMapping(target) && step < maxSteps ? target : {}, path: stepsOf(reference) };
  }
  return place;
}

function noteReference({ root, notes }: ApiDocument, reference: string): void {
  const where = isPointer(reference)
    ? valueAt(root, reference) === undefined
      ? "to a part that the document does not have"
      : "that leads back to itself"
    : "to a file that is not in the folder of the document, to an $id or to an anchor";
  notes.add("broken", quote(reference).slice(0, 100), ["is a $ref", "references lead"], where);
}

// What a person should know about a document that is served.

/** How serious a note is, the most serious first. */
const ranks = ["broken", "differs", "unchecked"] as const;
type Rank = (typeof ranks)[number];

/** The notes of one kind. */
interface Group {
  readonly rank: Rank;
  readonly many: string;
  /** The single note and its reason, by its subject. */
  readonly bySubject: Map<string, { readonly note: string; readonly reason: string | undefined }>;
}

const maxNamed = 5;
const longestReason = 80;

/** Collects notes, and lists the notes of one kind as one sentence. */
export class Notes {
  readonly #groups = new Map<string, Group>();

  constructor(earlier?: Notes) {
    for (const [key, group] of earlier === undefined ? [] : earlier.#groups)
      this.#groups.set(key, { ...group, bySubject: new Map(group.bySubject) });
  }

  /**
   * A note about a part of the document, which its kind shares with others: `readReport is not served`,
   * `2 operations are not served`, and a reason that may differ.
   */
  add(rank: Rank, part: string, [one, many]: OneAndMany, what: string, reason?: string): void {
    this.#put(rank, `${many} ${what}`.trimEnd(), part, `${part} ${one} ${what}`.trimEnd(), reason);
  }

  /** A note as a sentence. */
  say(rank: Rank, sentence: string): void {
    this.#put(rank, sentence, sentence, sentence.replace(/\.$/, ""));
  }

  /** Each kind of notes as a sentence; the most serious first. */
  list(): string[] {
    const sorted = [...this.#groups.values()].sort(
      (first, second) => ranks.indexOf(first.rank) - ranks.indexOf(second.rank),
    );
    return sorted.map((group) => escapeControls(sentenceOf(group)));
  }

  #put(rank: Rank, many: string, subject: string, note: string, reason?: string): void {
    const key = `${rank} ${many}`;
    const group: Group = this.#groups.get(key) ?? { rank, many, bySubject: new Map() };
    group.bySubject.set(subject, { note, reason: reason?.slice(0, longestReason) });
    this.#groups.set(key, group);
  }
}

/** The verb of one part, and the parts with their verb: `has`, `operations have`. */
type OneAndMany = readonly [one: string, many: string];

function sentenceOf({ many, bySubject }: Group): string {
  const entries = [...bySubject];
  const [[, { note, reason }]] = entries as [[string, { note: string; reason: string | undefined }]];
  if (entries.length === 1) return reason === undefined ? `${note}.` : `${note}: ${reason}.`;
  const named = entries
    .slice(0, maxNamed)
    .map(([subject, one]) => (one.reason === undefined ? subject : `${subject} (${one.reason})`));
  const rest = entries.length - maxNamed;
  return `${entries.length} ${many}: ${named.join(", ")}${rest > 0 ? ` and ${rest} more` : ""}.`;
}

/** A text without percent-encoding; unchanged if that is not valid. */
export function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
