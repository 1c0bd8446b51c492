import { isLoopbackHost } from "../../../node/addresses.js";
import { environmentLines } from "../../../node/client-variables.js";
import { ControlClient, type InstanceSummary } from "../../../node/clients/control-client.js";
import { alignColumns } from "../../../report/plain-text.js";
import { escapeControls } from "../../../rules/redact.js";
import { listed, quote } from "../../../rules/schema/words.js";
import { declareCommand } from "../../command.js";
import { exitCode, usageError } from "../../exit-codes.js";
import { brokenSentence, openEnvFile } from "../../files.js";
import * as flag from "../../flags.js";
import type { Io } from "../../io.js";

const actions = ["list", "remove", "link"] as const;

export const instanceCommand = declareCommand({
  summary: "create an instance for a partner and print its claim link; list, link, remove",
  description:
    "Creates an isolated sandbox inside a running server, with its own keys, and prints its claim link, which works once: your partner opens it in a browser, or runs claim. list shows each instance with its coverage, link makes a new link, and remove ends an instance. Set SVC_SANDBOX_CONTROL_TOKEN: others on this machine can read arguments.",
  words: { "[action]": `${listed(actions, "or")} (default: creates one)`, "[id]": "the id of an instance" },
  flags: {
    label: flag.plainOption("--label <text>", "whose it is, such as Harvest Bank", flag.readText),
    expires: flag.plainOption(
      "--expires <duration>",
      "when it ends, even if in use: 90d (default: after the server's idle time)",
      flag.readDuration("2h or 90d"),
    ),
    scenario: flag.plainOption(
      "--scenario <name>",
      "its bundled scenario (default: the server's)",
      flag.readText,
    ),
    seed: {
      ...flag.ofSandbox.seed,
      text: "seed for its keys and data (default: a random one)",
      variables: [],
    },
    url: flag.plainOption("--url <url>", flag.runningUrl, flag.readText),
    ...flag.ofCalls,
    json: flag.json,
    quiet: flag.quiet,
  },
  examples: {
    'svc-sandbox instance --label "Harvest Bank" --expires 90d': "print a claim link",
    "svc-sandbox instance list": "who has covered what",
    "svc-sandbox instance link jUVHq5sHPLRh": "a new link, for a lost token",
    "svc-sandbox instance remove jUVHq5sHPLRh": "end an instance",
  },
  async run({ words: [action, id = "", ...more], flags, line, io }) {
    const { label, expires, scenario, seed } = flags;
    const note = (text: string) => flags.quiet || io.stderr.say(`${text}\n`);
    const print = (data: object | null, text: string) =>
      io.stdout.write(flags.json ? `${JSON.stringify(data)}\n` : text);
    const needsId = action === "link" || action === "remove";
    if ((action !== undefined && !actions.some((one) => one === action)) || more.length > 0) {
      throw usageError(
        `Unknown ${quote([action, id, ...more].join(" ").trim())}. Use ${listed(actions, "or")}.`,
      );
    }
    if (needsId !== (id !== "")) {
      throw usageError(
        needsId
          ? `${action} needs the id of an instance; ${io.program} instance list shows them.`
          : "list has no id.",
      );
    }
    if (line.some((one) => one.startsWith("--control-token"))) {
      note("Others on this machine can read --control-token. Set SVC_SANDBOX_CONTROL_TOKEN instead.");
    }
    const server = new ControlClient(flag.controlAddress(flags.url, flags, io));
    if (action === "list") {
      const { instances, broken } = await server.instances();
      print(instances, tableOf(instances, io));
      if (broken.length > 0) io.stderr.say(brokenSentence(broken));
    } else if (action === "remove") {
      await server.remove(id);
      print({ id, removed: true }, "");
      note(`Removed the instance ${id}.`);
    } else if (action === "link") {
      const link = await server.link(id);
      print({ id, claim_url: link }, `${link}\n`);
      note(adviceOn(link, io));
    } else {
      const instance = await server.createInstance({
        label,
        scenario,
        seed,
        expires: expires === undefined ? undefined : `${expires}ms`,
      });
      // The partner gets token and keys, with the link.
      const {
        token: _,
        keys: __,
        ...shown
      } = instance as typeof instance & { token?: string; keys?: object };
      print(shown, `${instance.claim_url}\n`);
      note(adviceOn(instance.claim_url, io));
    }
    return exitCode.fine;
  },
});

function adviceOn(link: string, { program }: Io): string {
  const reach = isLoopbackHost(new URL(link).host)
    ? "It only works on this machine: start the server with --public-url for others. "
    : "";
  return `Send this link to your partner. ${reach}It works once, in a browser or with: ${program} claim '<link>' --write-env .env`;
}

function tableOf(instances: readonly InstanceSummary[], { program }: Io): string {
  if (instances.length === 0) return `No instances. Create one: ${program} instance --label <text>\n`;
  const rows = instances.map(({ id, label, traffic, expires_at }) => [
    id,
    escapeControls(label ?? "-"),
    ...(traffic === null
      ? ["-", "-", "-"]
      : [`${traffic.coverage}%`, `${traffic.requests}`, traffic.last_path_id ?? "-"]),
    expires_at ?? "when idle",
  ]);
  const head = ["id", "label", "covered", "requests", "last request", "ends"];
  return `${alignColumns([head, ...rows]).join("\n")}\n`;
}

export const claimCommand = declareCommand({
  summary: "turn a claim link into base URL, keys and token",
  description:
    "Exchanges the link of an instance, which works once, for its environment: SVC_BASE_URL, SVC_API_KEY, SVC_KEY_<REF>, SVC_CONTROL_URL and the token in SVC_SANDBOX_CONTROL_TOKEN. Prints it, or sets it in a file.",
  words: { "<link>": "the link that you got, in quotes" },
  flags: {
    writeEnv: flag.plainOption(
      "--write-env <file>",
      "set it in this file, and not on stdout; other lines stay, and a new file is readable only by its owner",
      flag.fileName,
    ),
    ca: flag.ofCalls.ca,
    timeout: flag.ofCalls.timeout,
    json: { ...flag.json, conflicts: ["writeEnv"] },
    quiet: flag.quiet,
  },
  examples: {
    "svc-sandbox claim 'https://sandbox.example/i/aB3/__sandbox/#code=xY4' --write-env .env.sandbox":
      "once, in a shell or PowerShell",
    "node --env-file .env.sandbox client.js": "then start your client with it",
  },
  async run({ words: [link = ""], flags, io }) {
    // Before the exchange, which uses up the link.
    const write = flags.writeEnv === undefined ? undefined : await openEnvFile(flags.writeEnv, io.cwd);
    const { token, environment, ...rest } = await ControlClient.claim(
      link,
      flag.controlAddress(undefined, flags, io),
    );
    const variables = { ...environment, SVC_SANDBOX_CONTROL_TOKEN: token };
    if (flags.json) io.stdout.write(`${JSON.stringify({ ...rest, environment: variables })}\n`);
    else if (write === undefined) io.stdout.write(environmentLines(variables));
    else {
      await write(variables);
      if (!flags.quiet) io.stderr.say(`Wrote ${flags.writeEnv}. Base URL: ${rest.base_url}.\n`);
    }
    return exitCode.fine;
  },
});
