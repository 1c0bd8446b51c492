import { isNoAnswer, type RawAnswer } from "../../check/answer.js";
import { SandboxError } from "../../domain/errors.js";
import { redactEncoded } from "../../domain/redact.js";
import { parseReport, type Report } from "../../report/report.js";
import { controlPath } from "../server/read-request.js";
import { readHttpUrl, sendOnce } from "./send-once.js";

const maxReport = 16 * 1024 * 1024;

/**
 * Asks a running sandbox for its report; throws `usage` when there is none to be had.
 *
 * `url` is its base URL or that of its control plane, an instance's too; `timeout` is in milliseconds.
 */
export async function askReport({
  url: given,
  token,
  timeout,
}: {
  readonly url: string;
  readonly token?: string | undefined;
  readonly timeout: number;
}): Promise<Report> {
  const url = reportUrl(given);
  const failed = (why: string) =>
    new SandboxError("usage", `Failed to get the report from ${redactEncoded(url.href)}: ${why}`);
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const answer = await sendOnce(url, { headers, timeout, maxBody: maxReport });
  if (isNoAnswer(answer)) throw failed(`${answer.found}. ${answer.hint}`);
  const { status } = answer;
  const { data, error } = jsonOf(answer);
  const report = status === 200 ? parseReport(data) : undefined;
  if (report !== undefined) return report;
  if (error?.code === "control_token_required") {
    throw failed(
      token === undefined
        ? "it asks for its token: give it with --control-token."
        : "it does not take this --control-token.",
    );
  }
  throw failed(
    status === 404
      ? "there is no control plane at this URL: the server runs with --no-control, the instance is gone, or it is no sandbox."
      : `it answered ${status}, and not with a report. Is it a sandbox of this version?`,
  );
}

function reportUrl(given: string): URL {
  const url = readHttpUrl(given);
  if (url === undefined) {
    // The URL is not repeated: it may hold a password.
    throw new SandboxError(
      "usage",
      "Failed to read the URL of the sandbox. Give its base URL or that of its control plane, such as http://127.0.0.1:4747.",
    );
  }
  const base = url.pathname.replace(/\/+$/, "");
  const [front] = base.split(`${controlPath}/`);
  const control = base.endsWith(controlPath) ? base : front + controlPath;
  return new URL(`${url.origin}${control}/report`);
}

function jsonOf({ body }: RawAnswer): {
  readonly data?: unknown;
  readonly error?: { readonly code?: unknown };
} {
  try {
    return JSON.parse(new TextDecoder().decode(body)) ?? {};
  } catch {
    return {};
  }
}
