import { existsSync } from "node:fs";
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { install } from "./install.js";
import { packProject } from "./pack.js";
import { runProgram } from "./run-program.js";
import { createTally } from "./tally.js";

// Runs every example as its README says, copied out of the project, with the packed tarball in the place of the
// published package.

interface Example {
  /** Its folder. */
  readonly name: string;
  readonly command: readonly [program: string, ...argv: string[]];
  /** How to see whether the machine has what it needs beside Node. */
  readonly needs?: readonly [program: string, ...argv: string[]];
}

// The report has to count what the tests send.
const exec = ["npx", "svc-sandbox", "exec", "--min-coverage", "50", "--"] as const;

// Debian's, by their own names: another Python may come first on the PATH.
const pytest = ["pytest-3", "-q", "-p", "no:cacheprovider", "-n", "2"] as const;
const junit = "/usr/share/java/junit-platform-console-standalone.jar";
const junit5 = `javac -cp ${junit} -d classes *.java && java -jar ${junit} --class-path classes --scan-classpath`;
const goTest = ["go", "test", "-count=1", "./..."] as const;

const examples: readonly Example[] = [
  { name: "vitest", command: ["npm", "test"] },
  { name: "jest", command: ["npm", "test"] },
  { name: "node-test", command: ["npm", "test"] },
  { name: "python", command: ["python3", "-m", "unittest"], needs: ["python3", "--version"] },
  { name: "java", command: ["java", "Main.java"], needs: ["java", "--version"] },
  { name: "python", command: [...exec, "python3", "-m", "unittest"], needs: ["python3", "--version"] },
  { name: "java", command: [...exec, "java", "Main.java"], needs: ["java", "--version"] },
  { name: "pytest", command: pytest, needs: ["pytest-3", "-p", "xdist", "--version"] },
  { name: "pytest", command: [...exec, ...pytest], needs: ["pytest-3", "-p", "xdist", "--version"] },
  { name: "junit5", command: ["sh", "-c", junit5], needs: ["java", "-jar", junit, "--help"] },
  { name: "junit5", command: [...exec, "sh", "-c", junit5], needs: ["java", "-jar", junit, "--help"] },
  { name: "go", command: goTest, needs: ["go", "version"] },
  { name: "go", command: [...exec, ...goTest], needs: ["go", "version"] },
];

const tally = createTally("examples");
const folder = await mkdtemp(join(tmpdir(), "svc-sandbox-examples-"));
try {
  const { tarball } = await packProject(folder);
  for (const example of examples) await run(example, tarball);
} finally {
  await rm(folder, { recursive: true, force: true });
}
tally.close();

async function run({ name, command, needs }: Example, tarball: string): Promise<void> {
  const title = `examples/${name}: ${command.join(" ")}`;
  if (needs !== undefined && !(await isThere(needs))) {
    const why = `${needs.join(" ")} does not run here`;
    // Where nobody looks at the lines, an example that never runs would rot.
    if (process.env.CI === undefined) tally.skip(title, why);
    else tally.count(title, `Failed to run the example: ${why}.`);
    return;
  }
  const failure = await outcome(name, command, tarball).catch((error: Error) => error.message);
  tally.count(title, failure);
}

async function outcome(
  name: string,
  [program, ...argv]: Example["command"],
  tarball: string,
): Promise<string | undefined> {
  const cwd = join(folder, name);
  await cp(fileURLToPath(new URL(`../examples/${name}`, import.meta.url)), cwd, { recursive: true });
  const project = join(cwd, "package.json");
  if (existsSync(project)) {
    const text = await readFile(project, "utf8");
    await writeFile(
      project,
      text.replace(/("svc-sandbox": )"[^"]+"/, `$1${JSON.stringify(`file:${tarball}`)}`),
    );
    await install(cwd);
  } else {
    await install(cwd, [tarball]);
  }
  const { code, output } = await runProgram(program, argv, { cwd });
  return code === 0 ? undefined : output;
}

async function isThere([program, ...argv]: NonNullable<Example["needs"]>): Promise<boolean> {
  const end = await runProgram(program, argv, { cwd: folder }).catch(() => undefined);
  return end?.code === 0;
}
