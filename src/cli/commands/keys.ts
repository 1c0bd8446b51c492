import { clientEnvironment, environmentLines, powershellLines } from "../../node/client-variables.js";
import { declareCommand, noVariable, oneOf, option, scenarioWord } from "../command.js";
import { exitCode } from "../exit-codes.js";
import { jsonOrFormat, worldFlags } from "../flags.js";
import { keyRows, keyTable } from "../key-rows.js";
import { loadNamed, openNamed } from "../open-scenario.js";
import { styleFor, tell, writeData } from "../terminal.js";

export const command = declareCommand({
  summary: "list a scenario's keys and what each one gets",
  description: "Lists the keys of a scenario, their secrets, and the response that each one gets.",
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
    const variables = () => clientEnvironment(world, undefined, { all: true });
    const textOf = {
      env: () => environmentLines(variables()),
      dotenv: () => environmentLines(variables()),
      powershell: () => powershellLines(variables()),
      json: () => `${JSON.stringify(keyRows(world), null, 2)}\n`,
      table: () => `${keyTable(keyRows(world), styleFor(io.stdout, io.env), { holder: true }).join("\n")}\n`,
    };
    const text = textOf[format]();
    if (format === "table") tell(io.stdout, text);
    else writeData(io.stdout, text);
    return exitCode.fine;
  },
});
