import { rehearseScenario } from "../../library/rehearse.js";
import { clientEnvironment, environmentLines, powershellLines } from "../../node/client-variables.js";
import { alignColumns } from "../../report/plain-text.js";
import type { SandboxState } from "../../sandbox/sandbox.js";
import { scenarioSecret } from "../../sandbox/secrets.js";
import { declareCommand, noVariable, oneOf, option, scenarioWord } from "../command.js";
import { exitCode } from "../exit-codes.js";
import { jsonOrFormat, worldFlags } from "../flags.js";
import { firstThatFits, keyRows, keyTable } from "../key-rows.js";
import { loadNamed, openNamed } from "../open-scenario.js";
import { type Style, shortTime, styleFor, tell, writeData } from "../terminal.js";

export const command = declareCommand({
  summary: "list a scenario's keys and what each one gets",
  description:
    "Lists the keys of a scenario, their secrets, and the response that each one gets. Below the table are the keys that its timeline and story will create.",
  words: scenarioWord,
  flags: {
    format: option(
      "--format <format>",
      "table, json, env (lines for a shell), dotenv (the same, for a .env file) or powershell (default: table)",
      oneOf(["table", "json", "env", "dotenv", "powershell"]),
      noVariable,
    ),
    json: jsonOrFormat,
    ...worldFlags,
  },
  examples: {
    "svc-sandbox keys": "a table",
    'eval "$(svc-sandbox keys key-states --format env)"': "SVC_API_KEY and SVC_KEY_… in your shell",
    "svc-sandbox keys --format powershell | Out-String | Invoke-Expression": "the same in PowerShell",
    "svc-sandbox keys my.yaml --format json": "for machines",
  },
  async run({ words, flags, io }) {
    const loaded = await loadNamed(words[0], io);
    const world = openNamed(loaded, flags);
    const format = flags.json ? "json" : (flags.format ?? "table");
    const open = () => openNamed(loaded, { ...flags, frozen: true });
    const variables = () => clientEnvironment(world, undefined, { all: true });
    const textOf = {
      env: () => environmentLines(variables()),
      dotenv: () => environmentLines(variables()),
      powershell: () => powershellLines(variables()),
      json: () => `${JSON.stringify(keyRows(world), null, 2)}\n`,
      table: () => tableOf(world, open, styleFor(io.stdout, io.env)),
    };
    const text = await textOf[format]();
    if (format === "table") tell(io.stdout, text);
    else writeData(io.stdout, text);
    return exitCode.fine;
  },
});

async function tableOf(world: SandboxState, open: () => SandboxState, style: Style): Promise<string> {
  const table = keyTable(keyRows(world), style, { holder: true });
  const hasSteps = world.timeline.steps.length + world.story.steps.length > 0;
  const toCome = hasSteps ? keysToCome(open) : [];
  if (toCome.length === 0) return `${table.join("\n")}\n`;
  const rows = [["KEY", "MADE BY", "SECRET"].map(style.palette.dim), ...toCome];
  const short = rows.map(([ref = "", , secret = ""]) => [ref, secret]);
  const below = firstThatFits(
    [rows, short].map((one) => alignColumns(one)),
    style.width,
  );
  return `${[...table, "", "Created later:", ...below].join("\n")}\n`;
}

// The keys that the timeline and the story will create, each with its step and secret.
function keysToCome(open: () => SandboxState): string[][] {
  const rows = new Map<string, string[]>();
  rehearseScenario(() => {
    const world = open();
    world.history.subscribe((event) => {
      if (event.type !== "timeline.step" && event.type !== "story.step") return;
      const { step, performed } = event.result;
      const made = performed?.replacement ?? (step.create_key && performed?.key);
      if (!made || rows.has(made.ref)) return;
      const by =
        event.type === "timeline.step"
          ? `timeline, at ${shortTime(event.result.at)}`
          : `story, step ${event.result.number}`;
      rows.set(made.ref, [made.ref, by, scenarioSecret(world, made.ref)]);
    });
    return world;
  });
  return [...rows.values()];
}
