import { isMarked, variableOf } from "../rules/api-key.js";
import type { SandboxState } from "../sandbox/sandbox.js";
import { announcedKeys, defaultSecret, scenarioSecrets, secretsOf } from "../sandbox/secrets.js";
import { secretFor } from "../sandbox/story/run-step.js";

interface ClientAddresses {
  readonly url: string;
  readonly controlUrl: string | undefined;
}

/** Leaves out some keys of a large population unless `all` is set, because a process cannot get them all. */
export function clientEnvironment(
  sandbox: SandboxState,
  addresses?: ClientAddresses,
  { all = false } = {},
): Record<string, string> {
  const secrets = all ? scenarioSecrets(sandbox) : secretsOf(announcedKeys(sandbox).keys, sandbox);
  const standard = defaultSecret(sandbox);
  return {
    ...(addresses !== undefined && { SVC_BASE_URL: addresses.url }),
    ...(addresses?.controlUrl !== undefined && { SVC_CONTROL_URL: addresses.controlUrl }),
    ...(standard !== undefined && { SVC_API_KEY: standard }),
    ...Object.fromEntries(Object.entries(secrets).map(([name, secret]) => [variableOf(name), secret])),
    [variableOf("unknown")]: secretFor(sandbox, "unknown") as string,
    [variableOf("malformed")]: secretFor(sandbox, "malformed") as string,
  };
}

export type ClientVariables = Readonly<Record<string, string>>;

const variableLines = (line: (name: string, value: string) => string) => (variables: ClientVariables) =>
  Object.entries(variables)
    .map(([name, value]) => line(name, value))
    .join("");

// Without quotes, which not every reader of .env files removes: in an assignment, no shell expands an IPv6 address.
const environmentLines = variableLines((name, value) => `${name}=${value}\n`);
export const shellLines = variableLines((name, value) => `export ${name}=${value}\n`);

// The start of a line, its name, its value; a quoted value may have several lines.
const assignment =
  /^([ \t]*(?:export[ \t]+)?([\w.-]+)[ \t]*=[ \t]*)("(?:\\[\s\S]|[^"\\])*"|'[^']*'|`[^`]*`|[^\r\n]*?(?=[ \t]+#|[ \t]*$))/gm;

/** The number of the first line that is not an assignment, a comment or empty, outside of quotes; `undefined` if there is none. */
export function otherLineOf(text: string): number | undefined {
  const rest = text
    .replace(/^\u00EF\u00BB\u00BF/, "")
    .replace(assignment, (entry) => `#${entry.replaceAll(/.+/g, "#")}`);
  const at = rest.split("\n").findIndex((line) => !/^\s*(?:#.*)?\s*$/.test(line));
  return at === -1 ? undefined : at + 1;
}

/** Sets variables in the text of a `.env` file, read as Latin-1: changes their values, adds lines for new ones at the end, and removes the lines of those set before and of a sandbox's other keys. */
export function withVariables(
  text: string,
  variables: ClientVariables,
  before: ClientVariables = {},
): string {
  const added = new Map(Object.entries(variables));
  const changed = text
    .replace(assignment, (entry, start: string, name: string, value: string) => {
      added.delete(name);
      if (Object.hasOwn(variables, name)) return start + variables[name];
      const isGone = Object.hasOwn(before, name) || (name.startsWith("SVC_KEY_") && isMarked(value));
      return isGone ? "\uE000" : entry;
    })
    .replace(/\uE000.*\r?\n?/g, "");
  const lineEnd = text.includes("\r\n") ? "\r\n" : "\n";
  const gap = changed === "" || changed.endsWith("\n") ? "" : lineEnd;
  return changed + gap + environmentLines(Object.fromEntries(added)).replaceAll("\n", lineEnd);
}

export const powershellLines = variableLines((name, value) => `$env:${name} = '${value}'\n`);
