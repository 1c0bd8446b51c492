import type { CertifyResult } from "../../certify/certificate/certificate.js";
import { certificateLayout } from "../../certify/certificate/certificate-layout.js";
import { certificateText } from "../../certify/certificate/certificate-text.js";
import type { ReportFormat } from "../../report/render/layout.js";
import { render } from "../../report/render/render.js";
import { redactPlainKeys } from "../../rules/keys/redact.js";
import { oneSafeLine } from "../../rules/terminal-text.js";
import type { CommandCall } from "../command.js";
import { describeFailure } from "../exit-codes.js";
import { type ReportTarget, writeTargets } from "../report/report-files.js";
import { whyNoRequest } from "../run/why-no-run.js";
import type { ServeFlags } from "../serve/serve-options.js";

/** The flag that names the file of the certificate, and what it contains. */
export const certificateFile = {
  name: "--report",
  contents: "the certificate",
  formats: ["json", "junit"],
} as const;

interface CertificateFlags extends ServeFlags {
  readonly format?: "text" | "json" | "junit";
}
type CertificateCall = Pick<CommandCall<CertificateFlags>, "args" | "flags" | "io">;

/** Writes the certificate into the file of `--report`, and prints it. */
export async function deliverCertificate(
  result: CertifyResult,
  plainOutput: readonly string[],
  targets: readonly ReportTarget[],
  call: CertificateCall,
): Promise<void> {
  const { args, flags, io } = call;
  const program = { program: io.program, scenario: args[0] };
  const textIn = (format: ReportFormat) => render(certificateLayout(result, program), format);
  const failures = await writeTargets(targets, textIn, certificateFile, io);
  for (const failure of failures) {
    if (flags.format === "json") io.stderr.write(describeFailure(failure, { json: true }));
    else io.stderr.say(describeFailure(failure, {}));
  }
  io.stdout.write(redactPlainKeys(resultText(result, plainOutput, call)));
}

/** How many lines of its output are shown of a command that cannot be judged. */
const maxOutputLines = 20;

/** The result as it is printed; of a command that could not be judged, with the end of its output. */
function resultText(
  result: CertifyResult,
  plainOutput: readonly string[],
  { args, flags, io }: CertificateCall,
): string {
  const { format = "text" } = flags;
  const program = { program: io.program, scenario: args[0] };
  // For programs, there is nothing but the certificate.
  if (format !== "text") return render(certificateLayout(result, program), format);

  const { palette, wrap } = io.stdout.style();
  const text = wrap(certificateText(result, program, palette.red));
  if (result.verdict === "no_request") return `${text}${wrap(whyNoRequest(io, flags))}\n`;

  if (!mayBeExplainedByOutput(result) || plainOutput.every((line) => line.trim() === "")) return text;
  const lines = plainOutput.slice(-maxOutputLines).map((line) => `  ${oneSafeLine(line)}\n`);
  return `${text}Its last output:\n${lines.join("")}`;
}

/** Whether the output of the command may say why the client could not be judged at all. */
function mayBeExplainedByOutput({ verdict, why, problems }: CertifyResult): boolean {
  return verdict === "not_judged" && why !== undefined && problems.length === 0;
}
