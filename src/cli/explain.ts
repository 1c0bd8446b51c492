import { authorizationChecks } from "../api/authorize.js";
import { whatToDoAbout } from "../api/next-request.js";
import { checkResults } from "../api/request-details.js";
import { nodePlatform } from "../node/platform.js";
import { shellWord } from "../report/curl-line.js";
import { alignColumns } from "../report/plain-text.js";
import { checkLines, responseFacts } from "../report/request-text.js";
import { type AdviceId, adviceOf } from "../rules/advice.js";
import { SandboxError } from "../rules/errors.js";
import {
  describeKeyForm,
  findPrefix,
  fingerprintOf,
  isSandboxKey,
  isWellFormedKey,
  keyPrefixes,
  keyVariable,
  parseApiKey,
} from "../rules/keys/key-text.js";
import { redactPlainKeys } from "../rules/keys/redact.js";
import { type OutcomeId, outcomeRow } from "../rules/outcomes.js";
import { bundledScenarios } from "../scenario/bundled.js";
import { isReserved, reservedKeyRefs } from "../scenario/format/fields.js";
import { listedKeys } from "../scenario/keys.js";
import type { Scenario } from "../scenario/scenario.generated.js";
import { didYouMean, listed, quote } from "../schema/words.js";
import type { CommandCall } from "./command.js";
import { usageError } from "./exit-codes.js";
import type { Style } from "./terminal.js";

/** What an endpoint returns for a key, and why, as JSON. */
interface ExplainedKey extends ForeignKeyFacts {
  /** The running sandbox's URL; `null` for what the scenario would respond. */
  readonly url: string | null;
  /** `null` for a key that the sandbox does not have, and for `none`. */
  readonly key: string | null;
  readonly fingerprint: string | null;
  readonly method: string;
  readonly path: string;
  readonly at: string;
  /** The checks of a request. An outcome is `null` unless the check rejects the key. */
  readonly checks: readonly {
    readonly name: string;
    readonly question: string;
    readonly result: "passed" | "rejected" | "not_reached";
    readonly outcome: OutcomeId | null;
  }[];
  readonly status: number;
  readonly code: string | null;
  readonly outcome: OutcomeId;
  readonly fault_outcomes: readonly OutcomeId[];
  readonly when: string;
  readonly why: string | null;
  readonly what_to_do: string;
}

/** What shows of a foreign key: one that the sandbox does not have. */
interface ForeignKeyFacts {
  /** Well-formed, but not of this scenario and not of any sandbox. */
  readonly real_key_suspected: boolean;
  readonly key_of_another_sandbox: boolean;
  /** The ref of the key that this one is with another prefix (R15). */
  readonly other_prefix_of: string | null;
  /** Whether it has the mark of a sandbox, but not the length of its keys. */
  readonly key_cut: boolean;
  /** The form of the key. */
  readonly key_form: string | null;
}

/** The facts of a ref, and of a key that the sandbox has. */
const noForeignKey: ForeignKeyFacts = {
  real_key_suspected: false,
  key_of_another_sandbox: false,
  other_prefix_of: null,
  key_cut: false,
  key_form: null,
};

/** What a word of the command line means. */
type MeantKey =
  /** A key of the sandbox, by its ref or as a client sends it; or a reserved ref, such as `none`. */
  | { readonly kind: "ref"; readonly ref: string }
  /** What a client sends as a key, and no key of the sandbox has. The reserved ref that stands in for it gets the same response. */
  | {
      readonly kind: "secret_of_no_key";
      readonly apiKey: string;
      readonly fingerprint: string;
      readonly standIn: "unknown" | "malformed";
    };

/** Prints what the next request with a key gets. Throws `unknown_ref` for a word that looks like a ref, and is none. */
export async function printKey(
  word: string,
  keys: KeySource,
  { flags, io }: Pick<CommandCall<{ readonly json?: boolean }>, "flags" | "io">,
): Promise<void> {
  const explained = await explainKey(word, keys, io.program);
  if (flags.json) {
    io.stdout.write(redactPlainKeys(`${JSON.stringify(explained, null, 2)}\n`));
    return;
  }
  const style = io.stdout.style();
  const text = explanationText(explained, keys.scenario, io.program);
  const parts = [paintExplanation(text, style)];
  for (const note of keyNotes(explained)) parts.push(style.palette.yellow(note));
  io.stdout.say(redactPlainKeys(`${parts.join("\n\n")}\n`));
}

async function explainKey(word: string, keys: KeySource, program: string): Promise<ExplainedKey> {
  const meant = readKeyWord(word, keys, program);
  const ref = meant.kind === "ref" ? meant.ref : meant.standIn;
  const next = await keys.predict(ref);

  const { outcome } = next;
  const { status, when } = outcomeRow(outcome);
  const checks = checkResults(outcome, authorizationChecks).map(({ name, question, result }) => {
    return { name, question, result, outcome: result === "rejected" ? outcome : null };
  });

  // Each sandbox also has a secret for `unknown`, which is not foreign to it.
  const isForeign = meant.kind === "secret_of_no_key" && meant.fingerprint !== next.fingerprint;
  return {
    url: keys.url,
    key: isReserved(ref) ? null : ref,
    fingerprint: isForeign ? meant.fingerprint : next.fingerprint,
    method: keys.method,
    path: keys.path,
    at: keys.at,
    checks,
    status,
    code: next.code,
    outcome,
    fault_outcomes: next.faultOutcomes,
    when,
    why: next.why,
    what_to_do: whatToDoAbout(outcome, next),
    ...(isForeign ? foreignKeyFacts(meant.apiKey, keys) : noForeignKey),
  };
}

/** The form of the start of a request id. A word of this form that is no ref is meant as one. */
const cutRequestId = /^(?:req_[0-9a-z]*|[0-9a-f]{8}-[0-9a-f-]*|1-[0-9a-f]{8}-[0-9a-f]*)$/i;

function readKeyWord(word: string, keys: KeySource, program: string): MeantKey {
  if (keys.refs.includes(word) || isReserved(word)) return { kind: "ref", ref: word };
  if (cutRequestId.test(word)) {
    throw usageError(
      `${quote(word)} is too short for the id of a request. Copy the whole X-Request-Id, or use last.`,
    );
  }
  const [, nameOfRef] = /^SVC_(?:API_KEY|KEY_(\w+))$/.exec(word) ?? [];
  if (word === "SVC_API_KEY" || nameOfRef !== undefined) {
    const ref = keys.refs.find((one) => keyVariable(one) === word);
    const orRef = ref === undefined ? "" : `, or the key's ref: ${program} explain ${ref}`;
    throw usageError(`${quote(word)} is the name of a variable. Write "$${word}" for its value${orRef}.`);
  }
  // Messages leave out long words: a key without its prefix may look like a ref.
  const mayBeShown = word.length <= 24 && parseApiKey(word) === undefined;
  const looksLikeRef = /^[a-z0-9]+(?:[-_.][a-z0-9]+)*$/i.test(word);
  if (mayBeShown && looksLikeRef) throw unknownKey(word, keys, program);

  // Any other word is a key, as a client sends it.
  const apiKey = word.trim();
  const sha256 = nodePlatform.sha256(apiKey);
  const ref = keys.findRef(sha256);
  if (ref !== undefined) return { kind: "ref", ref };
  const standIn = isWellFormedKey(apiKey) ? "unknown" : "malformed";
  return { kind: "secret_of_no_key", apiKey, fingerprint: fingerprintOf(sha256), standIn };
}

/** Whether the bundled key-states has a key of this name. */
export function isKeyOfKeyStates(word: string): boolean {
  const keyStates: Scenario = bundledScenarios["key-states"];
  return [...listedKeys(keyStates)].some(({ ref }) => ref === word);
}

/** The error for a word that looks like a ref, and is none. */
function unknownKey(word: string, keys: KeySource, program: string): SandboxError {
  const { refs, scenario, url } = keys;
  const unknown = `Unknown key ${quote(word)} in ${scenario}.`;
  const listKeys = `${program} keys ${shellWord(scenario)}`;

  if (isKeyOfKeyStates(word)) {
    return new SandboxError(
      "unknown_ref",
      `${unknown} It is a key of the bundled key-states: \`${program} explain ${word} key-states\`. List the keys of ${scenario} with \`${listKeys}\`.`,
    );
  }

  // An outcome leads to the key with its name: `401.revoked` to `revoked`.
  const name = word.replace(/^\d{3}\./, "");
  const hint = didYouMean(name, [...refs, ...reservedKeyRefs]);
  const list = url === null ? `List its keys with \`${listKeys}\`` : "Name one of its keys";
  return new SandboxError(
    "unknown_ref",
    `${unknown}${hint} ${list}, or use ${listed(reservedKeyRefs, "or")}.`,
  );
}

function foreignKeyFacts(apiKey: string, keys: KeySource): ForeignKeyFacts {
  const isWhole = isSandboxKey(apiKey);
  const parsed = parseApiKey(apiKey);
  const otherPrefixOf = refWithOtherPrefix(apiKey, keys);
  return {
    real_key_suspected: parsed?.hasMark === false,
    key_of_another_sandbox: isWhole && otherPrefixOf === null,
    other_prefix_of: otherPrefixOf,
    key_cut: parsed?.hasMark === true && !isWhole,
    key_form: describeKeyForm(apiKey),
  };
}

/** Returns the ref of the key that a text is with another prefix; `null` if there is none. */
function refWithOtherPrefix(text: string, keys: KeySource): string | null {
  const prefixRow = findPrefix(text);
  if (prefixRow === undefined) return null;
  const rest = text.slice(prefixRow.prefix.length);
  for (const { prefix } of keyPrefixes) {
    const ref = keys.findRef(nodePlatform.sha256(prefix + rest));
    if (ref !== undefined) return ref;
  }
  return null;
}

/** The explanation for people, without colors. */
function explanationText(explained: ExplainedKey, scenario: string, program: string): string {
  const { url, method, path, at, key, fingerprint, key_form: form, fault_outcomes: faults } = explained;
  // By its ref if the sandbox has it.
  let sentKey = "no key";
  if (key !== null) sentKey = `the key ${key}`;
  else if (fingerprint !== null) sentKey = `a key of fingerprint ${fingerprint}`;
  if (key === null && form !== null) sentKey += ` (${form})`;

  const lines: string[] = [];
  if (url === null) lines.push(`This is what ${scenario} would respond.`);
  const sandbox = url === null ? `scenario ${scenario}` : `scenario ${scenario} on ${url}`;
  lines.push(`${method} ${path} with ${sentKey}, ${sandbox}, at ${at}`, "");
  lines.push(...checkLines(explained.checks), "");

  const facts = responseFacts({ ...explained, whatToDo: explained.what_to_do });
  if (faults.length > 0) {
    const show = `${program} show ${shellWord(scenario)}`;
    facts.push(["Faults", `${faults.join(", ")} may replace this response; ${show}`]);
  }
  lines.push(...alignColumns(facts));
  return lines.join("\n");
}

const realKeyWarning =
  "This looks like a real key: it is well-formed, not one of this scenario, and lacks the mark of a sandbox key (sbx). If it is real, rotate it: it has been in your shell, and perhaps in its history.";

/** What the user should know about a key that the sandbox does not have. */
function keyNotes(explained: ExplainedKey): string[] {
  const notes: string[] = [];
  if (explained.real_key_suspected) notes.push(realKeyWarning);
  const advice: AdviceId[] = [];
  if (explained.key_of_another_sandbox) advice.push("key-of-another-sandbox");
  if (explained.key_cut) advice.push("key-cut");
  for (const id of advice) {
    const { meaning, whatToDo } = adviceOf(id);
    notes.push(`${meaning} ${whatToDo}`);
  }
  if (explained.other_prefix_of !== null) {
    notes.push(
      `This is the key ${explained.other_prefix_of} with another prefix, so it is an unknown key (R15). Send it with its own prefix, which shows the environment.`,
    );
  }
  return notes;
}

/** How the results of checks look. */
const resultMarks = {
  passed: { sign: "✓", color: "green" },
  rejected: { sign: "✗", color: "red" },
  "not reached": { sign: "·", color: "dim" },
} as const;

/** The line of a check, as `checkLines` writes it: `  passed  key  Is the key known?`. */
const checkLine = /^ {2}(passed|rejected|not reached) +(.*)$/;

/** Colors the checks of an explanation, whose text may be from another process. On a terminal, their results are signs. */
export function paintExplanation(text: string, { palette, isTerminal }: Style): string {
  const lines = text.split("\n").map((line) => {
    const [, result, question] = checkLine.exec(line) ?? [];
    if (result === undefined) return line;
    const { sign, color } = resultMarks[result as keyof typeof resultMarks]; // the pattern has these three
    const painted = isTerminal ? `${sign}  ${question}` : line.trimStart();
    return `  ${palette[color](painted)}`;
  });
  return lines.join("\n");
}

/** The keys of a sandbox: of one that runs, or of one in this process. */
export interface KeySource {
  readonly scenario: string;
  /** `null` for a sandbox of this process. */
  readonly url: string | null;
  /** The time of its clock. */
  readonly at: string;
  /** The endpoint that gets the next request. */
  readonly method: string;
  readonly path: string;
  readonly refs: readonly string[];
  /** The ref of the key with this SHA-256. */
  readonly findRef: (sha256: string) => string | undefined;
  /** What the next request with the key of a ref gets, also of a reserved ref. */
  readonly predict: (ref: string) => NextRequest | Promise<NextRequest>;
}

interface NextRequest {
  /** `null` for `none`. */
  readonly fingerprint: string | null;
  readonly outcome: OutcomeId;
  readonly code: string | null;
  readonly why: string | null;
  readonly until: string | null;
  readonly faultOutcomes: readonly OutcomeId[];
}
