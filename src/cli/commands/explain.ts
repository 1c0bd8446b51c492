import { apiKeyFor, explain } from "../../api/explain-key.js";
import { endpointNamed } from "../../api/routes.js";
import { askRequest, type JournalDetails, type JournalRequest } from "../../node/clients/ask-control.js";
import { alignColumns } from "../../report/plain-text.js";
import { adviceOf } from "../../spec/advice.js";
import { redactKeys } from "../../spec/redact.js";
import { declareCommand, plainOption } from "../command.js";
import { exitCode } from "../exit-codes.js";
import {
  askFlags,
  controlCall,
  endpoint,
  json,
  readText,
  runningUrl,
  scenarioWord,
  worldFlags,
} from "../flags.js";
import { loadNamed, startNamed } from "../open-scenario.js";
import { paintStatus, responseText, type Style, styleFor } from "../terminal.js";

export const explainCommand = declareCommand({
  summary: "show why a request or a key was rejected, and what to do",
  description:
    "Shows a request of a running sandbox: its checks in order, the cause, the fault, advice, what to do, and the requests with the same key around it. Or shows what an endpoint returns for a key, by default GET /v1/relying-party/me, and sends and counts nothing. Never prints a key.",
  words: {
    "<key>":
      "an X-Request-Id, last (the latest rejected request), a key's ref, a full key, or one of: none, malformed, unknown",
    ...scenarioWord,
  },
  flags: {
    endpoint,
    url: plainOption("--url <url>", `of a request: ${runningUrl}`, readText),
    ...askFlags,
    json,
    ...worldFlags,
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
    const style = styleFor(io.stdout, io.env);
    // Never a key.
    if (word === "last" || requestId.test(word) || flags.url !== undefined) {
      const { details, requests } = await askRequest(controlCall(flags.url, flags, io), word);
      const around = retriesOf(details.id, requests);
      const text = flags.json
        ? JSON.stringify({ ...details, around }, null, 2)
        : requestText(details, around, style);
      io.stdout.say(redactKeys(`${text}\n`));
      return exitCode.fine;
    }
    const loaded = await loadNamed(scenario, io, flags);
    const world = startNamed(loaded, flags);
    const asked = endpointNamed(world, flags.endpoint);
    const explained = explain(apiKeyFor(word, world, loaded.name, io.program), world, asked);
    if (flags.json) io.stdout.write(`${JSON.stringify(explained, null, 2)}\n`);
    else io.stdout.say(`${keyText(explained, loaded.name, style, io.program)}\n`);
    return exitCode.fine;
  },
});

/** The form of a request id, in every profile. */
const requestId =
  /^(?:req_[0-9a-z]{6,}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{32}|1-[0-9a-f]{8}-[0-9a-f]{24}|gw:.*)$/i;

type KeyExplanation = ReturnType<typeof explain>;
type Fact = readonly [name: string, value: string];

/** The requests with the same key around one, itself included: at most three before it and five after it. */
function retriesOf(id: string, all: readonly JournalRequest[]): readonly JournalRequest[] {
  const { fingerprint } = all.find((one) => one.id === id) ?? {};
  const same = all.filter(
    (one) => one.id === id || (one.fingerprint === fingerprint && one.source === "client"),
  );
  const at = same.findIndex((one) => one.id === id);
  return same.slice(Math.max(0, at - 3), at + 6);
}

function requestText(details: JournalDetails, around: readonly JournalRequest[], style: Style): string {
  const { id, method, path, at, key, fingerprint, path_id, fault, sent, advice_details: advice } = details;
  const subject = key ?? (fingerprint === null ? "none" : `unknown, fingerprint ${fingerprint}`);
  const before: Fact[] = [
    ["Key", sent.key_form === null ? subject : `${subject}; ${sent.key_form}`],
    ...Object.entries(sent.headers),
  ];
  const after: Fact[] = [
    ...(fault === null || fault === path_id ? [] : [["Fault", fault] as const]),
    ...advice.map(({ level, id, meaning, what_to_do }): Fact => {
      return ["Advice", `${level} ${id}: ${meaning} ${what_to_do}`];
    }),
  ];
  const lines = [
    `${method} ${path} at ${at}, ${id}`,
    ...explainedLines(details, details.when, { before, after }, style),
  ];
  const others = ["", "Requests with this key", ...around.map((one) => retryLine(one, details))];
  return [...lines, ...(around.length < 2 ? [] : others)].join("\n");
}

function retryLine(one: JournalRequest, { id, at }: JournalDetails): string {
  const seconds = (Date.parse(one.at) - Date.parse(at)) / 1000;
  const when = one.id === id ? "this one" : `${seconds < 0 ? "" : "+"}${seconds.toFixed(1)} s`;
  return `  ${when.padStart(9)}  ${one.path_id}  ${one.id}`;
}

function keyText(explained: KeyExplanation, scenario: string, style: Style, program: string): string {
  const { method, path, at, key, fingerprint, fault_paths: faults, when } = explained;
  const stranger = fingerprint === null ? "no key" : `a key of fingerprint ${fingerprint}`;
  const fault = `${faults.join(", ")} may replace this response; ${program} show ${scenario}`;
  const lines = [
    `${method} ${path} with ${key === null ? stranger : `the key ${key}`}, scenario ${scenario}, at ${at}`,
    ...explainedLines(explained, when, { after: faults.length === 0 ? [] : [["Faults", fault]] }, style),
    ...(explained.real_key_suspected ? ["", style.palette.yellow(realKeyWarning)] : []),
    ...(explained.key_of_another_sandbox ? ["", strayKeyNote] : []),
  ];
  return lines.join("\n");
}

/** Green for success, yellow for "later", red for a rejection. */
const marks = {
  passed: { sign: "✓", word: "passed", color: "green" },
  rejected: { sign: "✗", word: "rejected", color: "red" },
  not_reached: { sign: "·", word: "not reached", color: "dim" },
} as const;

/** The checks, the response with its cause, and what to do, with other facts around the last ones. */
function explainedLines(
  { checks, status, code, path_id, why, what_to_do }: JournalDetails | KeyExplanation,
  when: string,
  { before = [], after }: { readonly before?: readonly Fact[]; readonly after: readonly Fact[] },
  { palette, isTerminal }: Style,
): string[] {
  const rows = checks.map(({ name, question, result }) => {
    const { sign, word, color } = marks[result];
    return [isTerminal ? sign : word, name, question].map(palette[color]);
  });
  const response = status === 0 ? "none" : paintStatus(palette, status)(responseText({ status, code }));
  const facts: Fact[] = [
    ...before,
    ["Response", `${response}  ${path_id}  (${when})`],
    ...(why === null ? [] : [["Why", why] as const]),
    ["What to do", what_to_do],
    ...after,
  ];
  return ["", ...alignColumns(rows).map((line) => `  ${line}`), "", ...alignColumns(facts)];
}

const realKeyWarning =
  "This looks like a real key: it is well-formed, not one of this scenario, and lacks the mark of a sandbox key (sbx). If it is real, rotate it: it has been in your shell, and perhaps in its history.";

const { meaning, whatToDo: wayOut } = adviceOf("key-of-another-sandbox");
const strayKeyNote = `${meaning} ${wayOut}`;
