import { presentedAs } from "../../api/call.js";
import { endpointNamed } from "../../api/endpoints.js";
import { expectedCode } from "../../api/messages.js";
import { causeOf, predictHeader } from "../../api/predict.js";
import { checkResults } from "../../api/request-details.js";
import { ControlClient, findSandbox, type RunningKey } from "../../node/clients/control-client.js";
import { nodePlatform } from "../../node/platform.js";
import { alignColumns } from "../../report/plain-text.js";
import { type CheckResult, checkLines, responseFacts } from "../../report/request-text.js";
import { type AdviceId, adviceOf } from "../../rules/advice.js";
import {
  fingerprintOf,
  formOfKey,
  isMarked,
  isSandboxKey,
  keyPrefixes,
  parseApiKey,
} from "../../rules/api-key.js";
import { authorizationChecks } from "../../rules/authorize.js";
import { SandboxError } from "../../rules/errors.js";
import { mePath, type OutcomeId, outcomeOf } from "../../rules/outcomes.js";
import { redactKeys } from "../../rules/redact.js";
import { didYouMean, listed, quote } from "../../rules/schema/words.js";
import { isoOf } from "../../sandbox/clock.js";
import type { Endpoint } from "../../sandbox/endpoint.js";
import type { SandboxState } from "../../sandbox/sandbox.js";
import { secretFor } from "../../sandbox/story/run-step.js";
import { bundledScenarios } from "../../scenario/bundled.js";
import { isReserved, reservedKeyRefs } from "../../scenario/format/fields.js";
import type { Scenario } from "../../scenario/scenario.generated.js";
import { declareCommand } from "../command.js";
import { usageError } from "../exit-codes.js";
import * as flag from "../flags.js";
import type { Io } from "../io.js";
import { loadNamed, startNamed } from "../open-scenario.js";
import { paintStatus, type Style } from "../terminal.js";

type OwnFlags = flag.SandboxFlags & { readonly endpoint?: string };

export const explainCommand = declareCommand({
  summary: "show why a request or a key was rejected, and what to do",
  description:
    "Shows a request of a running sandbox: its checks in order, the cause, the fault, advice, what to do, and the requests with the same key around it. Or shows what the next request with a key gets there; with a scenario, --seed, --now, --frozen or --profile, or if no sandbox runs, what the scenario would respond. Sends and counts nothing, and never prints or sends a key.",
  words: {
    "<key>":
      "an X-Request-Id, last (the latest rejected request), a key's ref, a full key, or one of: none, malformed, unknown",
    ...flag.scenarioWord,
  },
  flags: {
    endpoint: flag.endpoint,
    url: flag.plainOption("--url <url>", flag.runningUrl, (text) => text),
    ...flag.ofCalls,
    json: flag.json,
    ...flag.ofSandbox,
  },
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
      !isOfRequest && [scenario, seed, now, frozen, profile].some((given) => given !== undefined);
    if (startsOwn && flags.url !== undefined)
      throw usageError("--url asks a running sandbox: remove it, or the scenario and its flags.");
    const url = flags.url ?? (io.env.SVC_CONTROL_URL || undefined);
    const runs = isOfRequest || url !== undefined || (!startsOwn && (await findSandbox(flag.standardHost)));
    const client = !startsOwn && runs && new ControlClient(flag.controlAddress(url, flags, io));
    if (client && isOfRequest) {
      const { text: found, ...details } = await client.request(word);
      const text = flags.json ? JSON.stringify(details, null, 2) : painted(found, details.status, style);
      io.stdout.say(redactKeys(`${text}\n`));
      return;
    }
    const keys = client ? await askedKeys(client, word, endpoint) : await ownKeys(scenario, flags, io);
    const explained = explainKey(word, keys, io.program);
    const { text, notes } = explanationText(explained, keys, io.program);
    const shown = [painted(text, explained.status, style), ...notes.map(style.palette.yellow)].join("\n\n");
    if (flags.json) io.stdout.write(`${JSON.stringify(explained, null, 2)}\n`);
    else io.stdout.say(redactKeys(`${shown}\n`));
  },
});

async function ownKeys(scenario: string | undefined, flags: OwnFlags, io: Io): Promise<KeySource> {
  const loaded = await loadNamed(scenario, io);
  const sandbox = startNamed(loaded, flags);
  return sandboxKeys(sandbox, endpointNamed(sandbox, flags.endpoint), loaded.name);
}

/** The form of a request id, in every profile. */
const requestId =
  /^(?:req_[0-9a-z]{6,}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{32}|1-[0-9a-f]{8}-[0-9a-f]{24}|gw:.*)$/i;

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
  /** For a ref of a key, or a reserved one. */
  readonly ofRef: (ref: string) => KeyPrediction;
  /** For a header that a client sends. */
  readonly ofHeader: (apiKey: string) => KeyPrediction;
}

/** What the next request with a key gets. */
interface KeyPrediction {
  /** `null` for a key that the sandbox does not have. */
  readonly key: string | null;
  readonly fingerprint: string | null;
  readonly outcome: OutcomeId;
  readonly code: string | null;
  readonly why: string | null;
  readonly faultOutcomes: readonly OutcomeId[];
}

function sandboxKeys(sandbox: SandboxState, endpoint: Endpoint, scenario: string): KeySource {
  const predict = (apiKey: string | undefined): KeyPrediction => {
    const sha256 = apiKey === undefined ? undefined : nodePlatform.sha256(apiKey);
    const entry = sha256 === undefined ? undefined : sandbox.registry.find(sha256);
    const { outcome, faultOutcomes } = predictHeader(sandbox, apiKey, endpoint);
    return {
      key: entry?.key.ref ?? null,
      fingerprint: sha256 === undefined ? null : fingerprintOf(sha256),
      outcome,
      code: expectedCode(sandbox, outcome),
      why: entry === undefined ? null : causeOf(sandbox, outcome, entry, endpoint),
      faultOutcomes,
    };
  };
  return {
    scenario,
    url: null,
    at: isoOf(sandbox.clock.now()),
    method: endpoint.method,
    path: endpoint.path,
    refs: [...sandbox.registry.keys.keys()],
    ofRef: (ref) => predict(secretFor(sandbox, ref)),
    ofHeader: predict,
  };
}

type RunningKeys = Awaited<ReturnType<ControlClient["keys"]>>;

/** With an endpoint, only the key of the word is known there. */
async function askedKeys(client: ControlClient, word: string, endpoint: string | undefined) {
  const running = await client.keys();
  if (endpoint === undefined) return runningKeys(running);
  const { endpoints } = await client.report();
  const { method, path } = endpointNamed({ name: running.scenario, endpoints }, endpoint);
  const fingerprint = fingerprintOf(nodePlatform.sha256(word.trim()));
  const isNamed = (key: RunningKey) => key.ref === word || key.fingerprint === fingerprint;
  const keys = running.keys.map((key) => (isNamed(key) ? client.key(key.ref, endpoint) : key));
  return { ...runningKeys({ ...running, keys: await Promise.all(keys) }), method, path };
}

function runningKeys({ url, scenario, now, keys }: RunningKeys): KeySource {
  const predictionOf = ({ ref, fingerprint, next_request: next }: RunningKey): KeyPrediction => {
    const { outcome, fault_outcomes: faultOutcomes, code, why } = next;
    return { key: ref, fingerprint, outcome, code, why, faultOutcomes };
  };
  const rejected = (outcome: OutcomeId, fingerprint: string | null): KeyPrediction => {
    const { code } = outcomeOf(outcome);
    return { key: null, fingerprint, outcome, code, why: null, faultOutcomes: [] };
  };
  return {
    scenario,
    url,
    at: now,
    method: "GET",
    path: mePath,
    refs: keys.map(({ ref }) => ref),
    ofRef(ref) {
      const key = keys.find((one) => one.ref === ref);
      if (key !== undefined) return predictionOf(key);
      return rejected(
        ref === "none" ? "401.missing" : ref === "unknown" ? "401.unknown" : "401.malformed",
        null,
      );
    },
    ofHeader(apiKey) {
      const fingerprint = fingerprintOf(nodePlatform.sha256(apiKey));
      const key = keys.find((one) => one.fingerprint === fingerprint);
      if (key !== undefined) return predictionOf(key);
      return rejected(presentedAs(apiKey) === "malformed" ? "401.malformed" : "401.unknown", fingerprint);
    },
  };
}

function explanationText(explained: KeyExplanation, { scenario, url }: KeySource, program: string) {
  const { method, path, at, key, fingerprint, fault_outcomes: faults, checks, key_form: form } = explained;
  const stranger =
    fingerprint === null ? "no key" : `a key of fingerprint ${fingerprint}${form ? ` (${form})` : ""}`;
  const fault = `${faults.join(", ")} may replace this response; ${program} show ${scenario}`;
  const response = responseFacts({
    ...explained,
    outcome: explained.outcome,
    whatToDo: explained.what_to_do,
  });
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
interface KeyExplanation {
  /** The running sandbox's URL; `null` for what the scenario would respond. */
  readonly url: string | null;
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
  /** Well-formed, but not of this scenario and not of any sandbox. */
  readonly real_key_suspected: boolean;
  readonly key_of_another_sandbox: boolean;
  /** The ref of the key that this one is with another prefix (R15). */
  readonly other_prefix_of: string | null;
  /** Whether it has the mark of a sandbox, but not the length of its keys. */
  readonly key_cut: boolean;
  /** The form of a key that the sandbox does not have. */
  readonly key_form: string | null;
}

type ExplainedCheck = CheckResult & { readonly outcome: OutcomeId | null };

/** Throws `unknown_ref`. */
function explainKey(word: string, keys: KeySource, program: string): KeyExplanation {
  const isRef = keys.refs.includes(word) || isReserved(word);
  if (!isRef && looksLikeRef(word)) throw unknownKey(word, keys, program);
  const apiKey = word.trim();
  const prediction = isRef ? keys.ofRef(word) : keys.ofHeader(apiKey);
  const { key, fingerprint, outcome, code, why, faultOutcomes } = prediction;
  const isUnknown = fingerprint === keys.ofRef("unknown").fingerprint;
  const stray = isRef || key !== null || isUnknown ? undefined : apiKey;
  const otherPrefixOf = refWithOtherPrefix(stray, keys);
  const { status, when, whatToDo } = outcomeOf(outcome);
  return {
    url: keys.url,
    key,
    fingerprint,
    method: keys.method,
    path: keys.path,
    at: keys.at,
    checks: checkResults(authorizationChecks, outcome).map(({ rules: _, ...check }) => ({
      ...check,
      outcome: check.result === "rejected" ? outcome : null,
    })),
    status,
    code,
    outcome,
    fault_outcomes: faultOutcomes,
    when,
    why,
    what_to_do: whatToDo,
    real_key_suspected: parseApiKey(stray ?? "")?.marked === false,
    key_of_another_sandbox: isSandboxKey(stray ?? "") && otherPrefixOf === null,
    other_prefix_of: otherPrefixOf,
    key_cut: parseApiKey(stray ?? "") !== undefined && isMarked(stray ?? "") && !isSandboxKey(stray ?? ""),
    key_form: stray === undefined ? null : formOfKey(stray),
  };
}

function unknownKey(word: string, { refs, scenario, url }: KeySource, program: string): SandboxError {
  // Also for the outcome that the key of this name ends on.
  const keyStates: Scenario = bundledScenarios["key-states"];
  const isBundled = Object.values(keyStates.organizations ?? {}).some(({ keys = {} }) =>
    Object.hasOwn(keys, word),
  );
  const hint = didYouMean(word.replace(/^\d{3}\./, ""), [...refs, ...reservedKeyRefs]);
  const list = url === null ? `List its keys with \`${program} keys ${scenario}\`` : "Name one of its keys";
  const whatToDo = isBundled
    ? ` It is a key of the bundled key-states: \`${program} explain ${word} key-states\`. List the keys of ${scenario} with \`${program} keys ${scenario}\`.`
    : `${hint} ${list}, or use ${listed(reservedKeyRefs, "or")}.`;
  return new SandboxError("unknown_ref", `Unknown key ${quote(word)} in ${scenario}.${whatToDo}`);
}

/** Returns the ref of the key that a text is with another prefix; `null` if there is none. */
function refWithOtherPrefix(text = "", keys: KeySource): string | null {
  const prefixRow = keyPrefixes.find(({ prefix }) => text.startsWith(prefix));
  if (prefixRow === undefined) return null;
  const others = keyPrefixes.map(({ prefix }) => prefix + text.slice(prefixRow.prefix.length));
  return others.flatMap((other) => keys.ofHeader(other).key ?? [])[0] ?? null;
}
