import { SandboxError } from "../spec/errors.js";

/** A package that an entry point loads from the user's project. */
export interface UsersPackage {
  /** Such as `svc-sandbox/msw`. */
  readonly entry: string;
  readonly name: string;
  /** The oldest version that works. */
  readonly since: string;
}

/**
 * Loads the user's own copy of a package. Throws `package_unusable` if it is missing, or if `olderVersion` returns a name
 * for a version that is too old.
 *
 * `package.json` has no range for it, because npm also applies ranges to projects that never use the entry point.
 */
export function usersPackage<Loaded extends object>(
  wanted: UsersPackage,
  load: () => Promise<Loaded>,
  olderVersion: (loaded: Loaded) => string | undefined,
): Promise<Loaded> {
  const checked = (loaded: Loaded) => {
    const older = olderVersion(loaded);
    if (older === undefined) return loaded;
    throw unusable(wanted, `and ${older} is installed`);
  };
  const explained = (error: Error): never => {
    // The messages of Node, and of Yarn without `node_modules`.
    const words = /^(?:Cannot find (?:package|module) ['"]|svc-sandbox tried to access )([^'" ]+)/;
    throw words.exec(error.message)?.[1] === wanted.name ? unusable(wanted, "which is not installed") : error;
  };
  try {
    // The builds for CommonJS and pages load it synchronously (`scripts/bundle.ts`).
    const loading: Promise<Loaded> | Loaded = load();
    return "then" in loading ? loading.then(checked, explained) : (checked(loading) as never);
  } catch (error) {
    return explained(error as Error);
  }
}

function unusable({ entry, name, since }: UsersPackage, why: string): SandboxError {
  return new SandboxError(
    "package_unusable",
    `${entry} needs ${name} ${since} or later, ${why}: run \`npm install --save-dev ${name}\`.`,
    { package: name, since },
  );
}
