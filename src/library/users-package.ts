import { SandboxError } from "../rules/errors.js";

interface WantedPackage {
  /** The entry point that needs it. */
  readonly entry: string;
  readonly name: string;
  /** The first version that fits. */
  readonly since: string;
}

// In ES modules of Node, a package is imported, and callers wait for it. In a bundle it is present already. CommonJS requires it: the
// build lets the modules with `await usersPackage` call `presentPackage` (`requiredInPlace` in `scripts/bundle.ts`).

/**
 * Imports a package of the user. `olderVersion` returns the version of one that is too old. `package.json` has no range for it,
 * because npm also applies ranges to projects that never use the entry point.
 */
export async function usersPackage<Loaded extends object>(
  wanted: WantedPackage,
  load: () => Promise<Loaded>,
  olderVersion: (loaded: Loaded) => string | undefined,
): Promise<Loaded> {
  let loaded: Loaded;
  try {
    loaded = await load();
  } catch (error) {
    throw errorOfLoading(error as Error, wanted);
  }
  return presentPackage(wanted, () => loaded, olderVersion);
}

/** As `usersPackage`, for a package that nobody has to wait for. */
export function presentPackage<Loaded extends object>(
  wanted: WantedPackage,
  load: () => Loaded,
  olderVersion: (loaded: Loaded) => string | undefined,
): Loaded {
  let loaded: Loaded;
  try {
    loaded = load();
  } catch (error) {
    throw errorOfLoading(error as Error, wanted);
  }
  const older = olderVersion(loaded);
  if (older !== undefined) throw unusablePackage(wanted, `and ${older} is installed`);
  return loaded;
}

/** Whether a version comes before another one, which has two numbers, such as `3.2`: `3.1.4` and `3.2.0-beta.1` do. */
export function isOlderVersion(version: string, since: string): boolean {
  const isPrerelease = version.startsWith(`${since}.0-`);
  return isPrerelease || version.localeCompare(since, "en", { numeric: true }) < 0;
}

/** The error of a package that does not load: ours, if that package itself is missing. */
function errorOfLoading(error: Error, wanted: WantedPackage): Error {
  // The messages of Node, and of Yarn without `node_modules`.
  const words = /^(?:Cannot find (?:package|module) ['"]|svc-sandbox tried to access )([^'" ]+)/;
  const missing = words.exec(error.message)?.[1];
  return missing === wanted.name ? unusablePackage(wanted, "which is not installed") : error;
}

function unusablePackage({ entry, name, since }: WantedPackage, why: string): SandboxError {
  return new SandboxError(
    "package_unusable",
    `${entry} needs ${name} ${since} or later, ${why}: run \`npm install --save-dev ${name}\`.`,
    { package: name, since },
  );
}
