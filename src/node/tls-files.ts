import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { SandboxError } from "../domain/errors.js";
import { type CertificatePair, checkPair } from "./tls.js";
import { writeFailure } from "./write-file.js";

/** Reads a certificate and its key from PEM files; throws `file_unreadable` or `certificate_unusable`. */
export async function readPair(
  files: { readonly cert: string; readonly key: string },
  cwd: string,
): Promise<CertificatePair> {
  const [cert, key] = await Promise.all([
    readPem(files.cert, "--cert", cwd),
    readPem(files.key, "--key", cwd),
  ]);
  return checkPair(
    { cert, key },
    { cert: `--cert ${JSON.stringify(files.cert)}`, key: `--key ${JSON.stringify(files.key)}` },
  );
}

async function readPem(file: string, flag: string, cwd: string): Promise<string> {
  try {
    return await readFile(resolve(cwd, file), "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const why = code === "ENOENT" ? "there is no such file" : writeFailure(error);
    throw new SandboxError(
      "file_unreadable",
      `Failed to read the file of ${flag}, ${JSON.stringify(file)}: ${why}.`,
    );
  }
}
