import { endpointNamed } from "../../api/endpoints.js";
import { ControlClient, findSandbox } from "../../node/clients/control-client.js";
import { redactKeys } from "../../rules/redact.js";
import { declareCommand } from "../command.js";
import { usageError } from "../exit-codes.js";
import { explainKey, type KeySource, keyText, runningKeys, sandboxKeys } from "../explained-key.js";
import * as flag from "../flags.js";
import type { Io } from "../io.js";
import { loadNamed, startNamed } from "../open-scenario.js";
import { paintStatus, type Style } from "../terminal.js";

type OwnFlags = flag.SandboxFlags & { readonly endpoint?: string };

export const explainCommand = declareCommand({
  summary: "show why a request or a key was rejected, and what to do",
  description:
    "Shows a request of a running sandbox: its checks in order, the cause, the fault, advice, what to do, and the requests with the same key around it. Or shows what the next request with a key gets there; with a scenario, --endpoint, --seed, --now, --frozen or --profile, or if no sandbox runs, what the scenario would respond. Sends and counts nothing, and never prints or sends a key.",
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
      !isOfRequest && [scenario, endpoint, seed, now, frozen, profile].some((given) => given !== undefined);
    if (startsOwn && flags.url !== undefined)
      throw usageError("--url asks a running sandbox: remove it, or the scenario and its flags.");
    const url = flags.url ?? (io.env.SVC_CONTROL_URL || undefined);
    const runs = isOfRequest || url !== undefined || (!startsOwn && (await findSandbox(flag.standardHost)));
    const client = !startsOwn && runs && new ControlClient(flag.controlAddress(url, flags, io));
    // Never a key.
    if (client && isOfRequest) {
      const { text: found, ...details } = await client.request(word);
      const text = flags.json ? JSON.stringify(details, null, 2) : painted(found, details.status, style);
      io.stdout.say(redactKeys(`${text}\n`));
      return;
    }
    const keys = client ? runningKeys(await client.keys()) : await ownKeys(scenario, flags, io);
    const explained = explainKey(word, keys, io.program);
    const { text, notes } = keyText(explained, keys, io.program);
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
