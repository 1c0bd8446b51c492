import { authorizationChecks } from "../../api/authorize.js";
import { me } from "../../api/endpoints/me.js";
import { endpointNamed } from "../../api/endpoints.js";
import { nextRequest, whatToDoAbout } from "../../api/next-request.js";
import { checkResults } from "../../api/request-details.js";
import { isRequestId } from "../../api/variation/request-id-forms.js";
import { ControlClient } from "../../node/clients/control-client.js";
import { findListener, longestSearch } from "../../node/clients/find-listener.js";
import { nodePlatform, startInNode } from "../../node/platform.js";
import { alignColumns, shellWord } from "../../report/plain-text.js";
import { checkLines, responseFacts } from "../../report/request-text.js";
import { type AdviceId, adviceOf } from "../../rules/advice.js";
import { SandboxError } from "../../rules/errors.js";
import {
  describeKeyForm,
  findPrefix,
  fingerprintOf,
  isSandboxKey,
  isWellFormedKey,
  keyPrefixes,
  parseApiKey,
} from "../../rules/key-text.js";
import { type OutcomeId, outcomeRow } from "../../rules/outcomes.js";
import { redactPlainKeys } from "../../rules/redact.js";
import { isoTime } from "../../rules/time.js";
import type { Endpoint } from "../../sandbox/endpoint.js";
import { fingerprintOfRef } from "../../sandbox/secrets.js";
import { bundledScenarios } from "../../scenario/bundled.js";
import { isReserved, reservedKeyRefs } from "../../scenario/format/refs.js";
import { listedKeys } from "../../scenario/keys/scenario-keys.js";
import type { Scenario } from "../../scenario/scenario.generated.js";
import { didYouMean, listed, quote } from "../../schema/words.js";
import { type CallOf, declareCommand } from "../command.js";
import { usageError } from "../exit-codes.js";
import * as flag from "../flags.js";
import type { Io } from "../io.js";
import { paintStatus, type Style } from "../output/terminal.js";
import { loadNamed } from "../scenario/open-scenario.js";

/** Where the running sandbox is, and how to call it. */
const runningFlags = {
  url: flag.cliOnlyOption("--url <url>", flag.runningUrlText, (text) => text),
  ...flag.callFlags,
};
const flags = { endpoint: flag.endpoint, ...runningFlags, json: flag.json, ...flag.sandboxFlags };
type ExplainCall = CallOf<typeof flags>;

const runningFlagNames = flag.flagNamesOf(runningFlags);
const sandboxFlagNames = flag.flagNamesOf(flag.sandboxFlags);

/** The form of the start of a request id. A word of this form that is no ref is meant as one. */
const cutRequestId = /^(?:req_[0-9a-z]*|[0-9a-f]{8}-[0-9a-f-]*|1-[0-9a-f]{8}-[0-9a-f]*)$/i;

export const explainCommand = declareCommand({
  summary: "show why a request or a key was rejected, and what to do",
  description:
    "Shows a request of a running sandbox: its checks in order, the cause, the fault, advice, what to do, and the requests with the same key around it. Or shows what the next request with a key gets there; with a scenario, --seed, --now, --frozen or --profile, or if no sandbox runs, what the scenario would respond. Sends and counts nothing, and never prints or sends a key.",
  args: {
    "<key>":
      "an X-Request-Id, last (the latest rejected request, unless a key has this name), a key's ref, a full key, or one of: none, malformed, unknown",
    ...flag.scenarioArgument,
  },
  flags,
  modes: [
    {
      name: "explain <request id or last>",
      when: isAboutRequest,
      words: ["<key>"],
      flags: ["json", ...runningFlagNames],
    },
    {
      // A scenario, or one of these flags, is about a sandbox to start, and not about the one that runs. A variable sets
      // the flag for each sandbox that starts, so it says nothing of this call.
      name: "explain <key> [scenario]",
      when: ({ args, flagsOnLine }) =>
        args.length > 1 || sandboxFlagNames.some((name) => flagsOnLine[name] !== undefined),
      words: ["<key>", "[scenario]"],
      flags: ["endpoint", "json", ...sandboxFlagNames],
    },
    {
      name: "explain <key>",
      words: ["<key>"],
      // If no sandbox runs, one of the usual scenario is started, as the variables say.
      flags: ["endpoint", "json", ...runningFlagNames, ...sandboxFlagNames],
    },
  ],
  examples: {
    "svc-sandbox explain last": "the latest rejected request of http://127.0.0.1:4747",
    "svc-sandbox explain req_bc8550a0796dcd92bd275137": "the request with this X-Request-Id",
    "svc-sandbox explain revoked": "a key of the running sandbox, by its ref",
    'svc-sandbox explain "$SVC_API_KEY" my.yaml': "the key that your client sends",
    "svc-sandbox explain main scenario.yaml --endpoint createReport": "at another endpoint",
    "svc-sandbox explain none --json": "a request without a key, for machines",
  },
  async run(call) {
    const { mode, args, flags, io } = call;
    const [word = "", scenario] = args;
    if (mode === "explain <key> [scenario]") {
      await sayKey(word, await ownKeys(scenario, flags, io), call);
      return;
    }
    if (mode === "explain <key>") {
      const keys = await findRunningKeys(word, call);
      await sayKey(word, keys ?? (await ownKeys(undefined, flags, io)), call);
      return;
    }

    const client = new ControlClient(flag.controlAddress(flags.url, flags, io));
    if (word === "last") {
      const keys = await runningKeys(client, undefined);
      // A key of this name comes first, as with a scenario.
      if (keys.refs.includes(word)) {
        await sayKey(word, keys, call);
        return;
      }
    }
    await sayRequest(word, client, call);
  },
});

/** Whether a call is about a request of a running sandbox, and not about a key. A scenario may have a key `last`. */
function isAboutRequest({ args }: Pick<ExplainCall, "args">): boolean {
  const [word = "", scenario] = args;
  if (word === "last") return scenario === undefined;
  return isRequestId(word);
}

/** Explains a request that the running sandbox has got. */
async function sayRequest(id: string, client: ControlClient, { flags, io }: ExplainCall): Promise<void> {
  const { text, ...details } = await client.request(id);
  if (flags.json) {
    io.stdout.write(redactPlainKeys(`${JSON.stringify(details, null, 2)}\n`));
    return;
  }
  io.stdout.say(redactPlainKeys(`${paintExplanation(text, details, io.stdout.style())}\n`));
}

/** Explains what the next request with a key gets. */
async function sayKey(word: string, keys: KeySource, { flags, io }: ExplainCall): Promise<void> {
  const explained = await explainKey(word, keys, io.program);
  if (flags.json) {
    io.stdout.write(`${JSON.stringify(explained, null, 2)}\n`);
    return;
  }
  const style = io.stdout.style();
  const text = explanationText(explained, keys, io.program);
  const parts = [paintExplanation(text, explained, style)];
  for (const note of keyNotes(explained)) parts.push(style.palette.yellow(note));
  io.stdout.say(redactPlainKeys(`${parts.join("\n\n")}\n`));
}

/** The keys of a sandbox: of one that runs, or of one in this process. */
interface KeySource {
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

/** The keys of the sandbox that runs; `undefined` if none does. */
async function findRunningKeys(word: string, call: ExplainCall): Promise<KeySource | undefined> {
  const client = await findRunning(word, call);
  return client && runningKeys(client, call.flags.endpoint);
}

/** The client of the sandbox that runs; `undefined` if none does. */
async function findRunning(word: string, { flags, io }: ExplainCall): Promise<ControlClient | undefined> {
  if (flags.url !== undefined || io.env.SVC_CONTROL_URL) {
    return new ControlClient(flag.controlAddress(flags.url, flags, io));
  }

  const timeout = flags.timeout ?? longestSearch;
  const listener = await findListener(flag.standardHost, timeout);
  if (listener.kind === "sandbox") {
    return new ControlClient(flag.controlAddress(listener.sandbox.url, flags, io));
  }
  if (listener.kind !== "silent") return undefined;
  throw usageError(
    `Failed to ask the sandbox on ${flag.standardHost}: no response came within ${timeout / 1000} s. Wait longer with --timeout, name another sandbox with --url, or name a scenario: ${io.program} explain ${shellWord(word)} key-states`,
  );
}

/** The keys of a running sandbox. */
async function runningKeys(client: ControlClient, operationId: string | undefined): Promise<KeySource> {
  const { url, scenario, now, keys } = await client.keys();
  let endpoint: Pick<Endpoint, "method" | "path"> = me;
  if (operationId !== undefined) {
    const { endpoints } = await client.report();
    endpoint = endpointNamed({ name: scenario, endpoints }, operationId);
  }
  return {
    scenario,
    url,
    at: now,
    method: endpoint.method,
    path: endpoint.path,
    refs: keys.map(({ ref }) => ref),
    findRef: (sha256) => keys.find(({ fingerprint }) => fingerprint === fingerprintOf(sha256))?.ref,
    async predict(ref) {
      const { fingerprint, next_request: next } = await client.key(ref, operationId);
      return { fingerprint, ...next, faultOutcomes: next.fault_outcomes };
    },
  };
}

/** The keys of a scenario, in a sandbox of this process. */
async function ownKeys(
  scenario: string | undefined,
  flags: ExplainCall["flags"],
  io: Io,
): Promise<KeySource> {
  const loaded = await loadNamed(scenario, io);
  const sandbox = startInNode(loaded, flags);
  const endpoint = endpointNamed(sandbox, flags.endpoint);
  return {
    scenario: loaded.name,
    url: null,
    at: isoTime(sandbox.clock.now()),
    method: endpoint.method,
    path: endpoint.path,
    refs: [...sandbox.registry.keys.keys()],
    findRef: (sha256) => sandbox.registry.find(sha256)?.key.ref,
    predict: (ref) => ({
      fingerprint: fingerprintOfRef(sandbox, ref),
      ...nextRequest(sandbox, ref, endpoint),
    }),
  };
}

/** What an endpoint returns for a key, and why, as JSON. */
interface ExplainedKey extends StrayFacts {
  /** The running sandbox's URL; `null` for what the scenario would respond. */
  readonly url: string | null;
  /** `null` for a key that the sandbox does not have, and for `none`. */
  readonly key: string | null;
  readonly fingerprint: string | null;
  readonly method: string;
  readonly path: string;
  readonly at: string;
  readonly checks: readonly ExplainedCheck[];
  readonly status: number;
  readonly code: string | null;
  readonly outcome: OutcomeId;
  readonly fault_outcomes: readonly OutcomeId[];
  readonly when: string;
  readonly why: string | null;
  readonly what_to_do: string;
}

interface ExplainedCheck extends Omit<ReturnType<typeof checkResults>[number], "rules"> {
  /** `null` unless the check rejects the key. */
  readonly outcome: OutcomeId | null;
}

/** What shows of a key that the sandbox does not have. */
interface StrayFacts {
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

/** The facts of a key that is no stray. */
const notStray: StrayFacts = {
  real_key_suspected: false,
  key_of_another_sandbox: false,
  other_prefix_of: null,
  key_cut: false,
  key_form: null,
};

/** Explains what the next request with a key gets. Throws `unknown_ref` for a word that looks like a ref, and is none. */
async function explainKey(word: string, keys: KeySource, program: string): Promise<ExplainedKey> {
  const isKey = keys.refs.includes(word);
  const isRef = isKey || isReserved(word);
  if (!isRef && cutRequestId.test(word)) {
    throw usageError(
      `${quote(word)} is too short for the id of a request. Copy the whole X-Request-Id, or use last.`,
    );
  }
  if (!isRef && looksLikeRef(word)) throw unknownKey(word, keys, program);

  // Any other word is a key, as a client sends it. One that no sandbox has gets what the reserved ref of its kind gets.
  const apiKey = word.trim();
  const sha256 = nodePlatform.sha256(apiKey);
  const key = isKey ? word : (keys.findRef(sha256) ?? null);
  const reservedRef = isWellFormedKey(apiKey) ? "unknown" : "malformed";
  const ref = isRef ? word : (key ?? reservedRef);
  const next = await keys.predict(ref);
  const fingerprint = isRef ? next.fingerprint : fingerprintOf(sha256);

  const { outcome } = next;
  const { status, when } = outcomeRow(outcome);
  const checks: ExplainedCheck[] = [];
  for (const { name, question, result } of checkResults(outcome, authorizationChecks)) {
    checks.push({ name, question, result, outcome: result === "rejected" ? outcome : null });
  }
  // A key that the sandbox has, also the one that stands for `unknown`, has the fingerprint of its ref.
  const isStray = fingerprint !== next.fingerprint;
  return {
    url: keys.url,
    key,
    fingerprint,
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
    ...(isStray ? strayFacts(apiKey, keys) : notStray),
  };
}

/** Whether a word is meant as a ref, and not as a key that a client sends. */
function looksLikeRef(word: string): boolean {
  // Messages leave out long words: a key without its prefix may look like a ref.
  if (word.length > 24 || parseApiKey(word) !== undefined) return false;
  return /^[a-z0-9]+(?:[-_.][a-z0-9]+)*$/i.test(word);
}

/** The error for a word that looks like a ref, and is none. */
function unknownKey(word: string, keys: KeySource, program: string): SandboxError {
  const { refs, scenario, url } = keys;
  const unknown = `Unknown key ${quote(word)} in ${scenario}.`;
  const listKeys = `${program} keys ${shellWord(scenario)}`;

  const keyStates: Scenario = bundledScenarios["key-states"];
  const isBundled = [...listedKeys(keyStates)].some(({ ref }) => ref === word);
  if (isBundled) {
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

function strayFacts(stray: string, keys: KeySource): StrayFacts {
  const isWhole = isSandboxKey(stray);
  const parsed = parseApiKey(stray);
  const otherPrefixOf = refWithOtherPrefix(stray, keys);
  return {
    real_key_suspected: parsed?.marked === false,
    key_of_another_sandbox: isWhole && otherPrefixOf === null,
    other_prefix_of: otherPrefixOf,
    key_cut: parsed?.marked === true && !isWhole,
    key_form: describeKeyForm(stray),
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
function explanationText(explained: ExplainedKey, keys: KeySource, program: string): string {
  const { method, path, at, fault_outcomes: faults } = explained;
  const { scenario, url } = keys;

  const lines: string[] = [];
  if (url === null) lines.push(`This is what ${scenario} would respond.`);
  const sandbox = url === null ? `scenario ${scenario}` : `scenario ${scenario} on ${url}`;
  lines.push(`${method} ${path} with ${sentKeyText(explained)}, ${sandbox}, at ${at}`, "");
  lines.push(...checkLines(explained.checks), "");

  const facts = responseFacts({ ...explained, whatToDo: explained.what_to_do });
  if (faults.length > 0) {
    const show = `${program} show ${shellWord(scenario)}`;
    facts.push(["Faults", `${faults.join(", ")} may replace this response; ${show}`]);
  }
  lines.push(...alignColumns(facts));
  return lines.join("\n");
}

/** The key in a sentence: by its ref if the sandbox has it. */
function sentKeyText({ key, fingerprint, key_form: form }: ExplainedKey): string {
  if (key !== null) return `the key ${key}`;
  if (fingerprint === null) return "no key";
  const stranger = `a key of fingerprint ${fingerprint}`;
  return form === null ? stranger : `${stranger} (${form})`;
}

const realKeyWarning =
  "This looks like a real key: it is well-formed, not one of this scenario, and lacks the mark of a sandbox key (sbx). If it is real, rotate it: it has been in your shell, and perhaps in its history.";

/** What the user should know about a key that the sandbox does not have. */
function keyNotes(explained: ExplainedKey): string[] {
  const notes: string[] = [];
  if (explained.real_key_suspected) notes.push(realKeyWarning);
  if (explained.key_of_another_sandbox) notes.push(adviceNote("key-of-another-sandbox"));
  if (explained.key_cut) notes.push(adviceNote("key-cut"));
  if (explained.other_prefix_of !== null) {
    notes.push(
      `This is the key ${explained.other_prefix_of} with another prefix, so it is an unknown key (R15). Send it with its own prefix, which shows the environment.`,
    );
  }
  return notes;
}

function adviceNote(id: AdviceId): string {
  const { meaning, whatToDo } = adviceOf(id);
  return `${meaning} ${whatToDo}`;
}

/** The facts of an explanation that have a color. */
interface ColoredFacts {
  readonly checks: Parameters<typeof checkLines>[0];
  readonly status: number;
  readonly code: string | null;
  readonly outcome: string;
}

/** How the result of a check looks. */
const resultMarks = {
  passed: { sign: "✓", color: "green" },
  rejected: { sign: "✗", color: "red" },
  not_reached: { sign: "·", color: "dim" },
} as const;

/** Colors the lines of checks and the response in the text of an explanation; on a terminal, results are signs. */
function paintExplanation(text: string, facts: ColoredFacts, { palette, isTerminal }: Style): string {
  const { checks, status, code, outcome } = facts;
  let painted = text;
  for (const [index, line] of checkLines(checks).entries()) {
    const { result } = checks[index] as ColoredFacts["checks"][number]; // each line is of one check
    const { sign, color } = resultMarks[result];
    const content = line.trimStart();
    const afterResult = content.slice(result.length).trimStart();
    const marked = isTerminal ? `${sign}  ${afterResult}` : content;
    painted = painted.replace(line, () => `  ${palette[color](marked)}`);
  }

  if (status === 0) return painted;
  const response = code === null ? String(status) : `${status} ${code}`;
  const paintResponse = paintStatus(palette, status);
  return painted.replace(`${response}  ${outcome}`, () => `${paintResponse(response)}  ${outcome}`);
}
