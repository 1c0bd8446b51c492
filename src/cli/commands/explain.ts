import { me } from "../../api/endpoints/me.js";
import { type Evaluation, evaluate } from "../../api/evaluate.js";
import { expectedCode } from "../../api/reply.js";
import { fingerprintOf, parseApiKey } from "../../domain/api-key.js";
import { outcomeOf } from "../../domain/outcomes.js";
import { alignColumns } from "../../report/plain-text.js";
import { unknownRef } from "../../sandbox/registry.js";
import { unknownSecret } from "../../sandbox/scenario-keys.js";
import { scenarioSecrets } from "../../sandbox/secrets.js";
import type { World } from "../../sandbox/world.js";
import { declareCommand, scenarioWord } from "../command.js";
import { exitCode } from "../exit-codes.js";
import { json, verbose, worldFlags } from "../flags.js";
import { loadNamed, openNamed } from "../open-scenario.js";
import { answerText, type Palette, paintStatus, paletteFor } from "../terminal.js";

export const command = declareCommand({
  summary: "say which checks a request with a key meets, and how it ends",
  description:
    "Says how GET /v1/relying-party/me ends for a key: the checks in their order, the answer, and what to do about it. Sends nothing and counts nothing. A key that is given is never printed.",
  words: [
    { spec: "<key>", text: "a key's ref, a full key, or one of: none, malformed, unknown" },
    scenarioWord,
  ],
  flags: { json, ...worldFlags, verbose },
  examples: [
    { line: "svc-sandbox explain revoked", does: "a key of the scenario, by its ref" },
    { line: 'svc-sandbox explain "$SVC_API_KEY" my.yaml', does: "the key that your client sends" },
    { line: "svc-sandbox explain none --json", does: "a request without a key, for machines" },
  ],
  async run({ words, flags, io }) {
    const [word = "", scenario] = words;
    const loaded = await loadNamed(scenario, io);
    const world = openNamed(loaded, flags);
    const presented = presentedBy(word, world);
    const explained = explanation(presented, evaluate(world, presented.apiKey), world);
    const palette = paletteFor(io.stdout, io.env);
    const lines = describe(explained, loaded.name, palette, io.stdout.isTTY === true);
    io.stdout.write(`${flags.json ? JSON.stringify(explained, null, 2) : lines.join("\n")}\n`);
    return exitCode.fine;
  },
});

/** The x-api-key header that a word on the command line stands for. */
interface Presented {
  /** The value of the header; `undefined` for no header. Not to be printed. */
  readonly apiKey: string | undefined;
  /** The ref, when it is a key of the scenario. */
  readonly ref?: string;
  readonly fingerprint?: string;
  /** Whether it is well-formed but neither of this scenario nor of any sandbox. */
  readonly looksReal: boolean;
}

/**
 * Reads a ref, a full key, or one of the words `none`, `malformed` and `unknown`.
 *
 * Throws `unknown_ref` for a word that looks like a ref and is none.
 */
function presentedBy(word: string, world: World): Presented {
  const secrets = scenarioSecrets(world);
  if (Object.hasOwn(secrets, word)) return asPresented(secrets[word] as string, world);
  if (word === "none") return { apiKey: undefined, looksReal: false };
  if (word === "malformed") return asPresented("not-a-key", world);
  if (word === "unknown") return asPresented(unknownSecret(world.seed), world);
  if (looksLikeRef(word)) unknownRef("key", word, world.registry.keys);
  return asPresented(word.trim(), world);
}

function asPresented(apiKey: string, world: World): Presented {
  const sha256 = world.platform.sha256(apiKey);
  const ref = world.registry.find(sha256)?.key.ref;
  const parsed = parseApiKey(apiKey);
  return {
    apiKey,
    ...(ref !== undefined && { ref }),
    fingerprint: fingerprintOf(sha256),
    looksReal: ref === undefined && parsed !== undefined && !parsed.marked,
  };
}

// Everything else is taken for what a client put into the header. Long words are not repeated in a message: a key
// whose prefix was left out may look like this.
function looksLikeRef(word: string): boolean {
  return /^[a-z0-9]+(?:[-_][a-z0-9]+)*$/i.test(word) && word.length <= 24 && parseApiKey(word) === undefined;
}

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
  const answer = paintStatus(palette, status)(answerText(explained));
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
