import { commands } from "../../src/cli/commands.js";
import { runCli } from "./run-cli.js";

const before = `# Command line

Made from \`--help\` by \`UPDATE=1 npx vitest run test/cli-docs\`; do not edit.

## Output

Data goes to stdout, notes and logs go to stderr. There is colour on a terminal only, and none with \`NO_COLOR\`. A key
that a client sent, or that was given on the command line, is never printed: a ref or a fingerprint stands for it.

| exit code | means |
|---|---|
| 0 | fine; \`start\` was stopped by SIGINT or SIGTERM |
| 1 | a check did not hold: \`validate\` found problems, \`check\` a difference or no host, \`report\` less than was asked for, \`verify\` or \`play\` something else than a story expects |
| 2 | the command line, a file, a scenario or a port is not usable as given |
| 3 | a defect of svc-sandbox; the message asks to report it |

\`exec\` exits with the code of the command that it runs, and has [codes of its own](exec.md#as-a-gate) beside these.

## Where a flag's value comes from

From the command line; else from the variable in brackets behind the flag; else from the scenario; else the default.
A variable that is empty counts as not set; one that stands for a switch is \`1\` or \`0\`.

## The environment for clients

\`start --env-file <file>\` and \`keys --format env\` write lines that a shell and a \`.env\` file understand:
\`SVC_API_KEY\` (the scenario's default key) and \`SVC_KEY_<REF>\` for every key, its ref in upper case with \`_\` for \`-\`.
What is served has \`SVC_BASE_URL\` and \`SVC_CONTROL_URL\` too. In a shell, \`set -a; . ./.env.sandbox; set +a\` exports
them. \`exec\` runs a command with all of them, and needs no file. Of a scenario's \`population\` there are so many keys in
it as make 1,000 altogether; \`keys\` has them all.
`;

/** The reference of the command line, made from what the commands print about themselves. */
export async function cliReference(): Promise<string> {
  const sections = [section("svc-sandbox", await help([]))];
  for (const { name } of commands) sections.push(section(`svc-sandbox ${name}`, await help([name])));
  return [before, ...sections].join("\n");
}

async function help(argv: readonly string[]): Promise<string> {
  return (await runCli([...argv, "--help"])).stdout;
}

function section(title: string, text: string): string {
  return `## \`${title}\`\n\n\`\`\`text\n${text.trimEnd()}\n\`\`\`\n`;
}
