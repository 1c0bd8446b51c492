import { endpointNamed, me } from "../../api/endpoints.js";
import { nextRequest } from "../../api/next-request.js";
import { isRequestId } from "../../api/variation/table.js";
import { ControlClient } from "../../node/clients/control-client.js";
import { findListener, longestSearch } from "../../node/clients/find-listener.js";
import { startInNode } from "../../node/platform.js";
import { shellWord } from "../../report/curl-line.js";
import { fingerprintOf } from "../../rules/keys/key-text.js";
import { redactPlainKeys } from "../../rules/keys/redact.js";
import { isoTime } from "../../rules/time.js";
import type { Endpoint } from "../../sandbox/call.js";
import { runDue } from "../../sandbox/operations/operations.js";
import { fingerprintOfRef } from "../../sandbox/secrets.js";
import { isScenarioName } from "../../scenario/bundled.js";
import { isRef } from "../../scenario/format/fields.js";
import { quote } from "../../schema/words.js";
import { type CommandCall, declareCommand } from "../command.js";
import { usageError } from "../exit-codes.js";
import { isKeyOfKeyStates, type KeySource, paintExplanation, printKey } from "../explain.js";
import * as flag from "../flags.js";
import type { Io } from "../io.js";
import { controlAddress, runningUrlText, standardHost } from "../running-sandbox.js";
import { loadScenarioArgument } from "../scenario.js";
import * as shared from "../shared-flags.js";

/** Where the running sandbox is, and how to call it. */
const runningFlags = {
  url: flag.cliOnlyOption("--url <url>", runningUrlText, (text) => text),
  ...shared.callFlags,
};
const explainFlags = {
  endpoint: shared.endpoint,
  ...runningFlags,
  json: shared.json,
  ...shared.sandboxFlags,
};
type ExplainCall = CommandCall<flag.FlagValues<typeof explainFlags>>;

const runningFlagNames = flag.flagNamesOf(runningFlags);
const sandboxFlagNames = flag.flagNamesOf(shared.sandboxFlags);
const keyFlagNames = ["endpoint", ...sandboxFlagNames] as const;

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
  modes: [
    {
      name: "explain <request id or last>",
      when({ args: [word = "", ...others], flags }) {
        if (word === "last") return true;
        // A ref of a key may look like an id. Only a line about a key has these.
        const isOfKey = others.length > 0 || keyFlagNames.some((name) => flags[name] !== undefined);
        return isRequestId(word) && !(isRef(word) && isOfKey);
      },
      maxArgs: 1,
      flags: ["json", ...runningFlagNames],
    },
    {
      // A line about a key, with a scenario or one of these flags, starts a sandbox and does not ask the one that runs.
      name: "explain <key> [scenario]",
      when: ({ args, flags }) =>
        args.length > 1 || sandboxFlagNames.some((name) => flags[name] !== undefined),
      flags: ["endpoint", "json", ...sandboxFlagNames],
    },
    {
      name: "explain <key>",
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
    const [keyOrRequest = "", scenario] = args;
    // A status may also be the id of a request, in a form that nothing sends.
    if (/^[1-5]\d\d$/.test(keyOrRequest)) {
      throw usageError(
        `${quote(keyOrRequest)} is a status. Name a key, such as revoked, or a whole X-Request-Id, or use last for the latest rejected request.`,
      );
    }
    // A bundled name may be that of a key, too, as `revoked` is.
    const isName = isScenarioName(keyOrRequest) && !isKeyOfKeyStates(keyOrRequest);
    if (isName || /\.ya?ml$/i.test(keyOrRequest)) {
      const start = `The key comes before the scenario, ${quote(keyOrRequest)}.`;
      const file = shellWord(keyOrRequest);
      if (scenario === undefined) {
        throw usageError(`${start} Its keys: ${io.program} keys ${file}`);
      }
      throw usageError(`${start} Did you mean ${io.program} explain ${shellWord(scenario)} ${file}?`);
    }
    const meansRequest = mode === "explain <request id or last>";
    if (meansRequest && (keyOrRequest === "last" || !isRef(keyOrRequest))) {
      await sayRequest(keyOrRequest, call);
      return;
    }

    // Only a line without a scenario, and without a flag of a start, is about the sandbox that runs.
    const isOfNewSandbox = mode === "explain <key> [scenario]";
    const running = isOfNewSandbox ? undefined : await findRunning(keyOrRequest, call);
    let keys: KeySource;
    if (running !== undefined) keys = await runningKeys(running, flags.endpoint);
    else keys = await keysOfNewSandbox(scenario, flags, io);
    // A UUID may be a ref. One that is none is the id of a request.
    if (meansRequest && !keys.refs.includes(keyOrRequest)) await sayRequest(keyOrRequest, call);
    else await printKey(keyOrRequest, keys, call);
  },
});

/** Explains a request that the running sandbox has got: its id, or `last`. */
async function sayRequest(id: string, { flags, io }: ExplainCall): Promise<void> {
  const client = new ControlClient(controlAddress(flags.url, flags, io));
  const { text, ...details } = await client.request(id);
  if (flags.json) {
    io.stdout.write(redactPlainKeys(`${JSON.stringify(details, null, 2)}\n`));
    return;
  }
  io.stdout.say(redactPlainKeys(`${paintExplanation(text, io.stdout.style())}\n`));
}

/** The client of the sandbox that runs; `undefined` if none does. */
async function findRunning(word: string, { flags, io }: ExplainCall): Promise<ControlClient | undefined> {
  if (flags.url !== undefined || io.env.SVC_CONTROL_URL) {
    return new ControlClient(controlAddress(flags.url, flags, io));
  }

  const timeout = flags.timeout ?? longestSearch;
  const listener = await findListener(standardHost, timeout);
  if (listener.kind === "sandbox") {
    return new ControlClient(controlAddress(listener.sandbox.url, flags, io));
  }
  if (listener.kind !== "silent") return undefined;
  throw usageError(
    `Failed to ask the sandbox on ${standardHost}: no response came within ${timeout / 1000} s. Wait longer with --timeout, name another sandbox with --url, or name a scenario: ${io.program} explain ${shellWord(word)} key-states`,
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
async function keysOfNewSandbox(
  scenario: string | undefined,
  flags: shared.SandboxFlags & { readonly endpoint?: string },
  io: Io,
): Promise<KeySource> {
  const loaded = await loadScenarioArgument(scenario, io);
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
