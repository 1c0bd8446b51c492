import { endpointNamed } from "../../api/endpoints.js";
import { causeOf, evaluate } from "../../api/evaluate.js";
import { expectedCode } from "../../api/messages.js";
import { checkResults } from "../../api/request-details.js";
import { ControlClient } from "../../node/clients/control-client.js";
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
import { outcomeOf, type PathId } from "../../rules/outcomes.js";
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
import * as flag from "../flags.js";
import { loadNamed, startNamed } from "../open-scenario.js";
import { paintStatus, type Style } from "../terminal.js";

export const explainCommand = declareCommand({
  summary: "show why a request or a key was rejected, and what to do",
  description:
    "Shows a request of a running sandbox: its checks in order, the cause, the fault, advice, what to do, and the requests with the same key around it. Or shows what an endpoint returns for a key, by default GET /v1/relying-party/me, and sends and counts nothing. Never prints a key.",
  words: {
    "<key>":
      "an X-Request-Id, last (the latest rejected request), a key's ref, a full key, or one of: none, malformed, unknown",
    ...flag.scenarioWord,
  },
  flags: {
    endpoint: flag.endpoint,
    url: flag.plainOption("--url <url>", `of a request: ${flag.runningUrl}`, (text) => text),
    ...flag.ofCalls,
    json: flag.json,
    ...flag.ofSandbox,
  },
  examples: {
    "svc-sandbox explain last": "the latest rejected request of http://127.0.0.1:4747",
    "svc-sandbox explain req_bc8550a0796dcd92bd275137": "the request with this X-Request-Id",
    "svc-sandbox explain revoked": "a key of the scenario, by its ref",
    'svc-sandbox explain "$SVC_API_KEY" my.yaml': "the key that your client sends",
    "svc-sandbox explain main scenario.yaml --endpoint createReport": "at another endpoint",
    "svc-sandbox explain none --json": "a request without a key, for machines",
  },
  async run({ words, flags, io }) {
    const [word = "", scenario] = words;
    const style = io.stdout.style();
    // Never a key.
    if (word === "last" || requestId.test(word) || flags.url !== undefined) {
      const { text: found, ...details } = await new ControlClient(
        flag.controlAddress(flags.url, flags, io),
      ).request(word);
      const text = flags.json ? JSON.stringify(details, null, 2) : painted(found, details.status, style);
      io.stdout.say(redactKeys(`${text}\n`));
      return undefined;
    }
    const loaded = await loadNamed(scenario, io);
    const sandbox = startNamed(loaded, flags);
    const endpoint = endpointNamed(sandbox, flags.endpoint);
    const explained = explain(apiKeyFor(word, sandbox, loaded.name, io.program), sandbox, endpoint);
    if (flags.json) io.stdout.write(`${JSON.stringify(explained, null, 2)}\n`);
    else io.stdout.say(`${keyText(explained, loaded.name, style, io.program)}\n`);
  },
});

/** The form of a request id, in every profile. */
const requestId =
  /^(?:req_[0-9a-z]{6,}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{32}|1-[0-9a-f]{8}-[0-9a-f]{24}|gw:.*)$/i;

function keyText(explained: KeyExplanation, scenario: string, style: Style, program: string): string {
  const {
    method,
    path,
    at,
    key,
    fingerprint,
    fault_paths: faults,
    checks,
    status,
    key_form: form,
  } = explained;
  const stranger =
    fingerprint === null ? "no key" : `a key of fingerprint ${fingerprint}${form ? ` (${form})` : ""}`;
  const fault = `${faults.join(", ")} may replace this response; ${program} show ${scenario}`;
  const response = responseFacts({ ...explained, pathId: explained.path_id, whatToDo: explained.what_to_do });
  const lines = [
    `${method} ${path} with ${key === null ? stranger : `the key ${key}`}, scenario ${scenario}, at ${at}`,
    "",
    ...checkLines(checks),
    "",
    ...alignColumns(faults.length === 0 ? response : [...response, ["Faults", fault]]),
  ];
  return [
    painted(lines.join("\n"), status, style),
    ...(explained.real_key_suspected ? ["", style.palette.yellow(realKeyWarning)] : []),
    ...(explained.key_of_another_sandbox ? ["", noteOf("key-of-another-sandbox")] : []),
    ...(explained.key_cut ? ["", noteOf("key-cut")] : []),
    ...(explained.other_prefix_of === null ? [] : ["", prefixNote(explained.other_prefix_of)]),
  ].join("\n");
}

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

const realKeyWarning =
  "This looks like a real key: it is well-formed, not one of this scenario, and lacks the mark of a sandbox key (sbx). If it is real, rotate it: it has been in your shell, and perhaps in its history.";

function noteOf(id: AdviceId): string {
  const { meaning, whatToDo } = adviceOf(id);
  return `${meaning} ${whatToDo}`;
}

const prefixNote = (ref: string) =>
  `This is the key ${ref} with another prefix, so it is an unknown key (R15). Send it with its own prefix, which shows the environment.`;

/** Returns the x-api-key header for a word of the command line; `undefined` for none. Not for output. */
function apiKeyFor(
  word: string,
  sandbox: SandboxState,
  scenario: string,
  program: string,
): string | undefined {
  const { keys } = sandbox.registry;
  if (keys.has(word) || isReserved(word)) return secretFor(sandbox, word);
  if (!looksLikeRef(word)) return word.trim();
  // Also for the path that the key of this name ends on.
  const keyStates: Scenario = bundledScenarios["key-states"];
  const isBundled = Object.values(keyStates.organizations ?? {}).some(({ keys = {} }) =>
    Object.hasOwn(keys, word),
  );
  if (isBundled) throw ofBundled(word, scenario, program);
  const hint = didYouMean(word.replace(/^\d{3}\./, ""), [...keys.keys(), ...reservedKeyRefs]);
  throw new SandboxError(
    "unknown_ref",
    `Unknown key ${quote(word)} in ${scenario}.${hint} List its keys with \`${program} keys ${scenario}\`, or use ${listed(reservedKeyRefs, "or")}.`,
  );
}

function ofBundled(word: string, scenario: string, program: string): SandboxError {
  const example = `\`${program} explain ${word} key-states\``;
  return new SandboxError(
    "unknown_ref",
    `Unknown key ${quote(word)} in ${scenario}. It is a key of the bundled key-states: ${example}. List the keys of ${scenario} with \`${program} keys ${scenario}\`.`,
  );
}

// Anything else counts as a client's header. Messages leave out long words: a key without its prefix may look like this.
function looksLikeRef(word: string): boolean {
  return /^[a-z0-9]+(?:[-_.][a-z0-9]+)*$/i.test(word) && word.length <= 24 && parseApiKey(word) === undefined;
}

/** What an endpoint returns for a key, and why, as JSON. */
interface KeyExplanation {
  readonly key: string | null;
  readonly fingerprint: string | null;
  readonly method: string;
  readonly path: string;
  readonly at: string;
  readonly checks: readonly ExplainedCheck[];
  readonly status: number;
  readonly code: string | null;
  readonly path_id: PathId;
  readonly fault_paths: readonly PathId[];
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

type ExplainedCheck = CheckResult & { readonly path_id: PathId | null };

function explain(apiKey: string | undefined, sandbox: SandboxState, endpoint: Endpoint): KeyExplanation {
  const sha256 = apiKey === undefined ? undefined : sandbox.platform.sha256(apiKey);
  const entry = sha256 === undefined ? undefined : sandbox.registry.find(sha256);
  const ref = entry?.key.ref;
  const stray = entry === undefined && sha256 !== sandbox.behavior.unknownKey ? apiKey : undefined;
  const otherPrefixOf = refWithOtherPrefix(stray, sandbox);
  const { pathId, faultPaths } = evaluate(sandbox, apiKey, endpoint);
  const { status, when, whatToDo } = outcomeOf(pathId);
  return {
    key: ref ?? null,
    fingerprint: sha256 === undefined ? null : fingerprintOf(sha256),
    method: endpoint.method,
    path: endpoint.path,
    at: isoOf(sandbox.clock.now()),
    checks: checkResults(authorizationChecks, pathId).map(({ rules: _, ...check }) => ({
      ...check,
      path_id: check.result === "rejected" ? pathId : null,
    })),
    status,
    code: expectedCode(sandbox, pathId),
    path_id: pathId,
    fault_paths: faultPaths,
    when,
    why: entry === undefined ? null : causeOf(sandbox, pathId, entry, endpoint),
    what_to_do: whatToDo,
    real_key_suspected: ref === undefined && parseApiKey(apiKey ?? "")?.marked === false,
    key_of_another_sandbox: isSandboxKey(stray ?? "") && otherPrefixOf === null,
    other_prefix_of: otherPrefixOf,
    key_cut: parseApiKey(stray ?? "") !== undefined && isMarked(stray ?? "") && !isSandboxKey(stray ?? ""),
    key_form: stray === undefined ? null : formOfKey(stray),
  };
}

/** Returns the ref of the key that a text is with another prefix; `null` if there is none. */
function refWithOtherPrefix(text = "", { platform, registry }: SandboxState): string | null {
  const prefixRow = keyPrefixes.find(({ prefix }) => text.startsWith(prefix));
  if (prefixRow === undefined) return null;
  const others = keyPrefixes.map(({ prefix }) => prefix + text.slice(prefixRow.prefix.length));
  const entries = others.flatMap((other) => registry.find(platform.sha256(other)) ?? []);
  return entries[0]?.key.ref ?? null;
}
