import { existsSync } from "node:fs";
import { win32 } from "node:path";

/** What to start for a command line, in the words of `spawn`. */
export interface Launch {
  readonly file: string;
  readonly argv: readonly string[];
  /** Whether the words are quoted already, as Windows wants them. */
  readonly verbatim: boolean;
}

/** Where programs are looked for. */
export interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
}

/**
 * How to start a command line on Windows. `npm`, `npx` and what is in `node_modules/.bin` are batch files there, which
 * `cmd.exe` alone can run; everything else is started as it is.
 */
export function windowsCommand(
  [program, ...argv]: readonly [string, ...string[]],
  surroundings: Surroundings,
  isFile: (path: string) => boolean = existsSync,
): Launch {
  const found = programFile(program, surroundings, isFile);
  if (found === undefined || !/\.(?:cmd|bat)$/i.test(found)) return { file: program, argv, verbatim: false };
  // The batch files of packages hand their words on to a second line, which is read once more.
  const times = /node_modules[\\/]\.bin[\\/][^\\/]+$/i.test(found) ? 2 : 1;
  const line = [withCarets(found), ...argv.map((word) => quoted(word, times))].join(" ");
  const shell = variable(surroundings, "COMSPEC") ?? "cmd.exe";
  return { file: shell, argv: ["/d", "/s", "/c", `"${line}"`], verbatim: true };
}

function programFile(
  program: string,
  surroundings: Surroundings,
  isFile: (path: string) => boolean,
): string | undefined {
  const folders = /[\\/]/.test(program) ? [""] : (variable(surroundings, "PATH") ?? "").split(";");
  const endings = (variable(surroundings, "PATHEXT") ?? ".COM;.EXE;.BAT;.CMD").split(";");
  const names = win32.extname(program) === "" ? endings.map((ending) => program + ending) : [program];
  return folders
    .flatMap((folder) => names.map((name) => win32.resolve(surroundings.cwd, folder, name)))
    .find(isFile);
}

// A copy of the environment does not know any more that its names have no case.
function variable({ env }: Surroundings, name: string): string | undefined {
  return Object.entries(env).find(([key]) => key.toUpperCase() === name)?.[1];
}

function quoted(word: string, times: number): string {
  const escaped = `"${word.replace(/(\\*)"/g, '$1$1\\"').replace(/(\\+)$/, "$1$1")}"`;
  return times === 2 ? withCarets(withCarets(escaped)) : withCarets(escaped);
}

// Everything that means something to cmd.exe.
function withCarets(text: string): string {
  return text.replace(/[()\][%!^"`<>&|;, *?]/g, "^$&");
}
