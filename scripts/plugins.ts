import { existsSync } from "node:fs";
import { cp, mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import project from "../package.json" with { type: "json" };
import { mustRun, root, runProgram } from "./run-program.js";

// Builds the wheel for pytest and the jar for JUnit 5 in `plugins`; Go gets `packaging/go` from the repository.

export const junit = process.env.JUNIT_PATH ?? "/usr/share/java/junit-platform-console-standalone.jar";

/** Says what is missing, before javac fails without the classes of JUnit. */
function requireJunit(): void {
  if (existsSync(junit)) return;
  throw new Error(
    `The jar needs JUnit's console, and ${junit} does not exist. On Debian, run \`apt-get install junit5\`; elsewhere, set JUNIT_PATH to junit-platform-console-standalone.jar.`,
  );
}

const { version } = project;
/** As pip writes versions. */
export const wheel = `svc_sandbox-${version.replace("-next.", ".dev")}-py3-none-any.whl`;
export const jar = `svc-sandbox-junit5-${version}.jar`;
const folderOf = (language: string) => join(root, "packaging", language);
const [python, java, go] = [folderOf("python"), folderOf("java"), folderOf("go")];

/** Builds the wheel into a folder. Throws if Python does. */
export async function buildWheel(into: string): Promise<void> {
  await mustRun("python3", [join(python, "build_wheel.py"), into]);
}

/** Builds the jar into a folder, with the pom in it, as `mvn install:install-file` expects it. Throws if the JDK does. */
export async function buildJar(into: string): Promise<void> {
  requireJunit();
  const pom = await readFile(join(java, "pom.xml"), "utf8");
  if (!pom.includes(`<version>${version}</version>`)) {
    throw new Error(`packaging/java/pom.xml is not of the version ${version}.`);
  }
  const folder = await mkdtemp(join(tmpdir(), "svc-sandbox-jar-"));
  try {
    const sources = await mustRun("find", [java, "-name", "*.java"]);
    const options = ["--release", "11", "-Xlint:all", "-Werror", "-cp", junit, "-d", folder];
    await mustRun("javac", [...options, ...sources.split("\n")]);
    await cp(join(java, "src/main/resources"), folder, { recursive: true });
    const inside = join(folder, "META-INF/maven/io.github.svc-sandbox/svc-sandbox-junit5");
    await mkdir(inside, { recursive: true });
    await cp(join(java, "pom.xml"), join(inside, "pom.xml"));
    await mustRun("jar", ["--create", "--file", join(into, jar), "-C", folder, "."]);
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Returns the Go module's path. Throws if it does not lead to the repository. */
export async function goModule(): Promise<string> {
  const [, module = ""] = /^module (\S+)$/m.exec(await readFile(join(go, "go.mod"), "utf8")) ?? [];
  const expected = `${project.homepage.replace(/^https:\/\/|#.*$/g, "")}/packaging/go`;
  if (module !== expected) throw new Error(`packaging/go/go.mod has the module ${module}, not ${expected}.`);
  return module;
}

async function buildPlugins(): Promise<void> {
  requireJunit();
  const into = join(root, "plugins");
  await rm(into, { recursive: true, force: true });
  await mkdir(into);
  await goModule();
  await buildWheel(into);
  await buildJar(into);
  const { stdout } = await runProgram("ls", ["-l", into]);
  console.log(stdout.trimEnd());
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await buildPlugins().catch((error: Error) => {
    console.error(error.message);
    process.exitCode = 1;
  });
}
