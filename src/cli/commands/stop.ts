import { ControlClient } from "../../node/clients/control-client.js";
import { redactPlainKeys } from "../../rules/keys/redact.js";
import { declareCommand } from "../command.js";
import * as flag from "../flags.js";
import { controlAddress, runningUrlText } from "../running-sandbox.js";
import * as shared from "../shared-flags.js";

const callFlagNames = flag.flagNamesOf(shared.callFlags);

export const stopCommand = declareCommand({
  summary: "stop a running sandbox, even if its npx has ended",
  description:
    "Stops a running sandbox like SIGTERM: open requests have 2 seconds to finish. Returns once its port is free. Also ends the command of exec. Exits with 2 if there is no sandbox to stop.",
  args: { "[url]": runningUrlText },
  flags: { ...shared.callFlags, json: shared.json, quiet: shared.quiet("only errors") },
  modes: [
    {
      name: "stop --json",
      when: ({ flags }) => flags.json,
      flags: [...callFlagNames, "json"],
    },
    { name: "stop", flags: [...callFlagNames, "json", "quiet"] },
  ],
  examples: {
    "svc-sandbox stop": "the sandbox on http://127.0.0.1:4747",
    "svc-sandbox stop http://127.0.0.1:8080": "a sandbox on another port",
    "svc-sandbox stop http://10.0.0.5:4747 --control-token $TOKEN": "a sandbox on another machine",
  },
  async run({ args, flags, io }) {
    const { url, scenario, startedAt } = await new ControlClient(controlAddress(args[0], flags, io)).stop();
    if (flags.json) {
      const line = { event: "stopped", base_url: url, scenario, started_at: startedAt };
      io.stdout.write(redactPlainKeys(`${JSON.stringify(line)}\n`));
    } else if (!flags.quiet) {
      io.stdout.say(redactPlainKeys(`Stopped ${url}: ${scenario}, since ${startedAt}.\n`));
    }
  },
});
