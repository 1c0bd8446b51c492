import { SandboxError } from "../rules/errors.js";

/** `package.json` has no range for it, because npm also applies ranges to projects that never use the entry point. */
export function usersPackage<Loaded extends object>(
  { entry, name, since }: { readonly entry: string; readonly name: string; readonly since: string },
  load: () => Promise<Loaded>,
  olderVersion: (loaded: Loaded) => string | undefined,
): Promise<Loaded> {
  const unusable = (why: string) =>
    new SandboxError(
      "package_unusable",
      `${entry} needs ${name} ${since} or later, ${why}: run \`npm install --save-dev ${name}\`.`,
      { package: name, since },
    );
  const checked = (loaded: Loaded) => {
    const older = olderVersion(loaded);
    if (older === undefined) return loaded;
    throw unusable(`and ${older} is installed`);
  };
  const explained = (error: Error): never => {
    // The messages of Node, and of Yarn without `node_modules`.
    const words = /^(?:Cannot find (?:package|module) ['"]|svc-sandbox tried to access )([^'" ]+)/;
    throw words.exec(error.message)?.[1] === name ? unusable("which is not installed") : error;
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
