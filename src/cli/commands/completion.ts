import { announcedKeys } from "../../sandbox/secrets.js";
import { scenarioNames } from "../../scenario/bundled.js";
import { quote } from "../../spec/schema/words.js";
import { type CliCommand, type Commands, declareCommand } from "../command.js";
import { exitCode, usageError } from "../exit-codes.js";
import { verbose } from "../flags.js";
import type { Io } from "../io.js";
import { loadNamed, startNamed } from "../open-scenario.js";

const shells = ["bash", "zsh", "fish"];

// The library's script requires the package bash-completion, and never completes files.
const bashScript = `# bash completion for svc-sandbox
_svc_sandbox() {
  local IFS=$'\\n' line
  COMPREPLY=()
  for line in $(svc-sandbox completion complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null); do
    [[ $line == :* ]] || COMPREPLY+=("\${line%%$'\\t'*}")
  done
}
complete -o default -F _svc_sandbox svc-sandbox
`;

export const completionCommand = declareCommand({
  summary: "print a script that completes commands, flags, scenarios and keys in a shell",
  description:
    "Prints the completion script of a shell, which calls svc-sandbox from the PATH. The script runs completion complete -- <word...>, which prints the completions of the last word.",
  words: { "<shell>": "bash, zsh or fish" },
  choices: shells,
  flags: {},
  examples: {
    'eval "$(svc-sandbox completion bash)"': "in ~/.bashrc",
    "source <(svc-sandbox completion zsh)": "in ~/.zshrc, after compinit",
    "svc-sandbox completion fish | source": "in ~/.config/fish/config.fish",
  },
  async run({ words: [shell = ""], io }) {
    if (shell === "bash") io.stdout.write(bashScript);
    else if (shells.includes(shell)) {
      const { script } = await import("@bomb.sh/tab");
      script(shell, "svc-sandbox", "svc-sandbox completion");
    } else throw usageError(`${quote(shell)} is not a known shell. Use bash, zsh or fish.`);
    return exitCode.fine;
  },
});

/** The possible completions: values, each with an optional tab and description, and whether files fit as well. */
type Fitting = readonly [values: readonly string[], files?: boolean];

/** The last line controls the shell's script: `:0` completes files if no value fits, `:4` does not. */
export async function printFitting(words: readonly string[], commands: Commands, io: Io): Promise<number> {
  // `--format=json` is one word for most shells; bash has three.
  const parts = words.flatMap((word) => /^(--[a-z-]+)=(.*)$/s.exec(word)?.slice(1) ?? [word]);
  const word = (parts.pop() ?? "").replace(/^=$/, "");
  const before = parts.filter((one) => one !== "=");
  const [values, files = false] = await fitting(before, word, commands, io);
  const lines = values.filter((value) => value.startsWith(word)).map((value) => `${value}\n`);
  io.stdout.write(`${lines.join("")}:${files ? 0 : 4}\n`);
  return exitCode.fine;
}

async function fitting(
  before: readonly string[],
  word: string,
  commands: Commands,
  io: Io,
): Promise<Fitting> {
  // The command after `--` is the user's.
  if (before.includes("--")) return [[], true];
  const [first = "", ...others] = before;
  if (first === "help") return [others.length === 0 ? await namesOf(commands) : []];
  const isNamed = Object.hasOwn(commands, first);
  const name = isNamed ? first : (Object.keys(commands)[0] as string);
  const command = (await commands[name]?.()) as CliCommand;
  const flags = Object.values({ ...command.flags, verbose });
  const wanting = (one = "") =>
    flags.find(({ spec }) => spec.includes("<") && spec.split(/[ ,]+/).includes(one));
  const flag = wanting(before.at(-1));
  if (flag !== undefined) return fittingValue(/<(.+)>/.exec(flag.spec)?.[1], flag.read.choices, io);
  if (word.startsWith("-")) {
    const forms = flags.flatMap(({ spec, text }) =>
      // With the first clause of the description: a shell has one line for it.
      [...spec.matchAll(/--[a-z-]+/g)].map(([form]) => `${form}\t${text.replace(/ ?[;:(].*/s, "")}`),
    );
    const all = command.usual === undefined ? [] : ["--all\tprint every flag, with --help"];
    return [[...forms, "--help\tprint this help", ...all]];
  }
  const given = (isNamed ? others : before).filter(
    (one, index, all) => !one.startsWith("-") && wanting(all[index - 1]) === undefined,
  );
  const specs = Object.keys(command.words ?? {});
  const spec = specs[given.length] ?? specs.findLast((one) => one.includes("..."));
  if (spec === undefined) return [[]];
  const [values, files = false] = await fittingValue(spec.replace(/[^a-z-]/g, ""), command.choices, io);
  return [[...(before.length === 0 ? await namesOf(commands) : []), ...values], files];
}

async function namesOf(commands: Commands): Promise<readonly string[]> {
  const all = Object.entries(commands).map(async ([name, load]) => `${name}\t${(await load()).summary}`);
  return [...(await Promise.all(all)), "help\tprint the help of a command"];
}

async function fittingValue(
  name: string | undefined,
  choices: readonly string[] | undefined,
  io: Io,
): Promise<Fitting> {
  if (choices !== undefined) return [choices];
  if (name === "scenario") return [scenarioNames, true];
  if (name === "ref") return [await refs(io)];
  if (name === "key") return [[...(await refs(io)), "none", "malformed", "unknown"]];
  return [[], ["file", "folder", "module"].includes(name ?? "")];
}

async function refs(io: Io): Promise<string[]> {
  try {
    return announcedKeys(startNamed(await loadNamed(undefined, io), {})).keys.map(({ ref }) => ref);
  } catch {
    return [];
  }
}
