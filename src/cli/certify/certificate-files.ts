import { documentFlag, documentText } from "../../certify/brief.js";
import { certificateBadge, renderCertificate } from "../../certify/document.js";
import { type Rehearsal, renderCalendar } from "../../certify/next.js";
import { type CertifyResult, readCertificate } from "../../certify/result.js";
import { renderVerification, verifyCertificate } from "../../certify/verify-certificate.js";
import { commandLine, pluralize } from "../../report/plain-text.js";
import { printable, redactKeys } from "../../spec/redact.js";
import { quote } from "../../spec/schema/words.js";
import type { CommandCall } from "../command.js";
import { exitCode, usageError } from "../exit-codes.js";
import { type ReportTarget, readGivenFile, reportTargets, writeTargets } from "../files.js";
import type { Io } from "../io.js";
import { styleFor } from "../terminal.js";

const certificate = { name: "--certificate", what: "the certificate" };

/** Returns the files of `--certificate`; throws `usage` if a file's name does not set its format. */
export function certificateTargets(files: readonly string[] | undefined, io: Io): ReportTarget[] {
  return reportTargets(files, certificate, io);
}

/** Writes the calendar of announced changes to each file of `--certificate`; resolves to the failures. */
export function writeCalendar(
  rehearsal: Rehearsal,
  targets: readonly ReportTarget[],
  io: Io,
): Promise<unknown[]> {
  return writeTargets(targets, (format) => renderCalendar(rehearsal, format), certificate, io);
}

/** Writes a certified result to each file, and its badge; resolves to the failures. */
export async function writeCertificates(
  result: CertifyResult,
  targets: readonly ReportTarget[],
  badge: string | undefined,
  io: Io,
): Promise<unknown[]> {
  const badges = badge === undefined ? [] : [{ file: badge, format: "text", isAppended: false } as const];
  return [
    ...(await writeTargets(targets, (format) => renderCertificate(result, format), certificate, io)),
    ...(await writeTargets(
      badges,
      () => certificateBadge(result),
      { name: "--badge", what: "the badge" },
      io,
    )),
  ];
}

interface VerifyFlags {
  readonly json?: boolean;
  readonly format?: "text" | "brief";
  readonly quiet?: boolean;
  readonly openapi?: string;
}

/**
 * Verifies a certificate with the caller's command, never with the file's, and prints the result; resolves to the exit code.
 * `runAgain` resolves to an exit code if not all runs could be made.
 */
export async function verifyFile(
  file: string,
  { rest, flags, io }: Pick<CommandCall<VerifyFlags>, "rest" | "flags" | "io">,
  runAgain: (
    certified: CertifyResult,
    command: readonly string[],
  ) => Promise<CertifyResult | { readonly problem: string } | number>,
): Promise<number> {
  const say = (text: string) => io.stderr.say(printable(redactKeys(text)));
  const read = readCertificate(await readGivenFile(file, "the certificate", io));
  if ("problem" in read) {
    say(`Failed to verify ${quote(file)}: ${read.problem}\n`);
    return exitCode.failed;
  }
  const { result } = read;
  if (rest.length === 0) {
    const words = [...io.program.split(" "), "certify", "--verify", file, ...documentFlag(result.document)];
    const again = commandLine([...words, "--", ...result.command], 20_000);
    throw usageError(
      `--verify never runs the command of a file. Give yours after --, or read this command before you run it:\n${again}`,
    );
  }
  const { document } = result;
  if (document?.given && flags.openapi === undefined) {
    const add = commandLine(documentFlag(document));
    throw usageError(`${quote(file)} is about the document ${documentText(document)}: add ${add}`);
  }
  if (!flags.quiet) {
    const { verdict, scenario, startedAt, sandbox, runs } = result;
    const what = `${verdict}, ${pluralize(runs.length, "run")} against ${scenario}`;
    say(`Verifying ${quote(file)} with the same runs: ${what}, ${startedAt}, svc-sandbox ${sandbox}.\n`);
  }
  const again = await runAgain(result, rest);
  if (typeof again === "object" && "problem" in again) {
    say(`Not verified: ${again.problem}\n`);
    return exitCode.failed;
  }
  if (typeof again === "number") {
    say(`Not verified: not all runs of ${quote(file)} could be repeated.\n`);
    return again;
  }
  const verification = verifyCertificate(result, again);
  const format = flags.json ? "json" : (flags.format ?? "text");
  const style = styleFor(io.stdout, io.env);
  io.stdout.write(redactKeys(renderVerification(verification, format, style)));
  return verification.verified ? exitCode.fine : exitCode.failed;
}
