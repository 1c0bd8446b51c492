import { ControlClient } from "../../node/clients/control-client.js";
import { nodePlatform } from "../../node/platform.js";
import { type AdviceId, adviceOf } from "../../rules/advice.js";
import { SandboxError } from "../../rules/errors.js";
import {
  describeKeyForm,
  fingerprintOf,
  isSandboxKey,
  isWellFormedKey,
  parseApiKey,
} from "../../rules/keys/key-text.js";
import { isRef } from "../../scenario/format/fields.js";
import { type CommandCall, declareCommand, refuseFlags } from "../command.js";
import * as flag from "../flags.js";
import * as shared from "../shared-flags.js";

const explainFlags = {
  endpoint: shared.endpoint,
  url: flag.option("--url <url>", shared.runningUrlText, (text) => text),
  ...shared.callFlags,
  json: shared.json,
};

export const explainCommand = declareCommand({
  summary: "show why a request or a key was rejected, and what to do",
  description:
    "Shows a request of a running sandbox: its checks in order, the cause, the fault, advice, what to do, and the requests with the same key around it. Or shows what the next request with a key gets there, and why. Counts nothing, and never prints or sends a key: it asks by its hash.",
  args: {
    "<key>":
      "last (the latest rejected request), an X-Request-Id, a key or its ref, or none, malformed or unknown",
  },
  flags: explainFlags,
  examples: {
    "svc-sandbox explain last": "the latest rejected request of http://127.0.0.1:4747",
    "svc-sandbox explain req_bc8550a0796dcd92bd275137": "the request with this X-Request-Id",
    "svc-sandbox explain revoked": "a key, by its ref",
    'svc-sandbox explain "$SVC_API_KEY"': "the key that your client sends",
    "svc-sandbox explain main --endpoint createReport": "a key at another endpoint",
    "svc-sandbox explain none --json": "a request without a key, for machines",
  },
  async run(call) {
    const { args, flags, io } = call;
    const word = (args[0] ?? "").trim();
    const client = new ControlClient(shared.controlAddress(flags.url, call));
    const { text, ...details } = await explain(word, client, call);
    if (flags.json) io.stdout.write(`${JSON.stringify(details, null, 2)}\n`);
    else io.stdout.say(`${text}\n`);
  },
});

async function explain(
  word: string,
  client: ControlClient,
  call: CommandCall<flag.FlagValues<typeof explainFlags>>,
) {
  const { flags } = call;
  if (word === "last") {
    refuseFlags(call, ["endpoint"], "explain last");
    return client.request(await client.lastRejection());
  }
  if (!isName(word)) return explainFullKey(word, client, flags.endpoint);

  let noKey: SandboxError;
  try {
    return await client.key(word, flags.endpoint);
  } catch (error) {
    if (!isNotFound(error) || flags.endpoint !== undefined) throw error;
    noKey = error;
  }
  try {
    return await client.request(word);
  } catch (error) {
    if (!isNotFound(error)) throw error;
    throw new SandboxError("not_found", `${noKey.message} ${error.message}`);
  }
}

/** Whether a word is a ref or the id of a request: any other word is a key, perhaps without its prefix. An id has 24 hex digits in a row, or is short. */
function isName(word: string): boolean {
  if (/svc_/i.test(word)) return false;
  return isRef(word) || /^[\w.-]{1,24}$/.test(word) || /[0-9a-f]{24}/.test(word);
}

function isNotFound(error: unknown): error is SandboxError {
  return error instanceof SandboxError && error.code === "not_found";
}

/** Explains a key, which never leaves this process: by its hash, or if the sandbox does not have it, as `unknown` or `malformed`. */
async function explainFullKey(apiKey: string, client: ControlClient, endpoint: string | undefined) {
  const sha256 = nodePlatform.sha256(apiKey);
  try {
    return await client.key(sha256, endpoint);
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }

  const explained = await client.key(isWellFormedKey(apiKey) ? "unknown" : "malformed", endpoint);
  const fingerprint = fingerprintOf(sha256);
  // The sandbox has a key to send for `unknown`, which is nobody's mistake.
  if (explained.fingerprint === fingerprint) return explained;

  const keyForm = describeKeyForm(apiKey);
  const advice = adviceOnForeignKey(apiKey);
  const lines = [explained.text, "", `Your key, of fingerprint ${fingerprint}: ${keyForm}.`];
  for (const id of advice) {
    const { meaning, whatToDo } = adviceOf(id);
    lines.push("", id === "real-key-suspected" ? realKeyWords : `${meaning} ${whatToDo}`);
  }
  return { ...explained, fingerprint, key_form: keyForm, advice, text: lines.join("\n") };
}

/** The advice that a request with a key of no sandbox, or of another one, causes. */
function adviceOnForeignKey(apiKey: string): AdviceId[] {
  const parsed = parseApiKey(apiKey);
  if (parsed === undefined) return [];
  if (!parsed.hasMark) return ["real-key-suspected"];
  return [isSandboxKey(apiKey) ? "key-of-another-sandbox" : "key-cut"];
}

const realKeyWords =
  "This looks like a real key: it is well-formed, not one of this scenario, and lacks the mark of a sandbox key (sbx). If it is real, rotate it: it has been in your shell, and perhaps in its history.";
