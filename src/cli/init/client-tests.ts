import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { packageFile, repository, version } from "../../node/package-files.js";
import { docsPlace } from "../docs-place.js";

export const clientKinds = ["vitest", "jest", "node", "pytest", "junit", "go"] as const;
export type ClientKind = (typeof clientKinds)[number];

/** The first tests of a kind of client, and what a project needs for them. */
export interface ClientTests {
  /** The folder in `examples`. */
  readonly example: string;
  /** The file in this folder. */
  readonly test: string;
  /** The file in the user's project, if the call names no other one. */
  readonly to: string;
  /** How the names of such files end, so that their runner finds and reads them. */
  readonly endings: readonly string[];
  /** The command that the script `test:sandbox` runs with a sandbox. */
  readonly script?: string;
  /** The command line that runs the tests; % is the folder of their file. */
  readonly run: string;
  readonly needs: ClientNeeds;
}

/** What the tests of a client need, and how to install it. */
interface ClientNeeds {
  /** The names of what they need. */
  readonly names: readonly string[];
  /** Where a project shows that it has them: in its dependencies, anywhere in the text of its files, or to Python. */
  readonly shownBy: "package_json" | "text_of_files" | "python";
  /** The files of a project that may name them, the usual one first. */
  readonly files: readonly string[];
  /** The command line that starts a project without such a file. */
  readonly startProject?: string;
  /** What to write into such a file before the installation, as paragraphs; `file` is the project's own one. */
  readonly stepsInFile?: (file: string | undefined) => Promise<readonly string[]>;
  /** The command lines that install what they need besides this package, from the folder of this package (%). */
  readonly install?: string;
  /** What is installed, in a sentence. */
  readonly installed: "it" | "the jar";
  /** A sentence about another way. */
  readonly otherWay?: string;
}

/** What projects of Node name this package in package.json. */
export const thisPackage = "svc-sandbox";

/** What a project of Node needs: this package, and the runner of its tests. */
function needsOfNode(runner?: string): ClientNeeds {
  const names = [thisPackage];
  if (runner !== undefined) names.push(runner);
  return {
    names,
    shownBy: "package_json",
    files: ["package.json"],
    installed: "it",
    ...(runner !== undefined && { install: `npm install --save-dev ${runner}` }),
  };
}

const nodeProject = { example: "exec", run: "npm run test:sandbox" };
const goModule = `${repository.replace("https://", "")}/packaging/go`;

export const clients: Readonly<Record<ClientKind, ClientTests>> = {
  vitest: {
    ...nodeProject,
    test: "whoami.test.js",
    to: "test/whoami.test.js",
    endings: [".js", ".mjs", ".ts", ".mts"],
    script: "vitest run",
    needs: needsOfNode("vitest"),
  },
  jest: {
    ...nodeProject,
    test: "whoami.jest.cjs",
    to: "test/whoami.test.cjs",
    endings: [".cjs", ".js"],
    script: "jest",
    needs: needsOfNode("jest"),
  },
  node: {
    ...nodeProject,
    test: "whoami.node.mjs",
    to: "test/whoami.test.mjs",
    endings: [".mjs", ".js"],
    script: "node --test",
    needs: needsOfNode(),
  },
  pytest: {
    example: "pytest",
    test: "test_whoami.py",
    to: "tests/test_whoami.py",
    endings: [".py"],
    run: "python3 -m pytest --min-coverage 80",
    needs: {
      names: ["svc_sandbox"],
      shownBy: "python",
      files: [],
      install: "python3 -m pip install pytest %/packaging/python",
      installed: "it",
    },
  },
  junit: {
    example: "junit5",
    test: "WhoamiTest.java",
    to: "src/test/java/WhoamiTest.java",
    endings: ["Test.java"],
    run: "mvn test -Dsvc-sandbox.min-coverage=80",
    needs: {
      names: ["svc-sandbox-junit5"],
      shownBy: "text_of_files",
      files: ["pom.xml", "build.gradle", "build.gradle.kts"],
      stepsInFile: stepsInPom,
      install: "mvn --file %/packaging/java install",
      installed: "the jar",
      otherWay: `No Maven, no Gradle: ${docsPlace("test-runners", "junit-5")}.`,
    },
  },
  go: {
    example: "go",
    test: "whoami_test.go",
    to: "whoami/whoami_test.go",
    endings: ["_test.go"],
    run: "SVC_SANDBOX_MIN_COVERAGE=80 go test %",
    needs: {
      names: [goModule],
      shownBy: "text_of_files",
      files: ["go.mod"],
      startProject: "go mod init example.com/client",
      // No terminal breaks lines as short as these, which are pasted.
      install: `module=${goModule}\n  go mod edit -require=$module@v${version}\n  go mod edit -replace=$module=%/packaging/go`,
      installed: "it",
    },
  },
};

/** The dependency for the project's own file; the whole pom.xml of the example if there is none. */
async function stepsInPom(file: string | undefined): Promise<readonly string[]> {
  const pom = String(await packageFile("examples/junit5/pom.xml")).trimEnd();
  if (file === undefined) return ["Put this into pom.xml:", pom];
  const [dependency = ""] = /^ *<dependency>[\s\S]*?<\/dependency>$/m.exec(pom) ?? [];
  return [`Put this into ${file}:`, dependency];
}

/** The names of the tests in a folder that are as `init` has written them. */
export async function untouchedTests(cwd: string): Promise<string[]> {
  const untouched: string[] = [];
  for (const { example, test, to } of Object.values(clients)) {
    const file = join(cwd, to);
    if (!existsSync(file)) continue;
    const asWritten = await packageFile(`examples/${example}/${test}`);
    if (asWritten.equals(await readFile(file))) untouched.push(to);
  }
  return untouched;
}
