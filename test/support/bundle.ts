import { rolldown } from "rolldown";

/** The code of a module with all that it imports; anything worth a warning is an error. */
export async function bundle(input: string, platform: "browser" | "node" = "browser"): Promise<string> {
  const bundled = await rolldown({
    input,
    platform,
    resolve: { extensionAlias: { ".js": [".ts", ".js"] } },
    onLog(_level, log) {
      throw new Error(log.message);
    },
  });
  const { output } = await bundled.generate({ format: "esm", codeSplitting: false });
  await bundled.close();
  return output[0].code;
}
