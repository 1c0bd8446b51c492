import { SandboxError } from "../rules/errors.js";

interface WantedPackage {
  /** The entry point that needs it. */
  readonly entry: string;
  readonly name: string;
  /** The first version that fits. */
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
  const requireNew = (loaded: Loaded) => {
    const older = olderVersion(loaded);
    if (older !== undefined) throw unusablePackage(wanted, `and ${older} is installed`);
    return loaded;
  };
  const throwExplained = (error: Error): never => {
    if (missingPackage(error) !== wanted.name) throw error;
    throw unusablePackage(wanted, "which is not installed");
  };

  try {
    // A promise in ES modules; the package itself in CommonJS and pages, whose builds load it synchronously (`scripts/bundle.ts`).
    const loading: Promise<Loaded> | Loaded = load();
    if ("then" in loading) return loading.then(requireNew, throwExplained);
    // In these builds, no caller awaits it. The type is that of ES modules, where it is a promise.
    return requireNew(loading) as never;
  } catch (error) {
    return throwExplained(error as Error);
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
