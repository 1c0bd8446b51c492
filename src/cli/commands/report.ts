import { redactKeys } from "../../domain/redact.js";
import { askReport } from "../../node/clients/ask-report.js";
import { renderReport } from "../../report/report-document.js";
import { unmetThresholds } from "../../report/thresholds.js";
import type { Run } from "../command.js";
import { exitCode } from "../exit-codes.js";
import { paletteFor } from "../palette.js";
import { formatOf } from "../report-format.js";

const standardUrl = "http://127.0.0.1:4747";
const defaultTimeout = 10_000;

/** `svc-sandbox report` */
export const report: Run = async ({ words, flags, io }) => {
  const format = formatOf(flags);
  const found = await askReport({
    url: words[0] ?? (io.env.SVC_CONTROL_URL || standardUrl),
    token: flags.controlToken,
    timeout: flags.timeout ?? defaultTimeout,
  });
  const unmet = unmetThresholds(found, flags);
  const palette = paletteFor(io.stdout, io.env);
  io.stdout.write(redactKeys(renderReport(found, format, { palette, failures: unmet })));
  return unmet.length === 0 ? exitCode.fine : exitCode.failed;
};
