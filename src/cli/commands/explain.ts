import { me } from "../../api/endpoints/me.js";
import { endpointNamed } from "../../api/endpoints.js";
import { nextRequest, whatToDoAbout } from "../../api/predict.js";
import { checkResults } from "../../api/request-details.js";
import { ControlClient, findListener, longestSearch } from "../../node/clients/control-client.js";
import { nodePlatform, startNamed } from "../../node/platform.js";
import { alignColumns, shellWord } from "../../report/plain-text.js";
import { checkLines, responseFacts } from "../../report/request-text.js";
import { type AdviceId, adviceOf } from "../../rules/advice.js";
import {
  fingerprintOf,
  formOfKey,
  isMarked,
  isSandboxKey,
  isWellFormedKey,
  keyPrefixes,
  parseApiKey,
  prefixIn,
} from "../../rules/api-key.js";
import { authorizationChecks } from "../../rules/authorize.js";
import { SandboxError } from "../../rules/errors.js";
import { type OutcomeId, outcomeOf } from "../../rules/outcomes.js";
import { redactKeys } from "../../rules/redact.js";
import { didYouMean, listed, quote } from "../../rules/schema/words.js";
import { isoOf } from "../../rules/time.js";
import { fingerprintFor } from "../../sandbox/secrets.js";
import { bundledScenarios } from "../../scenario/bundled.js";
import { writtenKeys } from "../../scenario/described-keys.js";
import { isReserved, reservedKeyRefs } from "../../scenario/format/fields.js";
import type { Scenario } from "../../scenario/scenario.generated.js";
import { type CallOf, declareCommand } from "../command.js";
import { usageError } from "../exit-codes.js";
import * as flag from "../flags.js";
import type { Io } from "../io.js";
import { loadNamed } from "../open-scenario.js";
import { paintStatus, type Style } from "../terminal.js";

const flags = {
  endpoint: flag.endpoint,
  url: flag.plainOption("--url <url>", flag.runningUrl, (text) => text),
  ...flag.ofCalls,
  json: flag.json,
  ...flag.ofSandbox,
};
type ExplainFlags = CallOf<typeof flags>["flags"];

export const explainCommand = declareCommand({
  summary: "show why a request or a key was rejected, and what to do",
  description:
    "Shows a request of a running sandbox: its checks in order, the cause, the fault, advice, what to do, and the requests with the same key around it. Or shows what the next request with a key gets there; with a scenario, --seed, --now, --frozen or --profile, or if no sandbox runs, what the scenario would respond. Sends and counts nothing, and never prints or sends a key.",
  words: {
    "<key>":
      "an X-Request-Id, last (the latest rejected request), a key's ref, a full key, or one of: none, malformed, unknown",
    ...flag.scenarioWord,
  },
  flags,
  examples: {
    "svc-sandbox explain last": "the latest rejected request of http://127.0.0.1:4747",
    "svc-sandbox explain req_bc8550a0796dcd92bd275137": "the request with this X-Request-Id",
    "svc-sandbox explain revoked": "a key of the running sandbox, by its ref",
    'svc-sandbox explain "$SVC_API_KEY" my.yaml': "the key that your client sends",
    "svc-sandbox explain main scenario.yaml --endpoint createReport": "at another endpoint",
    "svc-sandbox explain none --json": "a request without a key, for machines",
  },
  async run({ words, flags, io }) {
    const [word = "", scenario] = words;
    const style = io.stdout.style();
    const { endpoint, seed, now, frozen, profile } = flags;
    const isOfRequest = word === "last" || requestId.test(word);
    const startsOwn =
      !isOfRequest && [scenario, seed, now, frozen, profile].some((value) => value !== undefined);
    if (startsOwn && flags.url !== undefined)
      throw usageError("--url asks a running sandbox: remove it, or the scenario and its flags.");
    const client = startsOwn ? undefined : await runningClient(word, isOfRequest, flags, io);
    if (client && isOfRequest) {
      const { text: found, ...details } = await client.request(word);
      const text = flags.json ? JSON.stringify(details, null, 2) : painted(found, details.status, style);
      io.stdout.say(redactKeys(`${text}\n`));
      return;
    }
    const keys = await (client ? runningKeys(client, endpoint) : ownKeys(scenario, flags, io));
    const explained = await explainKey(word, keys, io.program);
    const { text, notes } = explainedText(explained, keys, io.program);
    const withNotes = [painted(text, explained.status, style), ...notes.map(style.palette.yellow)].join(
      "\n\n",
    );
    if (flags.json) io.stdout.write(`${JSON.stringify(explained, null, 2)}\n`);
    else io.stdout.say(redactKeys(`${withNotes}\n`));
  },
});

/** Returns `undefined` if no sandbox runs. A request has one, which its call then names. */
async function runningClient(
  word: string,
  isOfRequest: boolean,
  flags: ExplainFlags,
  io: Io,
): Promise<ControlClient | undefined> {
  const clientAt = (url?: string) => new ControlClient(flag.controlAddress(url, flags, io));
  if (isOfRequest || flags.url !== undefined || io.env.SVC_CONTROL_URL) return clientAt(flags.url);
  const timeout = flags.timeout ?? longestSearch;
  const listener = await findListener(flag.standardHost, timeout);
  if (listener.kind === "sandbox") return clientAt(listener.sandbox.url);
  if (listener.kind !== "silent") return undefined;
  throw usageError(
    `Failed to ask the sandbox on ${flag.standardHost}: no response came within ${timeout / 1000} s. Wait longer with --timeout, name another sandbox with --url, or name a scenario: ${io.program} explain ${shellWord(word)} key-states`,
  );
}

async function ownKeys(scenario: string | undefined, flags: ExplainFlags, io: Io): Promise<KeySource> {
  const loaded = await loadNamed(scenario, io);
  const sandbox = startNamed(loaded, flags);
  const endpoint = endpointNamed(sandbox, flags.endpoint);
  return {
    scenario: loaded.name,
    url: null,
    at: isoOf(sandbox.clock.now()),
    method: endpoint.method,
    path: endpoint.path,
    refs: [...sandbox.registry.keys.keys()],
    refOf: (sha256) => sandbox.registry.find(sha256)?.key.ref,
    next: (ref) => ({ fingerprint: fingerprintFor(sandbox, ref), ...nextRequest(sandbox, ref, endpoint) }),
  };
}

async function runningKeys(client: ControlClient, operationId: string | undefined): Promise<KeySource> {
  const { url, scenario, now, keys } = await client.keys();
  const endpoints = async () => ({ name: scenario, endpoints: (await client.report()).endpoints });
  const { method, path } = operationId === undefined ? me : endpointNamed(await endpoints(), operationId);
  return {
    scenario,
    url,
    at: now,
    method,
    path,
    refs: keys.map(({ ref }) => ref),
    refOf: (sha256) => keys.find(({ fingerprint }) => fingerprint === fingerprintOf(sha256))?.ref,
    async next(ref) {
      const { fingerprint, next_request: next } = await client.key(ref, operationId);
      return { fingerprint, ...next, faultOutcomes: next.fault_outcomes };
    },
  };
}

/** The form of a request id, in every profile. */
const requestId =
  /^(?:req_[0-9a-z]{6,}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{32}|1-[0-9a-f]{8}-[0-9a-f]{24}|gw:.*)$/i;

/** The start of a request id, which no ref has. */
const cutRequestId = /^(?:req_[0-9a-z]*|[0-9a-f]{8}-[0-9a-f-]*|1-[0-9a-f]{8}-[0-9a-f]*)$/i;

/** Colors the results of checks and the response; on a terminal, results are signs. */
function painted(text: string, status: number, { palette, isTerminal }: Style): string {
  const marks = {
    passed: { sign: "✓", paint: palette.green },
    rejected: { sign: "✗", paint: palette.red },
    "not reached": { sign: "·", paint: palette.dim },
  };
  const ofCheck = /^ {2}(passed|rejected|not reached)( +)(.*)$/gm;
  return text
    .replace(ofCheck, (line, result: keyof typeof marks, _space, rest) => {
      const { sign, paint } = marks[result];
      return `  ${paint(isTerminal ? `${sign}  ${rest}` : line.trimStart())}`;
    })
    .replace(
      /^(Response +)(\d+(?: \S+)?)/m,
      (_, name, response) => name + paintStatus(palette, status)(response),
    );
}

/** The keys of a sandbox, of this process or a running one. */
interface KeySource {
  readonly scenario: string;
  /** `null` for a sandbox of this process. */
  readonly url: string | null;
  readonly at: string;
  readonly method: string;
  readonly path: string;
  readonly refs: readonly string[];
  /** The ref of the key with this SHA-256. */
  readonly refOf: (sha256: string) => string | undefined;
  /** For the ref of a key, or a reserved one. */
  readonly next: (ref: string) => NextOfKey | Promise<NextOfKey>;
}

/** What the next request with a key gets. */
interface NextOfKey {
  /** `null` for `none`. */
  readonly fingerprint: string | null;
  readonly outcome: OutcomeId;
  readonly code: string | null;
  readonly why: string | null;
  readonly until: string | null;
  readonly faultOutcomes: readonly OutcomeId[];
}

function explainedText(explained: ExplainedKey, { scenario, url }: KeySource, program: string) {
  const { method, path, at, key, fingerprint, fault_outcomes: faults, checks, key_form: form } = explained;
  const stranger =
    fingerprint === null ? "no key" : `a key of fingerprint ${fingerprint}${form ? ` (${form})` : ""}`;
  const fault = `${faults.join(", ")} may replace this response; ${program} show ${shellWord(scenario)}`;
  const response = responseFacts({ ...explained, whatToDo: explained.what_to_do });
  const lines = [
    ...(url === null ? [`This is what ${scenario} would respond.`] : []),
    `${method} ${path} with ${key === null ? stranger : `the key ${key}`}, scenario ${scenario}${url === null ? "" : ` on ${url}`}, at ${at}`,
    "",
    ...checkLines(checks),
    "",
    ...alignColumns(faults.length === 0 ? response : [...response, ["Faults", fault]]),
  ];
  const notes = [
    ...(explained.real_key_suspected ? [realKeyWarning] : []),
    ...(explained.key_of_another_sandbox ? [noteOf("key-of-another-sandbox")] : []),
    ...(explained.key_cut ? [noteOf("key-cut")] : []),
    ...(explained.other_prefix_of === null ? [] : [prefixNote(explained.other_prefix_of)]),
  ];
  return { text: lines.join("\n"), notes };
}

const realKeyWarning =
  "This looks like a real key: it is well-formed, not one of this scenario, and lacks the mark of a sandbox key (sbx). If it is real, rotate it: it has been in your shell, and perhaps in its history.";

function noteOf(id: AdviceId): string {
  const { meaning, whatToDo } = adviceOf(id);
  return `${meaning} ${whatToDo}`;
}

const prefixNote = (ref: string) =>
  `This is the key ${ref} with another prefix, so it is an unknown key (R15). Send it with its own prefix, which shows the environment.`;

// Anything else counts as a client's header. Messages leave out long words: a key without its prefix may look like this.
function looksLikeRef(word: string): boolean {
  return /^[a-z0-9]+(?:[-_.][a-z0-9]+)*$/i.test(word) && word.length <= 24 && parseApiKey(word) === undefined;
}

/** What an endpoint returns for a key, and why, as JSON. */
type ExplainedKey = Awaited<ReturnType<typeof explainKey>>; // an interface would list the members again

/** Throws `unknown_ref`. */
async function explainKey(word: string, keys: KeySource, program: string) {
  const isKey = keys.refs.includes(word);
  const isRef = isKey || isReserved(word);
  if (!isRef && cutRequestId.test(word))
    throw usageError(
      `${quote(word)} is too short for the id of a request. Copy the whole X-Request-Id, or use last.`,
    );
  if (!isRef && looksLikeRef(word)) throw unknownKey(word, keys, program);
  const apiKey = word.trim();
  const sha256 = nodePlatform.sha256(apiKey);
  const key = (isKey ? word : keys.refOf(sha256)) ?? null;
  const otherRef = isWellFormedKey(apiKey) ? "unknown" : "malformed";
  const next = await keys.next(isRef ? word : (key ?? otherRef));
  const { outcome, code, why, faultOutcomes } = next;
  const fingerprint = isRef ? next.fingerprint : fingerprintOf(sha256);
  // Not the key that stands for `unknown`, either.
  const stray = fingerprint === next.fingerprint ? undefined : apiKey;
  const otherPrefixOf = refWithOtherPrefix(stray, keys);
  const { status, when } = outcomeOf(outcome);
  return {
    /** The running sandbox's URL; `null` for what the scenario would respond. */
    url: keys.url,
    key,
    fingerprint,
    method: keys.method,
    path: keys.path,
    at: keys.at,
    checks: checkResults(outcome, authorizationChecks).map(({ rules: _, ...check }) => ({
      ...check,
      outcome: check.result === "rejected" ? outcome : null,
    })),
    status,
    code,
    outcome,
    fault_outcomes: faultOutcomes,
    when,
    why,
    what_to_do: whatToDoAbout(outcome, next),
    /** Well-formed, but not of this scenario and not of any sandbox. */
    real_key_suspected: parseApiKey(stray ?? "")?.marked === false,
    key_of_another_sandbox: isSandboxKey(stray ?? "") && otherPrefixOf === null,
    /** The ref of the key that this one is with another prefix (R15). */
    other_prefix_of: otherPrefixOf,
    /** Whether it has the mark of a sandbox, but not the length of its keys. */
    key_cut: parseApiKey(stray ?? "") !== undefined && isMarked(stray ?? "") && !isSandboxKey(stray ?? ""),
    /** The form of a key that the sandbox does not have. */
    key_form: stray === undefined ? null : formOfKey(stray),
  };
}

function unknownKey(word: string, { refs, scenario, url }: KeySource, program: string): SandboxError {
  // Also for the outcome that the key of this name ends on.
  const keyStates: Scenario = bundledScenarios["key-states"];
  const isBundled = [...writtenKeys(keyStates)].some(({ ref }) => ref === word);
  const hint = didYouMean(word.replace(/^\d{3}\./, ""), [...refs, ...reservedKeyRefs]);
  const keys = `${program} keys ${shellWord(scenario)}`;
  const list = url === null ? `List its keys with \`${keys}\`` : "Name one of its keys";
  const whatToDo = isBundled
    ? ` It is a key of the bundled key-states: \`${program} explain ${word} key-states\`. List the keys of ${scenario} with \`${keys}\`.`
    : `${hint} ${list}, or use ${listed(reservedKeyRefs, "or")}.`;
  return new SandboxError("unknown_ref", `Unknown key ${quote(word)} in ${scenario}.${whatToDo}`);
}

/** Returns the ref of the key that a text is with another prefix; `null` if there is none. */
function refWithOtherPrefix(text = "", keys: KeySource): string | null {
  const prefixRow = prefixIn(text);
  if (prefixRow === undefined) return null;
  const inOtherEnvironments = keyPrefixes.map(({ prefix }) => prefix + text.slice(prefixRow.prefix.length));
  return inOtherEnvironments.flatMap((other) => keys.refOf(nodePlatform.sha256(other)) ?? [])[0] ?? null;
}
