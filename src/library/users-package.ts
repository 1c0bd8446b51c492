import { SandboxError } from "../rules/errors.js";

interface WantedPackage {
  /** What needs it. */
  readonly entry: string;
  readonly name: string;
  readonly since: string;
}

/**
 * Loads a package of the user. `olderVersion` returns the version of one that is too old. `package.json` has no range for it,
 * because npm also applies ranges to projects that never use the entry point.
 */
export function usersPackage<Loaded extends object>(
  wanted: WantedPackage,
  load: () => Promise<Loaded>,
  olderVersion: (loaded: Loaded) => string | undefined,
): Promise<Loaded> {
  const checked = (loaded: Loaded) => {
    const older = olderVersion(loaded);
    if (older !== undefined) throw unusablePackage(wanted, `and ${older} is installed`);
    return loaded;
  };
  const explained = (error: Error): never => {
    if (missingPackage(error) !== wanted.name) throw error;
    throw unusablePackage(wanted, "which is not installed");
  };

  try {
    // The builds for CommonJS and pages load it synchronously (`scripts/bundle.ts`).
    const loading: Promise<Loaded> | Loaded = load();
    if ("then" in loading) return loading.then(checked, explained);
    return checked(loading) as never; // the type is that of ES modules, where it is a promise
  } catch (error) {
    return explained(error as Error);
  }
}

/** The package that could not be found, by the messages of Node, and of Yarn without `node_modules`. */
function missingPackage({ message }: Error): string | undefined {
  const words = /^(?:Cannot find (?:package|module) ['"]|svc-sandbox tried to access )([^'" ]+)/;
  return words.exec(message)?.[1];
}

function unusablePackage({ entry, name, since }: WantedPackage, why: string): SandboxError {
  return new SandboxError(
    "package_unusable",
    `${entry} needs ${name} ${since} or later, ${why}: run \`npm install --save-dev ${name}\`.`,
    { package: name, since },
  );
}
