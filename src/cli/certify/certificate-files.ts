import { certificateBadge } from "../../certify/badge.js";
import { renderCertificate } from "../../certify/document.js";
import { type Rehearsal, renderCalendar } from "../../certify/next-document.js";
import type { CertifyResult } from "../../certify/result.js";
import type { ReportFormat } from "../../report/render/document.js";
import { type FlagValues, fileName, fileNames, flag } from "../command.js";
import { type FilesFlag, formatOfEnding, reportTargets, writeTargets } from "../files.js";
import type { Io } from "../io.js";

/** The flags that name the files of a certificate. */
export const certificateFlags = {
  certificate: flag(
    "--certificate <file>",
    "write the certificate to this file, in the format of its extension: .json (for --verify), .html, .md, .xml (JUnit) or .txt; repeatable",
    fileNames,
  ),
  badge: flag("--badge <file>", "write the verdict as a badge (SVG) to this file", fileName),
};

const certificate: FilesFlag<ReportFormat> = {
  name: "--certificate",
  what: "the certificate",
  endings: formatOfEnding,
  endingWords: ".json, .html, .md, .xml (JUnit) or .txt",
};
const badge: FilesFlag<"badge"> = {
  name: "--badge",
  what: "the badge",
  endings: { ".svg": "badge" },
  endingWords: ".svg",
};

/** Returns the files of the flags; throws `usage` if a file's name does not set its format. */
export function certificateFiles(flags: FlagValues<typeof certificateFlags>, io: Io) {
  return {
    certificates: reportTargets(flags.certificate, certificate, io),
    badges: reportTargets(flags.badge === undefined ? [] : [flags.badge], badge, io),
  };
}

/** Writes the calendar of announced changes to each file of `--certificate`; resolves to the failures. */
export function writeCalendar(
  rehearsal: Rehearsal,
  { certificates }: ReturnType<typeof certificateFiles>,
  io: Io,
): Promise<unknown[]> {
  return writeTargets(certificates, (format) => renderCalendar(rehearsal, format), certificate, io);
}

/** Writes a certified result to each file; resolves to the failures. */
export async function writeCertificates(
  result: CertifyResult,
  { certificates, badges }: ReturnType<typeof certificateFiles>,
  io: Io,
): Promise<unknown[]> {
  return [
    ...(await writeTargets(certificates, (format) => renderCertificate(result, format), certificate, io)),
    ...(await writeTargets(badges, () => certificateBadge(result), badge, io)),
  ];
}
