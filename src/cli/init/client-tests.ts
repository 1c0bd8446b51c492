import { statSync } from "node:fs";
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
  readonly exampleFile: string;
  /** The file in the user's project, if the call names no other one. */
  readonly writtenTo: string;
  /** How the names of such files end, so that their runner finds and reads them. */
  readonly endings: readonly string[];
  /** The command that the script `test:sandbox` runs with a sandbox. */
  readonly script?: string;
  /** The command line that runs the tests in a folder. */
  readonly runCommand: (testFolder: string) => string;
  readonly needs: ClientNeeds;
}

/** What the tests of a client need, and how to install it. */
interface ClientNeeds {
  /** The names of what they need. */
  readonly names: readonly string[];
  /** Where a project shows that it has them: in its dependencies, anywhere in the text of its files, or to Python. */
  readonly whereNamed: "package_json" | "text_of_files" | "python";
  /** The files of a project that may name them, the usual one first. */
  readonly files: readonly string[];
  /** The command line that starts a project without such a file. */
  readonly startProject?: string;
  /** What to write into such a file before the installation, as paragraphs; `file` is the project's own one. */
  readonly stepsInFile?: (file: string | undefined) => Promise<readonly string[]>;
  /** The command lines that install what they need besides this package, from the folder of this package. */
  readonly install?: (packageFolder: string) => string;
  /** What is installed, in a sentence. */
  readonly whatToInstall: "it" | "the jar";
  /** A sentence about another way. */
  readonly otherWay?: string;
}

/** The name of this package in the package.json of a project of Node. */
export const thisPackage = "svc-sandbox";

/** What a project of Node needs: this package, and the runner of its tests. */
function needsOfNode(runner?: string): ClientNeeds {
  const names = [thisPackage];
  if (runner !== undefined) names.push(runner);
  return {
    names,
    whereNamed: "package_json",
    files: ["package.json"],
    whatToInstall: "it",
    ...(runner !== undefined && { install: () => `npm install --save-dev ${runner}` }),
  };
}

const nodeProject = { example: "exec", runCommand: () => "npm run test:sandbox" };
const goModule = `${repository.replace("https://", "")}/packaging/go`;

export const clients: Readonly<Record<ClientKind, ClientTests>> = {
  vitest: {
    ...nodeProject,
    exampleFile: "whoami.test.js",
    writtenTo: "test/whoami.test.js",
    endings: [".js", ".mjs", ".ts", ".mts"],
    script: "vitest run",
    needs: needsOfNode("vitest"),
  },
  jest: {
    ...nodeProject,
    exampleFile: "whoami.jest.cjs",
    writtenTo: "test/whoami.test.cjs",
    endings: [".cjs", ".js"],
    script: "jest",
    needs: needsOfNode("jest"),
  },
  node: {
    ...nodeProject,
    exampleFile: "whoami.node.mjs",
    writtenTo: "test/whoami.test.mjs",
    endings: [".mjs", ".js"],
    script: "node --test",
    needs: needsOfNode(),
  },
  pytest: {
    example: "pytest",
    exampleFile: "test_whoami.py",
    writtenTo: "tests/test_whoami.py",
    endings: [".py"],
    runCommand: () => "python3 -m pytest --min-coverage 80",
    needs: {
      names: ["svc_sandbox"],
      whereNamed: "python",
      files: [],
      install: (folder) => `python3 -m pip install pytest ${folder}/packaging/python`,
      whatToInstall: "it",
    },
  },
  junit: {
    example: "junit5",
    exampleFile: "WhoamiTest.java",
    writtenTo: "src/test/java/WhoamiTest.java",
    endings: ["Test.java"],
    runCommand: () => "mvn test -Dsvc-sandbox.min-coverage=80",
    needs: {
      names: ["svc-sandbox-junit5"],
      whereNamed: "text_of_files",
      files: ["pom.xml", "build.gradle", "build.gradle.kts"],
      stepsInFile: stepsInPom,
      install: (folder) => `mvn --file ${folder}/packaging/java install`,
      whatToInstall: "the jar",
      otherWay: `No Maven, no Gradle: ${docsPlace("test-runners", "junit-5")}.`,
    },
  },
  go: {
    example: "go",
    exampleFile: "whoami_test.go",
    writtenTo: "whoami/whoami_test.go",
    endings: ["_test.go"],
    runCommand: (testFolder) => `SVC_SANDBOX_MIN_COVERAGE=80 go test ${testFolder}`,
    needs: {
      names: [goModule],
      whereNamed: "text_of_files",
      files: ["go.mod"],
      startProject: "go mod init example.com/client",
      // No terminal breaks lines as short as these, which are pasted.
      install: (folder) =>
        `module=${goModule}\n  go mod edit -require=$module@v${version}\n  go mod edit -replace=$module=${folder}/packaging/go`,
      whatToInstall: "it",
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
  for (const { example, exampleFile, writtenTo } of Object.values(clients)) {
    const file = join(cwd, writtenTo);
    const isFile = statSync(file, { throwIfNoEntry: false })?.isFile() ?? false;
    if (!isFile) continue;
    const asWritten = await packageFile(`examples/${example}/${exampleFile}`);
    if (asWritten.equals(await readFile(file))) untouched.push(writtenTo);
  }
  return untouched;
}
