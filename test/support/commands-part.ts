import { commands } from "../../src/cli/commands.js";
import { code, table } from "./pages.js";

/** Each command with its arguments and what it does; `--help` has the rest. */
export async function commandsPart(): Promise<string> {
  const entries = Object.entries(commands).map(async ([name, load]) => {
    const { summary, words = {}, rest } = await load();
    const usage = [name, ...Object.keys(words), ...(rest === undefined ? [] : ["--", rest])];
    return [code(usage.join(" ")), summary];
  });
  return table(["command", "what it does"], ...(await Promise.all(entries)));
}
