import { endpointNamed } from "../../api/endpoints.js";
import { dryRunScenario } from "../../node/dry-run.js";
import { startNamed } from "../../node/platform.js";
import { alignColumns } from "../../report/plain-text.js";
import { refsIn } from "../../rules/actions.js";
import { shortTime } from "../../rules/time.js";
import type { SandboxState } from "../../sandbox/sandbox-state.js";
import { secretFor } from "../../sandbox/secrets.js";
import { clientEnvironment } from "../client-variables.js";
import { declareCommand } from "../command.js";
import * as flag from "../flags.js";
import { type KeyRow, keyRows, keyTable } from "../key-rows.js";
import { loadNamed } from "../open-scenario.js";
import type { Style } from "../terminal.js";

export const keysCommand = declareCommand({
  summary: "list a scenario's keys and what each one gets",
  description:
    "Lists the keys of a scenario, their secrets, and the response that each one gets. Below the table are the keys that its timeline and story will create.",
  words: flag.scenarioWord,
  flags: {
    format: flag.plainOption(
      "--format <format>",
      "table, json, env (export lines for a shell; for a file, use --write-env of start) or powershell (default: table)",
      flag.oneOf(["table", "json", "env", "powershell"]),
    ),
    endpoint: flag.endpoint,
    json: flag.json,
    ...flag.ofFrozenSandbox,
  },
  examples: {
    "svc-sandbox keys": "a table",
    'eval "$(svc-sandbox keys key-states --format env)"': "SVC_API_KEY and SVC_KEY_… in your shell",
    "svc-sandbox keys --format powershell | Out-String | Invoke-Expression": "the same in PowerShell",
    "svc-sandbox keys my.yaml --format json": "for machines",
  },
  async run({ words, flags, io }) {
    const loaded = await loadNamed(words[0], io);
    const sandbox = startNamed(loaded, flags);
    const rows = () => keyRows(sandbox, undefined, endpointNamed(sandbox, flags.endpoint));
    const format = flags.json ? "json" : (flags.format ?? "table");
    const open = () => startNamed(loaded, { ...flags, frozen: true });
    const variableLines = (line: (name: string, value: string) => string) =>
      Object.entries(clientEnvironment(sandbox))
        .map(([name, value]) => line(name, value))
        .join("");
    const textOf = {
      env: () => variableLines((name, value) => `export ${name}=${value}\n`),
      powershell: () => variableLines((name, value) => `$env:${name} = '${value}'\n`),
      json: () => `${JSON.stringify(rows(), null, 2)}\n`,
      table: () => tableOf(sandbox, rows(), open, io.stdout.style()),
    };
    io.stdout.write(await textOf[format]());
  },
});

async function tableOf(
  sandbox: SandboxState,
  keys: readonly KeyRow[],
  open: () => SandboxState,
  { palette, width }: Style,
): Promise<string> {
  const table = keyTable(keys, palette, width);
  const hasSteps = sandbox.timeline.steps.length + sandbox.story.steps.length > 0;
  const toCome = hasSteps ? keysToCome(open) : [];
  const rows = [["KEY", "SECRET", "MADE BY"].map(palette.dim), ...toCome];
  const later = toCome.length === 0 ? [] : ["", "Created later:", ...alignColumns(rows)];
  return `${[...table, ...later].join("\n")}\n`;
}

// The keys that the timeline and the story will create, each with its step and secret.
function keysToCome(open: () => SandboxState): string[][] {
  const rows = new Map<string, string[]>();
  dryRunScenario(() => {
    const sandbox = open();
    sandbox.journal.subscribe((event) => {
      if (event.type !== "timeline.step" && event.type !== "story.step") return;
      const { step, performed } = event.result;
      const newKey = performed?.replacement ?? (refsIn(step).key === undefined ? performed?.key : null);
      if (!newKey || rows.has(newKey.ref)) return;
      const by =
        event.type === "timeline.step"
          ? `timeline, at ${shortTime(event.result.at)}`
          : `story, step ${event.result.number}`;
      rows.set(newKey.ref, [newKey.ref, secretFor(sandbox, newKey.ref), by]);
    });
    return sandbox;
  });
  return [...rows.values()];
}
