import { askCapture } from "../../node/clients/ask-control.js";
import { declareCommand, fileName, flag, noVariable } from "../command.js";
import { exitCode } from "../exit-codes.js";
import { openOutput } from "../files.js";
import { askFlags, controlCall, force, quiet, readText, runningUrl } from "../flags.js";
import { programName } from "../io.js";

export const command = declareCommand({
  summary: "write a running sandbox's requests into a scenario file that verify repeats anywhere",
  description:
    "Writes everything since the start or the last reset of a running sandbox: its state, each request with its response, and the changes in between. The file is a scenario with a story: verify repeats it on any machine, and play presents it. It contains the last 480 to 960 requests and changes, and no key. Exits with 2 if there is nothing to capture.",
  words: { "[url]": runningUrl },
  flags: {
    output: flag("-o, --output <file>", "write it to this file and not to stdout", fileName, noVariable),
    force,
    from: flag(
      "--from <id>",
      "start with this request: its id in the log, or its X-Request-Id",
      readText,
      noVariable,
    ),
    to: flag("--to <id>", "end with this request", readText, noVariable),
    key: flag(
      "--key <ref>",
      "only requests with this key (or none, malformed, unknown); others stay, without expectations, if the responses depend on them",
      readText,
      noVariable,
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
    write(text, `Verify it with: ${programName(io.env)} verify ${output}`);
    return exitCode.fine;
  },
});
