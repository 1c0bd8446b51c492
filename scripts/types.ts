import { spawnSync } from "node:child_process";
import { root, runProgram, typescript } from "./run-program.js";

// `npm run types`. Where the source does not compile, the generator cannot load it: then the compiler's list is
// what helps, not the generator's stack.

const generated = await runProgram("npx", ["tsx", "scripts/generate.ts"]);
const { status } = spawnSync(process.execPath, [typescript, "--noEmit", "--pretty", "false"], {
  cwd: root,
  stdio: "inherit",
});
process.exitCode = status ?? 1;
if (status === 0 && generated.code !== 0) {
  console.error(generated.output);
  process.exitCode = 1;
}
