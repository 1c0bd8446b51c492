import {
  ask,
  type ControlAddress,
  controls,
  isNot,
  noControlPlane,
} from "../../../node/clients/ask-control.js";
import { SandboxError } from "../../../rules/errors.js";
import { declareCommand, fileName, plainOption } from "../../command.js";
import { exitCode } from "../../exit-codes.js";
import { openOutput } from "../../files.js";
import { askFlags, controlCall, force, quiet, readText, runningUrl } from "../../flags.js";

export const captureCommand = declareCommand({
  summary: "write a running sandbox's requests into a scenario file that verify repeats anywhere",
  description:
    "Writes everything since the start or the last reset of a running sandbox: its state, each request with its response, and the changes in between. The file is a scenario with a story: verify repeats it on any machine, and play presents it. It contains the last 480 to 960 requests and changes, and no key. Exits with 2 if there is nothing to capture.",
  words: { "[url]": runningUrl },
  flags: {
    output: plainOption("-o, --output <file>", "write it to this file and not to stdout", fileName),
    force,
    from: plainOption(
      "--from <id>",
      "start with this request: its id in the log, or its X-Request-Id",
      readText,
    ),
    to: plainOption("--to <id>", "end with this request", readText),
    key: plainOption(
      "--key <ref>",
      "only requests with this key (or none, malformed, unknown); others stay, without expectations, if the responses depend on them",
      readText,
    ),
    ...askFlags,
    quiet,
  },
  examples: {
    "svc-sandbox capture -o bug.yaml": "capture http://127.0.0.1:4747",
    "svc-sandbox verify bug.yaml": "repeat it, on any machine",
    "svc-sandbox capture --from req_bc8550a0796dcd92bd275137 --key active":
      "start at a request, with one key",
  },
  async run({ words, flags, io }) {
    const { output, from, to, key } = flags;
    const write = openOutput(flags, io);
    const text = await askCapture(controlCall(words[0], flags, io), { from, to, key });
    await write(text, `Verify it with: ${io.program} verify ${output}`);
    return exitCode.fine;
  },
});

const captureErrors: readonly string[] = ["capture_impossible", "validation_failed", "unknown_ref"];

async function askCapture(
  call: ControlAddress,
  part: Readonly<Record<string, string | undefined>>,
): Promise<string> {
  const chosen = Object.entries(part).filter((one): one is [string, string] => one[1] !== undefined);
  const query = new URLSearchParams(chosen).toString();
  const path = `/capture${query && `?${query}`}`;
  const { status, text, error, failed } = await ask(call, "capture the requests of", "GET", path);
  if (status === 200 && text.startsWith("version: 1\n") && !controls.test(text)) return text;
  const { code = "", message = "", details } = error ?? {};
  // A server without a control plane also returns not_found.
  const isOfCapture = captureErrors.includes(code) || (details?.request ?? details?.ref) !== undefined;
  if (isOfCapture) throw new SandboxError("usage", message);
  throw failed(status === 404 ? noControlPlane : isNot(status, "a scenario"));
}
