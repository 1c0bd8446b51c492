import * as http from "node:http";
import * as https from "node:https";
import { SandboxError } from "../domain/errors.js";
import { redactEncoded } from "../domain/redact.js";
import { parseReport, type Report } from "../report/report.js";
import { describeConnectionError } from "./check-failure.js";
import { controlPath } from "./control-path.js";

/** How to ask a running sandbox. */
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
  const { status, body } = await ask(url, token, timeout);
  const report = status === 200 ? parseReport(body?.data) : undefined;
  if (report === undefined) throw failed(url, whyNot(status, body?.error?.code, token !== undefined));
  return report;
}

function reportUrl(given: string): URL {
  const url = URL.canParse(given.trim()) ? new URL(given.trim()) : undefined;
  const isHttp = url?.protocol === "http:" || url?.protocol === "https:";
  // What is not repeated may be a password.
  if (url === undefined || !isHttp || url.username !== "" || url.password !== "") {
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

interface Answered {
  readonly status: number;
  /** As JSON; `undefined` when it is none. */
  readonly body:
    | { readonly data?: unknown; readonly error?: { readonly code?: unknown } | undefined }
    | undefined;
}

// A timer for longer ends at once.
const longestTimer = 2 ** 31 - 1;

// Not `fetch`, which refuses some ports, and would take the token along on a redirect.
function ask(url: URL, token: string | undefined, timeout: number): Promise<Answered> {
  return new Promise((resolve, reject) => {
    const { request } = url.protocol === "https:" ? https : http;
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const signal = AbortSignal.timeout(Math.min(timeout, longestTimer));
    const fail = (error: NodeJS.ErrnoException) => {
      if (signal.aborted) return reject(failed(url, `no answer came within ${timeout / 1000} s.`));
      const { found, hint } = describeConnectionError(error);
      reject(failed(url, `${found}. ${hint}`));
    };
    const asking = request(url, { agent: false, headers, signal }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("error", fail);
      response.on("end", () =>
        resolve({ status: response.statusCode ?? 0, body: jsonOf(Buffer.concat(chunks).toString()) }),
      );
    });
    asking.on("error", fail);
    asking.end();
  });
}

function jsonOf(text: string): Answered["body"] {
  try {
    return JSON.parse(text) ?? undefined;
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
