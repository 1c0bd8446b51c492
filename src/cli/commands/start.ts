import { declareCommand } from "../command.js";
import * as flag from "../flags.js";
import { backgroundVariable } from "../io.js";
import { serveUntilStopped } from "../serve.js";
import * as shared from "../shared-flags.js";

const startFlags = {
  port: flag.option(
    "-p, --port <number>",
    "the port to listen on; 0 uses any free port (default: 4747)",
    flag.readPort,
    {
      variables: ["SVC_SANDBOX_PORT", "PORT"],
    },
  ),
  ...shared.serverFlags,
  ...shared.sandboxFlags,
  watch: flag.toggle(
    "--watch",
    "load the scenario again when its file changes; a broken file does not replace the running scenario",
  ),
  writeEnv: flag.option(
    "--write-env <file>",
    "set SVC_BASE_URL, SVC_API_KEY, your client's other variables, and a required control token in this file; its other lines stay",
    flag.readFileName,
  ),
  state: flag.option(
    "--state <file>",
    "keep the sandbox in this file, with its requests, so that it survives a restart; the file overrides --seed, --now, --frozen and --profile",
    flag.readFileName,
  ),
  detach: flag.toggle(
    "--detach",
    "serve in the background: print the line of --json once requests are accepted, and return; the command stop ends it",
    { variables: [], conflicts: ["untilStdinEnds"] },
  ),
  untilStdinEnds: flag.cliOnlyToggle(
    "--until-stdin-ends",
    "print the line of --json, and stop when stdin ends: the sandbox never outlives a program that starts it with a pipe",
  ),
  open: flag.toggle(
    "--open",
    "open the dashboard in the browser (BROWSER, or the default browser) once the server is ready",
  ),
  log: shared.log("pretty"),
  showKeys: flag.toggle(
    "--show-keys",
    "print full keys and a generated control token; SVC_SANDBOX_SHOW_KEYS=0 hides them (default: print them, except with --log json)",
  ),
  json: shared.json,
  quiet: shared.quiet("no notes and no request log"),
};

export const startCommand = declareCommand({
  summary: "serve a scenario until you stop it (the default command)",
  description:
    "Serves a scenario until SIGINT, SIGTERM or SIGHUP. Once it accepts requests, it prints the addresses, the keys and what each key gets. Then it logs requests on stderr.",
  args: shared.scenarioArgument,
  variableOfArgument: "SVC_SANDBOX_SCENARIO",
  flags: startFlags,
  usualFlags: [
    "port",
    "host",
    "publicUrl",
    "seed",
    "frozen",
    "profile",
    "watch",
    "writeEnv",
    "state",
    "open",
  ],
  examples: {
    "svc-sandbox": "every state of a key, on http://127.0.0.1:4747",
    "svc-sandbox revoked --port 0": "one bundled scenario, on any free port",
    "svc-sandbox ./my.yaml --watch": "your file, reloaded when it changes",
    "svc-sandbox start --json --log off": "only one line of JSON, for a script",
    "svc-sandbox start --detach": "in the background, until svc-sandbox stop",
    "svc-sandbox start --until-stdin-ends --port 0": "for a test suite that starts it",
    "svc-sandbox --open": "and the dashboard in the browser",
    "svc-sandbox --state sandbox.json --seed random": "its own keys, and continue after a restart",
    "svc-sandbox --write-env .env.sandbox": "base URL and keys for your client's environment",
  },
  async run(call) {
    const { flags, io } = call;
    if (flags.detach && io.env[backgroundVariable] === undefined) {
      const { startInBackground } = await import("../background.js");
      return startInBackground(call);
    }

    return serveUntilStopped(call);
  },
});
