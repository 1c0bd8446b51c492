import { type Certificate, readCertificate } from "../../certify/certificate.js";
import { commandLine } from "../../certify/document.js";
import type { CertifyResult } from "../../certify/result.js";
import { renderVerification, verifyCertificate } from "../../certify/verify-certificate.js";
import { printable } from "../../domain/printable.js";
import { redactKeys } from "../../domain/redact.js";
import { pluralize } from "../../report/plain-text.js";
import { quote } from "../../schema/words.js";
import { exitCode, usageError } from "../exit-codes.js";
import { readGivenFile } from "../files.js";
import type { Io } from "../io.js";
import { styleFor } from "../terminal.js";

interface VerifyCall {
  /** The file that `--verify` names. */
  readonly file: string;
  /** The command of the caller; without words that of the certificate. */
  readonly command: readonly string[];
  readonly flags: {
    readonly json?: boolean;
    readonly quiet?: boolean;
    readonly color?: boolean;
    readonly wide?: boolean;
  };
  readonly io: Io;
  /** Makes the same runs as were certified, with a command; resolves to an exit code when not all could be made. */
  readonly runAgain: (
    certified: CertifyResult,
    command: readonly string[],
  ) => Promise<CertifyResult | number>;
}

/** Verifies a certificate by running again, and prints what that showed; resolves to the exit code. */
export async function verifyFile({ file, command, flags, io, runAgain }: VerifyCall): Promise<number> {
  const say = (text: string) => io.stderr.write(printable(redactKeys(text)));
  const read = readCertificate(await readGivenFile(file, "the certificate", io));
  if ("problem" in read) {
    say(`Failed to verify ${quote(file)}: ${read.sentence}\n`);
    return exitCode.failed;
  }
  const { result } = read;
  const words = command.length > 0 ? command : commandIn(read, file);
  if (!flags.quiet) {
    const { verdict, scenario, startedAt, sandbox, runs } = result;
    const what = `${verdict}, ${pluralize(runs.length, "run")} against ${scenario}`;
    say(`Verifying ${quote(file)} by the same runs: ${what}, ${startedAt}, svc-sandbox ${sandbox}.\n`);
  }
  const again = await runAgain(result, words);
  if (typeof again === "number") {
    say(`Nothing is verified: the runs of ${quote(file)} were not all made again.\n`);
    return again;
  }
  const verification = verifyCertificate(result, again);
  const style = styleFor(io.stdout, io.env, flags);
  io.stdout.write(redactKeys(renderVerification(verification, flags.json ? "json" : "text", style)));
  return verification.verified ? exitCode.fine : exitCode.failed;
}

function commandIn({ result: { command } }: Certificate, file: string): readonly string[] {
  // A key that was cut cannot be sent again.
  if (!command.some((word) => word.includes("…")) && command.length > 0) return command;
  throw usageError(
    `Failed to run the command of ${quote(file)} again: what looks like a key was cut from it. Give it behind --: svc-sandbox certify --verify ${file} -- ${commandLine(command)}`,
  );
}
