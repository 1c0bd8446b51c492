import { accessSync, existsSync, constants as fileConstants, writeFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { me } from "../../api/endpoints.js";
import {
  type Comparison,
  compareWithContract,
  isLearnedScenario,
  learnedScenario,
  renderComparison,
} from "../../compare/compare.js";
import { readBaseUrl } from "../../library/base-url.js";
import { type SendOptions, sendOnce } from "../../node/clients/send-once.js";
import { readSmallFile } from "../../node/files/write-file.js";
import { version } from "../../node/package-files.js";
import { pluralize } from "../../report/plain-text.js";
import { SandboxError } from "../../rules/errors.js";
import { redactPlainKeys } from "../../rules/keys/redact.js";
import { quoteFile } from "../../schema/words.js";
import { declareCommand } from "../command.js";
import { exitCode, signalExitCode, unwritable, usageError } from "../exit-codes.js";
import * as flag from "../flags.js";
import type { Io } from "../io.js";
import { asFileArgument } from "../scenario.js";
import * as shared from "../shared-flags.js";

export const compareCommand = declareCommand({
  summary: "compare a real environment with the contract, and see what it does where that is open",
  description:
    "Sends a few requests to a real environment (or a sandbox), compares each outcome with the contract, and shows the assumptions that it follows. Keys come only from SVC_KEY_<REF> variables, with the names that keys --format env prints for key-states. If you set none, only requests without a valid key are sent. Exits with 1 if something differs (differs), if a response ended the comparison (stopped), or if the API did not respond (not_compared); a signal exits with 128 + its number. For a private certificate authority, set NODE_EXTRA_CA_CERTS.",
  args: { "<base-url>": "the URL before /v1/relying-party/me" },
  flags: {
    format: flag.option("--format <format>", "text or json (default: text)", flag.oneOf(["text", "json"])),
    json: shared.json,
    maxRequests: flag.option(
      "--max-requests <number>",
      "maximum number of requests (default: 90; 400 with --probe-limits)",
      flag.wholeNumber(1, Number.MAX_SAFE_INTEGER),
    ),
    timeout: shared.callFlags.timeout,
    probeLimits: flag.toggle(
      "--probe-limits",
      "reach limits on purpose, with keys at their limits, or with requests of a working key",
    ),
    pace: flag.option(
      "--pace <duration>",
      "wait between two requests: 500ms, 1s (default: none; after a gateway's 429, what it allows)",
      flag.durationLike("500ms or 1s"),
    ),
    cert: flag.option(
      "--cert <file>",
      "certificate of the client (PEM, with its chain), for mutual TLS; needs --key",
      flag.readFileName,
    ),
    key: flag.option(
      "--key <file>",
      "private key of --cert (PEM, without a passphrase); API keys come only from variables",
      flag.readFileName,
    ),
    writeScenario: flag.option(
      "--write-scenario <file>",
      "write a scenario with these assumptions; replaces only a file that it wrote",
      flag.readFileName,
    ),
  },
  examples: {
    "svc-sandbox compare https://api.example": "the keys are in SVC_API_KEY, SVC_KEY_REVOKED, …",
    "svc-sandbox compare https://api.example --probe-limits --write-scenario real.yaml":
      "a scenario that does the same where the specification is open",
    "svc-sandbox compare https://api.example --json > comparison.json": "to compare with a later one",
    "svc-sandbox compare http://127.0.0.1:4747": "a sandbox: finds nothing",
  },
  async run({ args, flags, io }) {
    const format = flags.json ? "json" : (flags.format ?? "text");
    const url = endpointUnder(args[0] ?? "");
    const { writeScenario } = flags;
    if (writeScenario === "-") {
      throw usageError("--write-scenario needs the name of a file: the report is on standard output.");
    }
    // A file that cannot be written ends the command before the first request.
    if (writeScenario !== undefined) requireReplaceable(writeScenario, io);
    const certificate = await readClientCertificate(url, flags, io.cwd);

    const stop = io.stopSignal();
    const timeout = flags.timeout ?? shared.defaultTimeoutMs;
    const send = createSend(url, { timeout, stop, certificate });
    const result = await compareWithContract(send, {
      url: url.href,
      env: io.env,
      maxRequests: flags.maxRequests,
      pace: flags.pace,
      probeLimits: flags.probeLimits === true,
      stop,
      wait: (milliseconds) => io.wait(milliseconds, stop),
      announce: (sentence) => void io.stderr.say(`${sentence}\n`),
    });

    const { whyNotCompared, verdict } = result;
    if (whyNotCompared !== undefined) io.stderr.say(`${whyNotCompared}\n`);
    if (format === "json" || whyNotCompared === undefined) {
      io.stdout.write(renderComparison(result, format, io.stdout.style()));
    }
    if (stop.aborted) return signalExitCode(stop);
    if (writeScenario !== undefined) writeLearnedScenario(writeScenario, result, io);
    return ["agrees", "agrees_in_part"].includes(verdict) ? exitCode.fine : exitCode.failed;
  },
});

/** Throws a usage error unless the file of `--write-scenario` is new, or an earlier comparison has written it. */
function requireReplaceable(name: string, { cwd }: Io): void {
  const path = resolve(cwd, name);
  try {
    const exists = existsSync(path);
    accessSync(exists ? path : dirname(path), fileConstants.W_OK);
    if (!exists) return;
    const isOurs = isLearnedScenario(readSmallFile(path).toString());
    if (!isOurs) throw new Error("compare did not write what is there");
  } catch (cause) {
    throw unwritableScenario(cause, name);
  }
}

/** Writes the scenario that a comparison has found, and prints that. One that ended early replaces none. */
function writeLearnedScenario(name: string, comparison: Comparison, io: Io): void {
  const { assumptions, endedBy } = comparison;
  const path = resolve(io.cwd, name);
  const file = quoteFile(name);
  if (endedBy !== undefined && existsSync(path)) {
    io.stderr.say(`${file} was kept: the comparison ended early, at ${endedBy}.\n`);
    return;
  }
  const count = Object.keys(assumptions).length;
  if (count === 0) {
    io.stderr.say(`${file} was not written: no assumption was seen.\n`);
    return;
  }

  // Another program may have written it during the comparison.
  requireReplaceable(name, io);
  try {
    writeFileSync(path, redactPlainKeys(learnedScenario(comparison)), { mode: 0o600 });
  } catch (cause) {
    throw unwritableScenario(cause, name);
  }
  const start = `${io.program} start ${asFileArgument(name)}`;
  io.stderr.say(`Wrote ${pluralize(count, "assumption")} to ${file}. Start it with: ${start}\n`);
}

function unwritableScenario(cause: unknown, name: string): SandboxError {
  return unwritable(cause, quoteFile(name), "Name another file with --write-scenario.");
}

/** Reads the certificate that the client presents, if it has one. */
async function readClientCertificate(
  { protocol }: URL,
  { cert, key }: { readonly cert?: string; readonly key?: string },
  cwd: string,
): Promise<SendOptions["certificate"]> {
  if (cert === undefined && key === undefined) return undefined;
  if (cert === undefined) throw usageError("--key requires --cert: it is the private key of a certificate.");
  if (key === undefined) throw usageError("--cert requires --key, the private key of the certificate.");
  if (protocol !== "https:") {
    throw usageError("--cert and --key need a base URL that starts with https://.");
  }
  const { readPair } = await import("../../server/sockets/tls.js");
  return readPair({ cert, key }, cwd, "Failed to use the client's certificate");
}

/** Returns what sends a request with a key, or with none. */
function createSend(url: URL, options: Pick<SendOptions, "timeout" | "stop" | "certificate">) {
  return (apiKey: string | undefined) => {
    const headers = {
      accept: "application/json",
      // Responses are compared byte by byte.
      "accept-encoding": "identity",
      "user-agent": `svc-sandbox/${version} compare`,
      ...(apiKey !== undefined && { "x-api-key": apiKey }),
    };
    return sendOnce(url, { ...options, maxBody: 64 * 1024, headers });
  };
}

/** The URL of the endpoint at a base URL. Errors leave out the given text, which may contain a password or a key. */
export function endpointUnder(base: string): URL {
  const url = readBaseUrl(base);
  if (url === undefined) {
    throw new SandboxError(
      "usage",
      "Invalid base URL: it must start with http: or https:, without a password, query or fragment, such as https://api.example. Keys come from SVC_KEY_<REF> variables.",
    );
  }
  return new URL(url.endsWith(me.path) ? url : url + me.path);
}
