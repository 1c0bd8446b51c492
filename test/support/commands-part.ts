import { type Flag, longForm } from "../../src/cli/command.js";
import { commands } from "../../src/cli/commands.js";
import { verbose } from "../../src/cli/flags.js";
import { alignColumns } from "../../src/report/plain-text.js";
import { code, table } from "./pages.js";

/** Words with `@` would become links to an address of mail. */
const escaped = (text: string) =>
  text
    .replaceAll(/[\w:/.]+@[\w.]+\w/g, "`$&`")
    .replaceAll(/[<*]/g, "\\$&")
    .replaceAll("\n", " ");

/** Each command with its flags. A flag that several commands have is in one table for all. */
export async function commandsPart(): Promise<string> {
  const entries = Object.entries(commands).map(async ([name, load]) => ({ name, ...(await load()) }));
  const all = await Promise.all(entries);
  const users = new Map<string, { readonly flag: Flag<unknown>; readonly names: string[] }>();
  const id = ({ spec, text, variables }: Flag<unknown>) => [spec, text, ...variables].join();
  for (const { name, flags } of all)
    for (const flag of Object.values(flags)) {
      const known = users.get(id(flag));
      if (known === undefined) users.set(id(flag), { flag, names: [name] });
      else known.names.push(name);
    }
  const isShared = (flag: Flag<unknown>) => (users.get(id(flag))?.names.length ?? 0) > 1;
  const cells = ({ spec, text, variables }: Flag<unknown>) => [
    code(spec),
    variables.map(code).join(", "),
    escaped(text),
  ];
  const overview = all.map(({ name }) => `[${code(name)}](#svc-sandbox-${name})`);
  const shared = [...users.values()].filter(({ flag }) => isShared(flag));
  const sections = all.map(({ name, description, words = {}, rest, flags, examples }) => {
    const usage = [
      "svc-sandbox",
      name,
      ...Object.keys(words),
      "[flags]",
      ...(rest === undefined ? [] : ["--", rest]),
    ];
    const own = Object.values(flags).filter((flag) => !isShared(flag));
    const rows = [
      ...Object.entries(words).map(([word, text]) => [code(word), "", escaped(text)]),
      ...own.map(cells),
    ];
    const also = Object.values(flags)
      .filter(isShared)
      .map(({ spec }) => code(longForm(spec)));
    const further =
      also.length === 0 ? "" : ` [Further flags](#flags-of-several-commands): ${also.join(", ")}.`;
    const lines = alignColumns(Object.entries(examples).map(([line, does]) => [line, `# ${does}`]));
    return [
      `## \`svc-sandbox ${name}\``,
      `${code(usage.join(" "))}. ${escaped(description)}${further}`,
      ...(rows.length === 0 ? [] : [table(["argument, flag", "variable", "effect"], ...rows)]),
      `\`\`\`sh\n${lines.join("\n")}\n\`\`\``,
    ].join("\n\n");
  });
  return [
    `${overview.join(", ")}.`,
    "## Flags of several commands",
    table(
      ["flag", "variable", "effect", "of"],
      ...[...shared.map(({ flag, names }) => [...cells(flag), names.join(", ")])],
      [...cells(verbose), "every command"],
      ["`-h, --help`", "", "print this help; `--all` with it prints every flag", "every command"],
    ),
    ...sections,
  ].join("\n\n");
}
