import type { Environment } from "../../domain/api-key.js";
import { alignColumns } from "../../report/plain-text.js";
import { isoOf } from "../../sandbox/clock.js";
import { deriveSecret, describedKeys } from "../../sandbox/scenario-keys.js";
import type { Action } from "../../sandbox/story/story.js";
import type { World } from "../../sandbox/world.js";
import { freeRefIn, refOfName } from "../../scenario/format/ref.js";
import { declareCommand, flag, oneOf, scenarioWord } from "../command.js";
import { exitCode } from "../exit-codes.js";
import { jsonOrFormat, verbose, worldFlags } from "../flags.js";
import { keyRows, keyTable } from "../key-rows.js";
import { loadNamed, openNamed } from "../open-scenario.js";
import { clientEnvironment, environmentLines } from "../serve/client-environment.js";
import { type Palette, paletteFor, shortTime } from "../terminal.js";

export const command = declareCommand({
  summary: "list a scenario's keys and what each one gets",
  description:
    "Lists the keys of a scenario, their secrets, and how a request with each of them ends. Below the table stand the keys that its timeline and story will make.",
  words: [scenarioWord],
  flags: {
    format: flag(
      "--format <format>",
      "table, json, or env: lines that a shell and a .env file understand (default: table)",
      oneOf(["table", "json", "env"]),
      { variables: [] },
    ),
    json: jsonOrFormat,
    ...worldFlags,
    verbose,
  },
  examples: [
    { line: "svc-sandbox keys", does: "a table" },
    {
      line: 'eval "$(svc-sandbox keys key-states --format env)"',
      does: "SVC_API_KEY and SVC_KEY_… in your shell",
    },
    { line: "svc-sandbox keys my.yaml --format json", does: "for machines" },
  ],
  async run({ words, flags, io }) {
    const world = openNamed(await loadNamed(words[0], io), flags);
    const format = flags.json ? "json" : (flags.format ?? "table");
    io.stdout.write(textOf(world, format, paletteFor(io.stdout, io.env)));
    return exitCode.fine;
  },
});

function textOf(world: World, format: "table" | "json" | "env", palette: Palette): string {
  if (format === "env") return environmentLines(clientEnvironment(world, undefined, { all: true }));
  const rows = keyRows(world);
  if (format === "json") return `${JSON.stringify(rows, null, 2)}\n`;
  const table = keyTable(rows, ["ref", "organization", "state", "secret"], palette);
  return `${[...table, ...keysToComeLines(world, palette)].join("\n")}\n`;
}

/** A key that a step of the scenario will make. */
interface KeyToCome {
  readonly ref: string;
  /** The step: `timeline, at 2026-03-02T09:10:00Z`. */
  readonly madeBy: string;
  readonly secret: string;
}

// The keys that the timeline and the story will make, unless their steps are refused.
function keysToComeLines(world: World, palette: Palette): string[] {
  const keys = keysToCome(world);
  if (keys.length === 0) return [];
  const rows = keys.map(({ ref, madeBy, secret }) => [ref, madeBy, secret]);
  const table = alignColumns([["KEY", "MADE BY", "SECRET"], ...rows], (text, index) =>
    index === 0 ? palette.dim(text) : text,
  );
  return ["", "Not there yet:", ...table];
}

function keysToCome({ scenario, seed, timeline, story }: World): KeyToCome[] {
  const there = new Map(describedKeys(scenario).map(({ ref, given }) => [ref, given.environment]));
  const steps: { step: Step; madeBy: string }[] = [
    ...timeline.steps.map(({ at, step }) => ({ step, madeBy: `timeline, at ${shortTime(isoOf(at))}` })),
    ...story.steps.map((step, index) => ({ step, madeBy: `story, step ${index + 1}` })),
  ];
  return steps.flatMap(({ step, madeBy }) => {
    // A step that has to be refused makes none.
    const made = step.expect?.error === undefined ? keyMadeBy(step, there) : undefined;
    if (made?.environment === undefined || there.has(made.ref)) return [];
    const { ref, environment } = made;
    there.set(ref, environment);
    return [{ ref, madeBy, secret: deriveSecret(seed, { ref, environment, legacy: false }) }];
  });
}

interface Step extends Action {
  readonly expect?: { readonly error?: string };
}

function keyMadeBy({ create_key: created, rotate }: Action, there: ReadonlyMap<string, Environment>) {
  const isTaken = (ref: string) => there.has(ref);
  if (created !== undefined) {
    const ref = created.ref ?? freeRefIn(isTaken, refOfName(created.name));
    return { ref, environment: created.environment };
  }
  if (rotate === undefined) return undefined;
  const ref = rotate.as ?? freeRefIn(isTaken, rotate.key);
  return { ref, environment: there.get(rotate.key) };
}
