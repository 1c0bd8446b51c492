import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { runProgram, typescript } from "../../scripts/run-program.js";

/** What TypeScript says of the files of a folder, a line for each complaint. */
export async function compile(
  folder: string,
  compilerOptions: Readonly<Record<string, unknown>>,
): Promise<string[]> {
  const settings = { compilerOptions: { noEmit: true, ...compilerOptions }, include: ["*"] };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(settings));
  const { stdout } = await runProgram("node", [typescript, "--pretty", "false"], { cwd: folder });
  return stdout.split("\n").filter((line) => line !== "");
}
