import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { quote } from "../../scenario/problems/words.js";

/** That a command could not be started: what to tell, and the exit code that shells give then. */
export interface NotRun {
  readonly message: string;
  readonly code: 126 | 127;
}

/** Says why a command line could not be started, and what to do about it. */
export function whyNotRun(
  words: readonly [string, ...string[]],
  { code, message }: NodeJS.ErrnoException,
  cwd: string,
): NotRun {
  const [program] = words;
  const isPath = /[\\/]/.test(program);
  const say = (why: string) => `Failed to run ${quote(program)}: ${why}`;
  if (code === "ENOENT") {
    if (isPath && existsSync(resolve(cwd, program))) {
      return { code: 127, message: say("the program that its first line names is not there.") };
    }
    return { code: 127, message: say(isPath ? "there is no such file." : notInPath(words, cwd)) };
  }
  if (code === "EACCES") return { code: 126, message: say("it is not a program that you may execute.") };
  if (code === "E2BIG") {
    return { code: 126, message: say("its words and its environment are longer than this system takes.") };
  }
  return { code: 126, message: say(`${code ?? message}.`) };
}

function notInPath([program, ...others]: readonly [string, ...string[]], cwd: string): string {
  const found = "there is no such command in PATH.";
  if (others.length === 0 && /\s/.test(program)) {
    return `${found} It is run without a shell, word by word: svc-sandbox exec -- ${program}`;
  }
  if (/^\w+=/.test(program)) return `${found} To set a variable, put env before it: exec -- env ${program} …`;
  if (existsSync(join(cwd, "node_modules/.bin", program))) {
    return `${found} It is one of this project's packages: exec -- npx ${program} …`;
  }
  return `${found} Is it installed, and is its folder in PATH?`;
}
