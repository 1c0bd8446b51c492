import { me } from "../../api/endpoints/me.js";
import { type Evaluation, evaluate } from "../../api/evaluate.js";
import { expectedCode } from "../../api/reply.js";
import { outcomeOf } from "../../domain/outcomes.js";
import { alignColumns } from "../../report/plain-text.js";
import type { World } from "../../sandbox/world.js";
import type { Run } from "../command.js";
import { exitCode } from "../exit-codes.js";
import { answerOf } from "../key-rows.js";
import { loadNamed, openNamed } from "../open-scenario.js";
import { type Palette, paintStatus, paletteFor } from "../palette.js";
import { type Presented, presentedBy } from "../presented.js";

/** `svc-sandbox explain` */
export const explain: Run = async (call) => {
  const { words, flags, io } = call;
  const [word = "", scenario] = words;
  const loaded = await loadNamed(scenario, call);
  const world = openNamed(loaded, flags);
  const presented = presentedBy(word, world);
  const explained = explanation(presented, evaluate(world, presented.apiKey), world);
  if (flags.json) {
    io.stdout.write(`${JSON.stringify(explained, null, 2)}\n`);
  } else {
    const palette = paletteFor(io.stdout, io.env);
    io.stdout.write(`${describe(explained, loaded.name, palette, io.stdout.isTTY === true).join("\n")}\n`);
  }
  return exitCode.fine;
};

type Explanation = ReturnType<typeof explanation>;

function explanation(
  { ref, fingerprint, looksReal }: Presented,
  { pathId, checks, faultPaths }: Evaluation,
  world: World,
) {
  return {
    key: ref ?? null,
    fingerprint: fingerprint ?? null,
    method: me.method,
    path: me.path,
    at: new Date(world.clock.now()).toISOString(),
    checks: checks.map(({ check, result, pathId: refusedOn }) => ({
      name: check.name,
      question: check.question,
      result,
      path_id: refusedOn ?? null,
    })),
    status: outcomeOf(pathId).status,
    code: expectedCode(world, pathId),
    path_id: pathId,
    fault_paths: faultPaths,
    when: outcomeOf(pathId).when,
    what_to_do: outcomeOf(pathId).whatToDo,
    real_key_suspected: looksReal,
  };
}

const signs = { passed: "✓", refused: "✗", not_reached: "·" } as const;
const wordsOf = { passed: "passed", refused: "refused", not_reached: "not reached" } as const;

function describe(explained: Explanation, scenario: string, palette: Palette, isTerminal: boolean): string[] {
  const { checks, status, path_id, fault_paths: faults, when } = explained;
  const colours = { passed: palette.green, refused: palette.red, not_reached: palette.dim };
  const lines = alignColumns(
    checks.map(({ name, question, result }) => [(isTerminal ? signs : wordsOf)[result], name, question]),
    (text, row) => colours[checks[row]?.result ?? "not_reached"](text),
  );
  const answer = paintStatus(palette, status)(answerOf(explained));
  return [
    `${explained.method} ${explained.path} with ${subject(explained)}, scenario ${scenario}, at ${explained.at}`,
    "",
    ...lines.map((line) => `  ${line}`),
    "",
    `Answer      ${answer}  ${path_id}  (${when})`,
    `What to do  ${explained.what_to_do}`,
    ...(faults.length > 0
      ? [`Faults      ${faults.join(", ")} may come in its way; svc-sandbox show ${scenario}`]
      : []),
    ...(explained.real_key_suspected ? ["", palette.yellow(realKeyWarning)] : []),
  ];
}

function subject({ key, fingerprint }: Explanation): string {
  if (key !== null) return `the key ${key}`;
  return fingerprint === null ? "no key" : `a key of fingerprint ${fingerprint}`;
}

const realKeyWarning =
  "This looks like a real key: it is well-formed, not one of this scenario, and lacks the mark of a sandbox key (sbx).\nIf it is real, rotate it: it has been in your shell, and perhaps in its history.";
