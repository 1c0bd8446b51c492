import { existsSync, readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { controlPath } from "../../node/addresses.js";
import { clientEnvironment } from "../../node/client-variables.js";
import { makeFolder, writeFileAtomically } from "../../node/files/write-file.js";
import { fallbackScenarios } from "../../report/reproduce.js";
import { listed, quote } from "../../spec/schema/words.js";
import { collectionOf } from "../collection/collection.js";
import {
  type CollectionFormat,
  renderCollection,
  renderEnvironment,
} from "../collection/render-collection.js";
import { declareCommand, fileName, flag, noVariable, oneOf, scenarioWord } from "../command.js";
import { exitCode, tryToWrite, unwritable, usageError } from "../exit-codes.js";
import { quiet, standardUrl, worldFlags } from "../flags.js";
import { type Io, programName } from "../io.js";
import { loadNamed, openNamed } from "../open-scenario.js";
import { tell, writeData } from "../tell.js";

export const command = declareCommand({
  summary: "print requests for an .http file, Postman or Bruno: one for each path",
  description:
    "Prints one request for each path, with its expected response, for an editor or an API client. It contains variables instead of keys; --environment writes their values. With a bundled scenario, the requests for faults and the preview switch to other scenarios. With your own file, you get only the paths that it covers.",
  words: scenarioWord,
  flags: {
    format: flag(
      "--format <format>",
      "http (a file for VS Code, JetBrains, Visual Studio or httpYac) or postman (a collection, v2.1, which Bruno imports) (default: http)",
      oneOf(Object.keys(renderCollection) as CollectionFormat[]),
      noVariable,
    ),
    output: flag("-o, --output <file>", "write it to this file (default: stdout)", fileName),
    environment: flag(
      "--environment <file>",
      "write the variables to this file, for Postman or as .env: the keys, and SVC_BASE_URL and SVC_CONTROL_URL (default: a sandbox on the default port)",
      fileName,
    ),
    quiet,
    ...worldFlags,
  },
  examples: {
    "svc-sandbox collection -o sandbox.http --environment .env": "for an editor",
    "svc-sandbox collection --format postman -o sandbox.json --environment env.json": "for Postman or Bruno",
  },
  async run({ words, flags, io }) {
    const { format = "http", output } = flags;
    const loaded = await loadNamed(words[0], io);
    // No request could switch back to a file.
    const others = loaded.files.length > 0 ? [] : fallbackScenarios.filter((name) => name !== loaded.name);
    const loadedOthers = await Promise.all(others.map((name) => loadNamed(name, io)));
    const world = openNamed(loaded, flags);
    const otherWorlds = loadedOthers.map((one) => openNamed(one, flags));
    const collection = collectionOf(world, otherWorlds);
    if (flags.environment !== undefined) refuseOther(flags.environment, io);
    const text = renderCollection[format](collection);
    if (output === undefined) writeData(io.stdout, text);
    else write(output, text, io);
    if (flags.environment !== undefined) {
      const all = [...otherWorlds, world].map((one) => clientEnvironment(one, addresses(io)));
      const known: Readonly<Record<string, string>> = Object.assign({}, ...all);
      const values = collection.variables.map((name): [string, string] => [name, known[name] ?? ""]);
      // For its owner only: it contains keys.
      write(flags.environment, renderEnvironment(format, collection.name, values), io, 0o600);
    }
    if (flags.quiet !== true && output !== undefined) {
      tell(io.stderr, `Wrote ${output}. Start its sandbox: ${programName(io.env)} ${loaded.name}\n`);
    }
    if (flags.quiet !== true && collection.leftOut.length > 0) {
      tell(
        io.stderr,
        `Left out, because ${loaded.name} does not cover them: ${listed(collection.leftOut, "and")}. The collection of key-states has all.\n`,
      );
    }
    return exitCode.fine;
  },
});

function write(file: string, text: string, { cwd }: Io, mode = 0o666): void {
  const path = resolve(cwd, file);
  tryToWrite(quote(file), () => {
    makeFolder(dirname(path));
    writeFileAtomically(path, text, mode);
  });
}

// A .env may belong to the user's program.
function refuseOther(file: string, { cwd }: Io): void {
  const path = resolve(cwd, file);
  try {
    if (!existsSync(path) || readFileSync(path, "utf8").slice(0, 40).includes("svc-sandbox")) return;
  } catch (error) {
    unwritable(quote(file))(error);
  }
  throw usageError(
    `${quote(file)} was not written by this command, so it is unchanged. Name another file with --environment, or move it away.`,
  );
}

function addresses({ env }: Io) {
  const { SVC_BASE_URL: url, SVC_CONTROL_URL: controlUrl } = env;
  // A single variable may be the real API's.
  if (url && controlUrl) return { url, controlUrl };
  return { url: standardUrl, controlUrl: standardUrl + controlPath };
}
