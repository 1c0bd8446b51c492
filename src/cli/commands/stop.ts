import { ControlClient } from "../../node/clients/control-client.js";
import { declareCommand } from "../command.js";
import * as shared from "../shared-flags.js";

export const stopCommand = declareCommand({
  summary: "stop a running sandbox, even if its npx has ended",
  description:
    "Stops a running sandbox like SIGTERM: open requests have 2 seconds to finish. Returns once its port is free. Also ends the command of exec. Exits with 2 if there is no sandbox to stop.",
  args: { "[url]": shared.runningUrlText },
  flags: { ...shared.callFlags, json: shared.json, quiet: shared.quiet("only errors", "json") },
  examples: {
    "svc-sandbox stop": "the sandbox on http://127.0.0.1:4747",
    "svc-sandbox stop http://127.0.0.1:8080": "a sandbox on another port",
    "svc-sandbox stop http://10.0.0.5:4747 --control-token $TOKEN": "a sandbox on another machine",
  },
  async run(call) {
    const { args, flags, io } = call;
    const client = new ControlClient(shared.controlAddress(args[0], call));
    const { url, scenario, startedAt } = await client.stop();
    if (flags.json) {
      const line = { event: "stopped", base_url: url, scenario, started_at: startedAt };
      io.stdout.write(`${JSON.stringify(line)}\n`);
    } else if (!flags.quiet) {
      io.stdout.say(`Stopped ${url}: ${scenario}, since ${startedAt}.\n`);
    }
  },
});
