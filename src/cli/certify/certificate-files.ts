import { documentText } from "../../certify/brief.js";
import { certificateBadge, renderCertificate } from "../../certify/document.js";
import { type CertifyResult, readCertificate } from "../../certify/result.js";
import { renderVerification, verifyCertificate } from "../../certify/verify-certificate.js";
import { commandLine, documentFlag, pluralize } from "../../report/plain-text.js";
import { printable, redactKeys } from "../../spec/redact.js";
import { quote } from "../../spec/schema/words.js";
import type { CommandCall } from "../command.js";
import { exitCode, usageError } from "../exit-codes.js";
import { type ReportTarget, readGivenFile, writeTargets } from "../files.js";
import type { Io } from "../io.js";
import { loadCertified, loadNamed } from "../open-scenario.js";
import { styleFor } from "../terminal.js";
import { type CertifyFlags, certifyClient, documentIn } from "./certify-client.js";

export const certificateFiles = { name: "--certificate", what: "the certificate" };

/** Writes a certified result to each file, and its badge; resolves to the failures. */
export async function writeCertificates(
  result: CertifyResult,
  targets: readonly ReportTarget[],
  badge: string | undefined,
  io: Io,
): Promise<unknown[]> {
  const badges = badge === undefined ? [] : [{ file: badge, format: "text", isAppended: false } as const];
  const badgeFiles = { name: "--badge", what: "the badge" };
  return [
    ...(await writeTargets(targets, (format) => renderCertificate(result, format), certificateFiles, io)),
    ...(await writeTargets(badges, () => certificateBadge(result), badgeFiles, io)),
  ];
}

type VerifyFlags = CertifyFlags & { readonly format?: "text" | "brief" };

/** Repeats the runs of a certificate with the caller's command, never with the file's, and prints what differs. */
export async function verifyFile(file: string, call: CommandCall<VerifyFlags>): Promise<number> {
  const { words, rest, flags, io } = call;
  const say = (text: string) => io.stderr.say(printable(redactKeys(text)));
  const read = readCertificate(await readGivenFile(file, "the certificate", io));
  if ("problem" in read) {
    say(`Failed to verify ${quote(file)}: ${read.problem}\n`);
    return exitCode.failed;
  }
  const { result: certified } = read;
  const { document, scenario, verdict, startedAt, sandbox, runs } = certified;
  if (rest.length === 0) {
    const again = [...io.program.split(" "), "certify", "--verify", file, ...documentFlag(document)];
    throw usageError(
      `--verify never runs the command of a file. Give yours after --, or read this command before you run it:\n${commandLine([...again, "--", ...certified.command], 20_000)}`,
    );
  }
  if (document?.given && flags.openapi === undefined) {
    const add = commandLine(documentFlag(document));
    throw usageError(`${quote(file)} is about the document ${documentText(document)}: add ${add}`);
  }
  if (!flags.quiet) {
    const what = `${verdict}, ${pluralize(runs.length, "run")} against ${scenario}`;
    say(`Verifying ${quote(file)} with the same runs: ${what}, ${startedAt}, svc-sandbox ${sandbox}.\n`);
  }
  const [given] = words;
  const loaded = await (given ? loadNamed(given, io, flags) : loadCertified(scenario, io, flags));
  const now = await documentIn(loaded, flags);
  if (document?.digest !== now?.digest) {
    const [named, used] = [document, now].map((one) => (one ? documentText(one) : "no document"));
    say(`Not verified: the certificate is about ${named}, and this run has ${used}\n`);
    return exitCode.failed;
  }
  const intercept = flags.intercept ?? certified.intercept;
  const { result, cutShort, release } = await certifyClient(
    { ...certified, loaded, command: rest, kinds: certified.promises.kinds },
    { ...call, flags: { ...flags, ...(intercept && { intercept }) } },
  );
  release();
  if (cutShort !== undefined || result === undefined) {
    say(`Not verified: not all runs of ${quote(file)} could be repeated.\n`);
    return cutShort ?? exitCode.defect;
  }
  const verification = verifyCertificate(certified, result);
  const format = flags.json ? "json" : (flags.format ?? "text");
  io.stdout.write(redactKeys(renderVerification(verification, format, styleFor(io.stdout, io.env))));
  return verification.verified ? exitCode.fine : exitCode.failed;
}
