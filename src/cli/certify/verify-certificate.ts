import { type Certificate, readCertificate } from "../../certify/certificate.js";
import type { CertifyResult } from "../../certify/result.js";
import { renderVerification, verifyCertificate } from "../../certify/verify-certificate.js";
import { commandLine, pluralize } from "../../report/plain-text.js";
import { printable, redactKeys } from "../../spec/redact.js";
import { quote } from "../../spec/schema/words.js";
import type { Call } from "../command.js";
import { exitCode, usageError } from "../exit-codes.js";
import { readGivenFile } from "../files.js";
import { tell, tellAs } from "../tell.js";
import { styleFor } from "../terminal.js";

interface VerifyFlags {
  readonly json?: boolean;
  readonly format?: "text" | "brief";
  readonly quiet?: boolean;
  readonly color?: boolean;
}

/**
 * Verifies a certificate with the caller's command or its own, and prints the result; resolves to the exit code. `runAgain`
 * resolves to an exit code if not all runs could be made.
 */
export async function verifyFile(
  file: string,
  { rest, flags, io }: Pick<Call<VerifyFlags>, "rest" | "flags" | "io">,
  runAgain: (certified: CertifyResult, command: readonly string[]) => Promise<CertifyResult | number>,
): Promise<number> {
  const say = (text: string) => tell(io.stderr, printable(redactKeys(text)));
  const read = readCertificate(await readGivenFile(file, "the certificate", io));
  if ("problem" in read) {
    say(`Failed to verify ${quote(file)}: ${read.sentence}\n`);
    return exitCode.failed;
  }
  const { result } = read;
  const command = rest.length > 0 ? rest : commandIn(read, file);
  if (!flags.quiet) {
    const { verdict, scenario, startedAt, sandbox, runs } = result;
    const what = `${verdict}, ${pluralize(runs.length, "run")} against ${scenario}`;
    say(`Verifying ${quote(file)} with the same runs: ${what}, ${startedAt}, svc-sandbox ${sandbox}.\n`);
  }
  const again = await runAgain(result, command);
  if (typeof again === "number") {
    say(`Not verified: not all runs of ${quote(file)} could be repeated.\n`);
    return again;
  }
  const verification = verifyCertificate(result, again);
  const format = flags.json ? "json" : (flags.format ?? "text");
  const style = styleFor(io.stdout, io.env, flags);
  tellAs(format, io.stdout, renderVerification(verification, format, style));
  return verification.verified ? exitCode.fine : exitCode.failed;
}

function commandIn({ result: { command } }: Certificate, file: string): readonly string[] {
  // A shortened key cannot be sent.
  if (!command.some((word) => word.includes("…")) && command.length > 0) return command;
  throw usageError(
    `The command in ${quote(file)} cannot run again: a key in it was cut. Write the command after --: svc-sandbox certify --verify ${file} -- ${commandLine(command)}`,
  );
}
