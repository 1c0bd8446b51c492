import { apiKeyFor, explain } from "../../api/explain-key.js";
import { endpointNamed } from "../../api/routes.js";
import { askRequest } from "../../node/clients/ask-control.js";
import { alignColumns } from "../../report/plain-text.js";
import { adviceOf } from "../../spec/advice.js";
import { redactKeys } from "../../spec/redact.js";
import { declareCommand, option } from "../command.js";
import { exitCode } from "../exit-codes.js";
import { isAboutRequest, requestLines, retriesOf } from "../explained-request.js";
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
import { loadNamed, openNamed } from "../open-scenario.js";
import { checkLines, paintStatus, responseText, type Style, styleFor } from "../terminal.js";

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
    url: option("--url <url>", `of a request: ${runningUrl}`, readText, { variables: [] }),
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
    if (isAboutRequest(word) || flags.url !== undefined) {
      const { details, requests } = await askRequest(controlCall(flags.url, flags, io), word);
      const around = retriesOf(details.id, requests);
      const text = flags.json
        ? JSON.stringify({ ...details, around }, null, 2)
        : requestLines(details, around, style).join("\n");
      io.stdout.say(redactKeys(`${text}\n`));
      return exitCode.fine;
    }
    const loaded = await loadNamed(scenario, io, flags);
    const world = openNamed(loaded, flags);
    const program = io.program;
    const asked = endpointNamed(world, flags.endpoint);
    const explained = explain(apiKeyFor(word, world, loaded.name, program), world, asked);
    const lines = describe(explained, loaded.name, style, program);
    if (flags.json) io.stdout.write(`${JSON.stringify(explained, null, 2)}\n`);
    else io.stdout.say(`${lines.join("\n")}\n`);
    return exitCode.fine;
  },
});

type Explanation = ReturnType<typeof explain>;

function describe(explained: Explanation, scenario: string, style: Style, program: string): string[] {
  const { palette } = style;
  const { checks, status, path_id, fault_paths: faults, when } = explained;
  const { method, path, at } = explained;
  const response = paintStatus(palette, status)(responseText(explained));
  const facts = [
    ["Response", `${response}  ${path_id}  (${when})`],
    ...(explained.why === null ? [] : [["Why", explained.why]]),
    ["What to do", explained.what_to_do],
    ...(faults.length === 0
      ? []
      : [["Faults", `${faults.join(", ")} may replace this response; ${program} show ${scenario}`]]),
  ];
  return [
    `${method} ${path} with ${subject(explained)}, scenario ${scenario}, at ${at}`,
    "",
    ...checkLines(checks, style),
    "",
    ...alignColumns(facts),
    ...(explained.real_key_suspected ? ["", palette.yellow(realKeyWarning)] : []),
    ...(explained.key_of_another_sandbox ? ["", strayKeyNote] : []),
  ];
}

function subject({ key, fingerprint }: Explanation): string {
  if (key !== null) return `the key ${key}`;
  return fingerprint === null ? "no key" : `a key of fingerprint ${fingerprint}`;
}

const realKeyWarning =
  "This looks like a real key: it is well-formed, not one of this scenario, and lacks the mark of a sandbox key (sbx). If it is real, rotate it: it has been in your shell, and perhaps in its history.";

const { meaning, whatToDo: wayOut } = adviceOf("key-of-another-sandbox");
const strayKeyNote = `${meaning} ${wayOut}`;
