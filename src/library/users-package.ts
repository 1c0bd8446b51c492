import { SandboxError } from "../rules/errors.js";

interface WantedPackage {
  /** The entry point that needs it. */
  readonly entry: string;
  readonly name: string;
  /** The first version that fits. */
  readonly since: string;
}

// The builds load the package in two ways. In ES modules, `load` imports it, and callers await it. CommonJS cannot wait, and a page
// has the package in its bundle: there, the build lets `load` return the package itself, and removes the `await` of the callers
// (`withoutWaiting` in `scripts/bundle.ts`).

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

  let loading: Promise<Loaded> | Loaded;
  try {
    loading = load();
  } catch (error) {
    throw errorOfLoading(error as Error, wanted);
  }
  if ("then" in loading) {
    const importing = loading.catch((error: Error) => {
      throw errorOfLoading(error, wanted);
    });
    return importing.then(requireNew);
  }
  return requireNew(loading) as never; // the type is that of ES modules
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
