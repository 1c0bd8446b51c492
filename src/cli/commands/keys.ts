import { endpointNamed } from "../../api/endpoints.js";
import { dryRun } from "../../node/dry-run.js";
import { startInNode } from "../../node/platform.js";
import { alignColumns } from "../../report/plain-text.js";
import { shortTime } from "../../rules/time.js";
import type { StepEvent } from "../../sandbox/journal/journal.js";
import { runDue } from "../../sandbox/operations/operations.js";
import type { SandboxState } from "../../sandbox/sandbox-state.js";
import { secretToSend } from "../../sandbox/secrets.js";
import { actionRefs } from "../../scenario/actions.js";
import { declareCommand, refuseFlags } from "../command.js";
import { clientEnvironment } from "../env-file.js";
import * as flag from "../flags.js";
import { keyRows, keyTable } from "../key-rows.js";
import { loadScenarioArgument } from "../scenario.js";
import * as shared from "../shared-flags.js";

export const keysCommand = declareCommand({
  summary: "list a scenario's keys and what each one gets",
  description:
    "Lists the keys of a scenario, their secrets, and the response that each one gets. Below the table are the keys that its timeline and story will create.",
  args: shared.scenarioArgument,
  flags: {
    format: flag.option(
      "--format <format>",
      "table, json, env (for a shell) or powershell (default: table)",
      flag.oneOf(["table", "json", "env", "powershell"]),
    ),
    endpoint: shared.endpoint,
    json: shared.json,
    ...shared.sandboxFlagsWithoutFrozen,
  },
  examples: {
    "svc-sandbox keys": "a table",
    'eval "$(svc-sandbox keys key-states --format env)"': "SVC_API_KEY and SVC_KEY_… in your shell",
    "svc-sandbox keys --format powershell | Out-String | Invoke-Expression": "the same in PowerShell",
    "svc-sandbox keys my.yaml --format json": "for machines",
  },
  async run(call) {
    const { args, flags, io } = call;
    const loaded = await loadScenarioArgument(args[0], io);
    const sandbox = startInNode(loaded, flags);
    runDue(sandbox);
    const format = flags.json ? "json" : (flags.format ?? "table");
    if (format === "env" || format === "powershell") {
      refuseFlags(call, ["endpoint"], `keys --format ${format}`);
      for (const [name, value] of Object.entries(clientEnvironment(sandbox))) {
        const line = format === "env" ? `export ${name}=${value}` : `$env:${name} = '${value}'`;
        io.stdout.printSecret(`${line}\n`);
      }
      return;
    }

    const rows = keyRows(sandbox, undefined, endpointNamed(sandbox, flags.endpoint));
    if (format === "json") {
      io.stdout.printSecret(`${JSON.stringify(rows, null, 2)}\n`);
      return;
    }

    // Below the keys that exist are those that will be created.
    const { palette, width } = io.stdout.style();
    const lines = keyTable(rows, palette, width);
    if (sandbox.timeline.steps.length + sandbox.story.steps.length > 0) {
      // A dry run moves the clock itself.
      const laterKeys = keysToCome(() => startInNode(loaded, { ...flags, frozen: true }));
      const titles = ["KEY", "SECRET", "MADE BY"].map(palette.dim);
      if (laterKeys.length > 0) lines.push("", "Created later:", ...alignColumns([titles, ...laterKeys]));
    }
    io.stdout.printSecret(`${lines.join("\n")}\n`);
  },
});

/** Rows for the keys that the timeline and the story will create, each with its secret and its step. */
function keysToCome(startSandbox: () => SandboxState): string[][] {
  const rows = new Map<string, string[]>();
  const addRow = (event: StepEvent, sandbox: SandboxState) => {
    const ref = createdRefOf(event);
    if (ref === undefined || rows.has(ref)) return;
    let step: string;
    if (event.type === "timeline.step") step = `timeline, at ${shortTime(event.result.at)}`;
    else step = `story, step ${event.result.number}`;
    rows.set(ref, [ref, secretToSend(sandbox, ref), step]);
  };

  const startFollowed = () => {
    const sandbox = startSandbox();
    // Keys that are created at the start exist already: their steps run before the journal is followed.
    runDue(sandbox);
    sandbox.journal.subscribe((event) => {
      if (event.type === "timeline.step" || event.type === "story.step") addRow(event, sandbox);
    });
    return sandbox;
  };
  // Its steps create the keys. Which steps fail does not matter here.
  dryRun(startFollowed);
  return [...rows.values()];
}

/** The ref of the key that a step has created, if it has created one. */
function createdRefOf({ result }: StepEvent): string | undefined {
  const { step, performed } = result;
  if (performed === null) return undefined;
  if (performed.replacement) return performed.replacement.ref;
  // An action that names a key changes this key, such as `revoke`. The key of any other action is new.
  const actsOnKey = actionRefs(step).key !== undefined;
  return actsOnKey ? undefined : performed.key?.ref;
}
