import { authorizationChecks } from "../../api/authorize.js";
import { endpointNamed, me } from "../../api/endpoints.js";
import { nextRequest, whatToDoAbout } from "../../api/next-request.js";
import { checkResults } from "../../api/request-details.js";
import { isRequestId } from "../../api/variation/table.js";
import { ControlClient } from "../../node/clients/control-client.js";
import { findListener, longestSearch } from "../../node/clients/find-listener.js";
import { nodePlatform, startInNode } from "../../node/platform.js";
import { shellWord } from "../../report/curl-line.js";
import { alignColumns } from "../../report/plain-text.js";
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
} from "../../rules/keys/key-text.js";
import { type OutcomeId, outcomeRow } from "../../rules/outcomes.js";
import { isoTime } from "../../rules/time.js";
import type { Endpoint } from "../../sandbox/call.js";
import { runDue } from "../../sandbox/operations/operations.js";
import { fingerprintOfRef } from "../../sandbox/secrets.js";
import { isRef, isReserved, reservedKeyRefs } from "../../scenario/format/fields.js";
import { didYouMean, listed, quote } from "../../schema/words.js";
import { type CommandCall, declareCommand, refuseFlags } from "../command.js";
import { usageError } from "../exit-codes.js";
import * as flag from "../flags.js";
import { type Io, standardHost } from "../io.js";
import { loadScenarioArgument } from "../scenario.js";
import * as shared from "../shared-flags.js";
import type { Style } from "../terminal.js";

const explainFlags = {
  endpoint: shared.endpoint,
  url: flag.cliOnlyOption("--url <url>", shared.runningUrlText, (text) => text),
  ...shared.callFlags,
  json: shared.json,
  ...shared.sandboxFlags,
};
type ExplainCall = CommandCall<flag.FlagValues<typeof explainFlags>>;

const sandboxFlagNames = Object.keys(shared.sandboxFlags);

export const explainCommand = declareCommand({
  summary: "show why a request or a key was rejected, and what to do",
  description:
    "Shows a request of a running sandbox: its checks in order, the cause, the fault, advice, what to do, and the requests with the same key around it. Or shows what the next request with a key gets there; with a scenario, --seed, --now, --frozen or --profile, or if no sandbox runs, what the scenario would respond. Sends and counts nothing, and never prints or sends a key.",
  args: {
    "<key>":
      "last (the latest rejected request), an X-Request-Id, a key or its ref, or none, malformed or unknown",
    ...shared.scenarioArgument,
  },
  flags: explainFlags,
  examples: {
    "svc-sandbox explain last": "the latest rejected request of http://127.0.0.1:4747",
    "svc-sandbox explain req_bc8550a0796dcd92bd275137": "the request with this X-Request-Id",
    "svc-sandbox explain revoked": "a key of the running sandbox, by its ref",
    'svc-sandbox explain "$SVC_API_KEY" my.yaml': "the key that your client sends",
    "svc-sandbox explain main scenario.yaml --endpoint createReport": "at another endpoint",
    "svc-sandbox explain none --json": "a request without a key, for machines",
  },
  async run(call) {
    const { args, sources } = call;
    const [word = "", scenario] = args;
    // A UUID may also be the ref of a key: a line with a scenario is about a key.
    const isKeyToo = scenario !== undefined && isRef(word);
    const meansRequest = word === "last" || (isRequestId(word) && !isKeyToo);
    if (meansRequest) {
      const form = "explain of a request";
      if (scenario !== undefined) throw usageError(`${form} does not use ${quote(scenario)}. Remove it.`);
      refuseFlags(call, ["endpoint", ...sandboxFlagNames], form);
      await sayRequest(word, call);
      return;
    }

    // A line with a scenario, or with a flag of a start, is not about the sandbox that runs.
    const hasStartFlag = sandboxFlagNames.some((name) => sources[name]?.startsWith("--"));
    const isOfNewSandbox = scenario !== undefined || hasStartFlag;
    if (isOfNewSandbox) refuseFlags(call, ["url", ...Object.keys(shared.callFlags)], "explain of a scenario");
    const running = isOfNewSandbox ? undefined : await findRunning(word, call);
    const keys = running === undefined ? await keysOfNewSandbox(call) : await runningKeys(running, call);
    await printKey(word, keys, call);
  },
});

/** Explains a request that the running sandbox has got: its id, or `last`. */
async function sayRequest(id: string, call: ExplainCall): Promise<void> {
  const { flags, io } = call;
  const client = new ControlClient(shared.controlAddress(flags.url, call));
  const { text, ...details } = await client.request(id);
  if (flags.json) io.stdout.write(`${JSON.stringify(details, null, 2)}\n`);
  else io.stdout.say(`${paintExplanation(text, io.stdout.style())}\n`);
}

/** The client of the sandbox that runs; `undefined` if none does. */
async function findRunning(word: string, call: ExplainCall): Promise<ControlClient | undefined> {
  const { flags, io } = call;
  if (flags.url !== undefined || io.env.SVC_CONTROL_URL) {
    return new ControlClient(shared.controlAddress(flags.url, call));
  }

  const timeout = flags.timeout ?? longestSearch;
  const listener = await findListener(standardHost, timeout);
  if (listener.kind === "sandbox") {
    return new ControlClient(shared.controlAddress(listener.sandbox.url, call));
  }
  if (listener.kind !== "silent") return undefined;
  throw usageError(
    `Failed to ask the sandbox on ${standardHost}: no response came within ${timeout / 1000} s. Wait longer with --timeout, name another sandbox with --url, or name a scenario: ${io.program} explain ${shellWord(word)} key-states`,
  );
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

/** The keys of a running sandbox. */
async function runningKeys(client: ControlClient, { flags }: ExplainCall): Promise<KeySource> {
  const { url, scenario, now, keys } = await client.keys();
  let endpoint: Pick<Endpoint, "method" | "path"> = me;
  if (flags.endpoint !== undefined) {
    const { endpoints } = await client.report();
    endpoint = endpointNamed({ name: scenario, endpoints }, flags.endpoint);
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
      const { fingerprint, next_request: next } = await client.key(ref, flags.endpoint);
      return { fingerprint, ...next, faultOutcomes: next.fault_outcomes };
    },
  };
}

/** The keys of a scenario, in a sandbox of this process. */
async function keysOfNewSandbox({ args, flags, io }: ExplainCall): Promise<KeySource> {
  const loaded = await loadScenarioArgument(args[1], io);
  const sandbox = startInNode(loaded, flags);
  runDue(sandbox);
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

/** Prints what the next request with a key gets. Throws `unknown_ref` for a word that looks like a ref, and is none. */
async function printKey(word: string, keys: KeySource, { flags, io }: ExplainCall): Promise<void> {
  const explained = await explainKey(word, keys, io);
  if (flags.json) {
    io.stdout.write(`${JSON.stringify(explained, null, 2)}\n`);
    return;
  }
  const style = io.stdout.style();
  const parts = [paintExplanation(explanationText(explained, keys.scenario, io), style)];
  for (const note of keyNotes(explained)) parts.push(style.palette.yellow(note));
  io.stdout.say(`${parts.join("\n\n")}\n`);
}

/** What an endpoint returns for a key, and why, as the JSON of this command has it. */
type ExplainedKey = Awaited<ReturnType<typeof explainKey>>;

async function explainKey(word: string, keys: KeySource, io: Io) {
  const apiKey = word.trim();
  const sha256 = nodePlatform.sha256(apiKey);
  const isRef = keys.refs.includes(word) || isReserved(word);
  const ownRef = isRef ? word : keys.findRef(sha256);
  if (ownRef === undefined) requireSecret(word, keys, io);

  // A key that the sandbox does not have gets what `unknown` or `malformed` gets.
  const ref = ownRef ?? (isWellFormedKey(apiKey) ? "unknown" : "malformed");
  const next = await keys.predict(ref);
  // Each sandbox has a secret for `unknown`, too.
  const isForeign = ownRef === undefined && fingerprintOf(sha256) !== next.fingerprint;

  const { outcome } = next;
  const { status, when } = outcomeRow(outcome);
  const checks = checkResults(outcome, authorizationChecks).map(({ name, question, result }) => {
    return { name, question, result, outcome: result === "rejected" ? outcome : null };
  });
  return {
    url: keys.url,
    key: isReserved(ref) ? null : ref,
    fingerprint: isForeign ? fingerprintOf(sha256) : next.fingerprint,
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
    ...foreignKeyFacts(isForeign ? apiKey : "", keys),
  };
}

/** Throws an error for a word that is meant as a ref. Messages leave out long words: a key without its prefix may look like a ref. */
function requireSecret(word: string, { refs, scenario }: KeySource, { program }: Io): void {
  const looksLikeRef = /^[a-z0-9]+(?:[-_.][a-z0-9]+)*$/i.test(word);
  if (word.length > 24 || parseApiKey(word) !== undefined || !looksLikeRef) return;
  const hint = didYouMean(word, [...refs, ...reservedKeyRefs]);
  throw new SandboxError(
    "unknown_ref",
    `Unknown key ${quote(word)} in ${scenario}.${hint} List its keys with \`${program} keys ${shellWord(scenario)}\`, or use ${listed(reservedKeyRefs, "or")}.`,
  );
}

/** What shows of a key that the sandbox does not have; nothing of an empty text. */
function foreignKeyFacts(apiKey: string, keys: KeySource) {
  const isWhole = isSandboxKey(apiKey);
  const parsed = parseApiKey(apiKey);
  const otherPrefixOf = refWithOtherPrefix(apiKey, keys);
  return {
    /** Well-formed, but not of this scenario and not of any sandbox. */
    real_key_suspected: parsed?.hasMark === false,
    key_of_another_sandbox: isWhole && otherPrefixOf === null,
    /** The ref of the key that this one is with another prefix (R15). */
    other_prefix_of: otherPrefixOf,
    /** Whether it has the mark of a sandbox, but not the length of its keys. */
    key_cut: parsed?.hasMark === true && !isWhole,
    key_form: apiKey === "" ? null : describeKeyForm(apiKey),
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
function explanationText(explained: ExplainedKey, scenario: string, { program }: Io): string {
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
const checkLine = /^ {2}(passed|rejected|not reached) +(\S.*)$/;

/** Colors the checks of an explanation, whose text may be from another process. On a terminal, their results are signs. */
function paintExplanation(text: string, { palette, isTerminal }: Style): string {
  const lines = text.split("\n").map((line) => {
    const [, result, question] = checkLine.exec(line) ?? [];
    if (result === undefined) return line;
    const { sign, color } = resultMarks[result as keyof typeof resultMarks]; // the pattern has these three
    const painted = isTerminal ? `${sign}  ${question}` : line.trimStart();
    return `  ${palette[color](painted)}`;
  });
  return lines.join("\n");
}
