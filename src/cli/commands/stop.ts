import { stopSandbox } from "../../node/clients/ask-control.js";
import { redactKeys } from "../../spec/redact.js";
import { declareCommand } from "../command.js";
import { exitCode } from "../exit-codes.js";
import { askFlags, controlCall, json, quiet, runningUrl } from "../flags.js";
import { tell, writeData } from "../tell.js";

export const command = declareCommand({
  summary: "stop a running sandbox, even if its npx has ended",
  description:
    "Stops a running sandbox like SIGTERM: open requests have 2 seconds to finish. Returns once its port is free. Also ends the command of exec. Exits with 2 if there is no sandbox to stop.",
  words: { "[url]": runningUrl },
  flags: { ...askFlags, json, quiet },
  examples: {
    "svc-sandbox stop": "the sandbox on http://127.0.0.1:4747",
    "svc-sandbox stop http://127.0.0.1:8080": "a sandbox on another port",
    "svc-sandbox stop http://10.0.0.5:4747 --control-token $TOKEN": "a sandbox on another machine",
  },
  async run({ words, flags, io }) {
    const { url, scenario, startedAt } = await stopSandbox(controlCall(words[0], flags, io));
    if (flags.json) {
      const line = { event: "stopped", base_url: url, scenario, started_at: startedAt };
      writeData(io.stdout, redactKeys(`${JSON.stringify(line)}\n`));
    } else if (!flags.quiet) {
      tell(io.stdout, redactKeys(`Stopped ${url}: ${scenario}, since ${startedAt}.\n`));
    }
    return exitCode.fine;
  },
});
