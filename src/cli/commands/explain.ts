import { apiKeyFor, explain, type KeyExplanation } from "../../api/explain-key.js";
import { endpointNamed } from "../../api/routes.js";
import { askRequest } from "../../node/clients/ask-control.js";
import { alignColumns } from "../../report/plain-text.js";
import { checkLines, responseFacts } from "../../report/request-text.js";
import { type AdviceId, adviceOf } from "../../rules/advice.js";
import { redactKeys } from "../../rules/redact.js";
import { declareCommand } from "../command.js";
import { exitCode } from "../exit-codes.js";
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
    url: flag.plainOption("--url <url>", `of a request: ${flag.runningUrl}`, flag.readText),
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
      const { text: found, ...details } = await askRequest(flag.controlCall(flags.url, flags, io), word);
      const text = flags.json ? JSON.stringify(details, null, 2) : painted(found, details.status, style);
      io.stdout.say(redactKeys(`${text}\n`));
      return exitCode.fine;
    }
    const loaded = await loadNamed(scenario, io, flags);
    const sandbox = startNamed(loaded, flags);
    const endpoint = endpointNamed(sandbox, flags.endpoint);
    const explained = explain(apiKeyFor(word, sandbox, loaded.name, io.program), sandbox, endpoint);
    if (flags.json) io.stdout.write(`${JSON.stringify(explained, null, 2)}\n`);
    else io.stdout.say(`${keyText(explained, loaded.name, style, io.program)}\n`);
    return exitCode.fine;
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
