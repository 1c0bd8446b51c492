import { existsSync } from "node:fs";
import { win32 } from "node:path";

/** The program and words to start, as `spawn` takes them. */
export interface Launch {
  readonly file: string;
  readonly argv: readonly string[];
  /** Whether the words are quoted already, as Windows wants them. */
  readonly verbatim: boolean;
}

/** The environment and folder in which a program is looked up. */
export interface ProgramContext {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
}

/**
 * Returns how to start a command line on Windows: batch files (`npm`, `npx`, all of `node_modules/.bin`) by `cmd.exe`, which
 * alone can run them, and anything else as it is.
 */
export function windowsCommand(
  [program, ...argv]: readonly [string, ...string[]],
  context: ProgramContext,
  isFile: (path: string) => boolean = existsSync,
): Launch {
  const found = programFile(program, context, isFile);
  if (found === undefined || !/\.(?:cmd|bat)$/i.test(found)) return { file: program, argv, verbatim: false };
  // The batch files of packages pass their words to a second line, which is parsed once more.
  const times = /node_modules[\\/]\.bin[\\/][^\\/]+$/i.test(found) ? 2 : 1;
  const line = [withCarets(found), ...argv.map((word) => quoted(word, times))].join(" ");
  const shell = variable(context, "COMSPEC") ?? "cmd.exe";
  return { file: shell, argv: ["/d", "/s", "/c", `"${line}"`], verbatim: true };
}

function programFile(
  program: string,
  context: ProgramContext,
  isFile: (path: string) => boolean,
): string | undefined {
  const folders = /[\\/]/.test(program) ? [""] : (variable(context, "PATH") ?? "").split(";");
  const endings = (variable(context, "PATHEXT") ?? ".COM;.EXE;.BAT;.CMD").split(";");
  const names = win32.extname(program) === "" ? endings.map((ending) => program + ending) : [program];
  return folders
    .flatMap((folder) => names.map((name) => win32.resolve(context.cwd, folder, name)))
    .find(isFile);
}

// Names of variables have no case, which a copy of the environment does not know.
function variable({ env }: ProgramContext, name: string): string | undefined {
  return Object.entries(env).find(([key]) => key.toUpperCase() === name)?.[1];
}

function quoted(word: string, times: number): string {
  const escaped = `"${word.replace(/(\\*)"/g, '$1$1\\"').replace(/(\\+)$/, "$1$1")}"`;
  return times === 2 ? withCarets(withCarets(escaped)) : withCarets(escaped);
}

// Every character with a meaning to cmd.exe.
function withCarets(text: string): string {
  return text.replace(/[()\][%!^"`<>&|;, *?]/g, "^$&");
}
