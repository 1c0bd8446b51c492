import { isNoAnswer, type RawAnswer } from "../../check/answer.js";
import { SandboxError } from "../../domain/errors.js";
import { redactEncoded } from "../../domain/redact.js";
import { parseReport, type Report } from "../../report/report.js";
import { controlPath } from "../server/read-request.js";
import { readHttpUrl } from "./endpoint-url.js";
import { sendOnce } from "./send-once.js";

const maxReport = 16 * 1024 * 1024;

/** The question for a running sandbox. */
export interface ReportQuestion {
  /** Its base URL or that of its control plane; an instance's, too. */
  readonly url: string;
  /** The bearer token of its control plane. */
  readonly token?: string | undefined;
  /** Milliseconds to wait for the answer. */
  readonly timeout: number;
}

/** Asks a running sandbox for its report; throws `usage` when there is none to be had. */
export async function askReport({ url: given, token, timeout }: ReportQuestion): Promise<Report> {
  const url = reportUrl(given);
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const answer = await sendOnce(url, { headers, timeout, maxBody: maxReport });
  if (isNoAnswer(answer)) throw failed(url, `${answer.found}. ${answer.hint}`);
  const body = bodyOf(answer);
  const report = answer.status === 200 ? parseReport(body?.data) : undefined;
  if (report === undefined) throw failed(url, whyNot(answer.status, body?.error?.code, token !== undefined));
  return report;
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

interface ReportAnswer {
  readonly data?: unknown;
  readonly error?: { readonly code?: unknown };
}

function bodyOf({ body }: RawAnswer): ReportAnswer | undefined {
  try {
    return JSON.parse(new TextDecoder().decode(body)) ?? undefined;
  } catch {
    return undefined;
  }
}

function whyNot(status: number, code: unknown, hasToken: boolean): string {
  if (code === "control_token_required") {
    return hasToken
      ? "it does not take this --control-token."
      : "it asks for its token: give it with --control-token.";
  }
  if (status === 404) {
    return "there is no control plane at this URL: the server runs with --no-control, the instance is gone, or it is no sandbox.";
  }
  return `it answered ${status}, and not with a report. Is it a sandbox of this version?`;
}

function failed(url: URL, why: string): SandboxError {
  return new SandboxError("usage", `Failed to get the report from ${redactEncoded(url.href)}: ${why}`);
}
