import { isLoopbackHost, isWildcard } from "../../node/addresses.js";
import type { Logger } from "../../node/logger.js";
import { nodeCrypto } from "../../node/platform.js";
import { alignColumns, shellWord } from "../../report/plain-text.js";
import { type Assumptions, assumptionsFor } from "../../rules/assumptions.js";
import { mePath } from "../../rules/outcomes.js";
import { redactKeys } from "../../rules/redact.js";
import { controlPath } from "../../rules/request-path.js";
import { listed } from "../../rules/schema/words.js";
import { isoOf } from "../../rules/time.js";
import type { SandboxState } from "../../sandbox/sandbox-state.js";
import { announcedKeys, defaultSecret, firstKeys, secretsFor } from "../../sandbox/secrets.js";
import type { RunningServer } from "../../server/serve.js";
import type { CommandCall } from "../command.js";
import type { Io } from "../io.js";
import { keyRows, keyTable, rejectedRows } from "../key-rows.js";
import type { Style } from "../terminal.js";
import type { ServeFlags } from "./serve-options.js";

interface AnnouncedFlags extends ServeFlags {
  readonly showKeys?: boolean;
  readonly json?: boolean;
  readonly detach?: boolean;
  readonly untilStdinEnds?: boolean;
  readonly open?: boolean;
}

type AnnouncedCall = Pick<CommandCall<AnnouncedFlags>, "flags" | "io">;

export const printsJson = ({ json, detach, untilStdinEnds }: AnnouncedFlags) =>
  json || detach || untilStdinEnds || false;

/** Prints what `start` prints once it accepts requests, and opens the dashboard if the flags ask for it. */
export function announce(
  sandbox: SandboxState,
  server: RunningServer,
  { flags, io }: AnnouncedCall,
  log: Logger,
): void {
  // Other people may read logs; only the caller reads the line of JSON.
  const showKeys = flags.showKeys ?? flags.log !== "json";
  const maskedText = showKeys ? (text: string) => text : redactKeys;
  // The user's own token is not printed again, and no other program gets it.
  const newToken = flags.controlToken === undefined ? server.controlToken : undefined;
  const shownToken = showKeys ? newToken : undefined;
  if (printsJson(flags)) {
    io.stdout.write(
      maskedText(listeningLine(sandbox, showKeys ? server : { ...server, controlToken: undefined })),
    );
  } else if (flags.quiet) {
    io.stdout.write(`${server.url}\n`);
    // A new token appears nowhere else.
    if (shownToken) io.stderr.write(`Control token: ${shownToken}\n`);
  } else {
    io.stdout.write(maskedText(banner(sandbox, server, io.stdout.style(), shownToken, io.program)));
  }
  if (newToken !== undefined && !showKeys) {
    log.note("The generated control token is hidden. Set one with --control-token, or add --show-keys.");
  }
  if (flags.open) openDashboard(server, newToken, io, log);
}

// Notes on who can reach the server: a proxy opens a control plane to others that only this machine would reach.
export function noteReach(
  { url, controlUrl, controlToken }: RunningServer,
  { flags }: AnnouncedCall,
  log: Logger,
): void {
  const { host = "", publicUrl, allowHosts = [] } = flags;
  if (isWildcard(host) && publicUrl === undefined) {
    log.note(
      `Other machines cannot use the address ${url}. Set theirs with --public-url http://<name>:<port>.`,
    );
  }
  const names = [...(publicUrl === undefined ? [] : [new URL(url).host]), ...allowHosts];
  if (controlUrl === undefined || controlToken !== undefined || names.every(isLoopbackHost)) return;
  log.note(
    `Anyone who reaches ${listed(names, "or")} can change this sandbox. Require a token with --control-token.`,
  );
}

const shownKeys = 40;

/** Returns the lines that `start` prints for people; with the control token only if it is new: the user knows their own. */
function banner(
  sandbox: SandboxState,
  server: RunningServer,
  style: Style,
  newToken: string | undefined,
  program: string,
): string {
  const { palette, width } = style;
  const { url, localUrl, controlUrl, certificate } = server;
  const { keys, leftOut } = firstKeys(sandbox, shownKeys);
  const rows = [...keyRows(sandbox, secretsFor(sandbox, keys)), ...rejectedRows(sandbox)];
  const lines = (facts: Readonly<Record<string, string | undefined>>) => {
    const factRows = Object.entries(facts).flatMap(([name, fact]) => (fact ? [[name, fact]] : []));
    return alignColumns(factRows).map((line) => `  ${line}`);
  };
  return [
    palette.bold(`svc-sandbox is listening on ${localUrl}`),
    "",
    ...lines({
      TLS: certificate && describeCertificate(certificate),
      Scenario: `${sandbox.name}, seed ${sandbox.seed}`,
      Clock: `${isoOf(sandbox.clock.now())}, ${sandbox.clock.isFrozen() ? "frozen" : "running"}`,
      Profile: profileText(sandbox),
    }),
    "",
    ...keyTable(rows, palette, width - 2).map((line) => `  ${line}`),
    ...(leftOut > 0 ? [`  … and ${leftOut} more: ${program} keys ${shellWord(sandbox.name)}`] : []),
    "",
    // In a small window, only the end is visible.
    ...lines({
      "Base URL": url,
      Control: controlUrl,
      Dashboard: controlUrl && dashboardLink(controlUrl, newToken),
      Token: newToken && `${newToken}  (for the control plane: Authorization: Bearer …)`,
    }),
    "",
    "Try it:",
    `  ${curlWithKey(sandbox, server)}`,
    "",
    "",
  ].join("\n");
}

function listeningLine(sandbox: SandboxState, server: RunningServer): string {
  const { url, localUrl, controlUrl, controlToken, certificate } = server;
  const { keys, leftOut } = announcedKeys(sandbox);
  const line = {
    event: "listening",
    base_url: url,
    local_url: localUrl === url ? undefined : localUrl,
    control_url: controlUrl ?? null,
    scenario: sandbox.name,
    seed: sandbox.seed,
    keys: secretsFor(sandbox, keys),
    ...(leftOut > 0 && { keys_left_out: leftOut }),
    control_token: controlToken,
    certificate,
  };
  return `${JSON.stringify(line)}\n`;
}

function describeCertificate(certificate: string): string {
  const { fingerprint256, issuer, subject } = new nodeCrypto.X509Certificate(certificate);
  return `${issuer === subject ? "self-signed" : "yours"}, SHA-256 ${fingerprint256}`;
}

function curlWithKey(sandbox: SandboxState, { url, certificate }: RunningServer): string {
  const secret = defaultSecret(sandbox);
  const header = secret === undefined ? "" : `-H "x-api-key: ${secret}" `;
  const target = shellWord(url + mePath);
  // Without -g, curl reads the brackets of an IPv6 address as a pattern.
  const literal = /[[{]/.test(target) ? "-g " : "";
  // Works with any certificate; a client that checks it needs the certificate.
  const unchecked = certificate === undefined ? "" : "-k ";
  return `curl -i ${unchecked}${header}${literal}${target}`;
}

function profileText({ profile, assumptions, endpoints }: SandboxState): string {
  const standard = assumptionsFor(profile, {}, endpoints);
  const changed = (Object.keys(assumptions) as (keyof Assumptions)[])
    .filter((name) => JSON.stringify(assumptions[name]) !== JSON.stringify(standard[name]))
    .map((name) => `${name}: ${JSON.stringify(assumptions[name])}`);
  return [profile, ...changed].join(", ");
}

// A new token follows `#`, which no log contains.
function dashboardLink(controlUrl: string, newToken: string | undefined): string {
  return `${controlUrl}/${newToken === undefined ? "" : `#token=${newToken}`}`;
}

function openDashboard(
  { localUrl }: RunningServer,
  newToken: string | undefined,
  { env }: Io,
  log: Logger,
): void {
  if (env.BROWSER === "none") return;
  const [program, ...words] = openerOf(env);
  const controlUrl = localUrl + controlPath;
  const failed = (reason: string) =>
    log.problem(`No browser was opened: ${reason}. Open the dashboard yourself: ${controlUrl}/`);
  // A shell would interpret the address, and Ctrl-C would end a process that is not detached.
  const { spawn } = process.getBuiltinModule("node:child_process");
  const link = dashboardLink(controlUrl, newToken);
  const child = spawn(program, [...words, link], { env, stdio: "ignore", detached: true });
  child.on("error", ({ code, message }: NodeJS.ErrnoException) =>
    failed(code === "ENOENT" ? `there is no ${program}` : message),
  );
  child.on("exit", (code) => {
    if (code !== 0 && code !== null) failed(`${program} ended with ${code}`);
  });
  // The browser may stay open longer than this process.
  child.unref();
}

function openerOf({ BROWSER, SystemRoot = "C:\\Windows" }: Io["env"]): [string, ...string[]] {
  // xdg-open handles lists of browsers.
  if (BROWSER && !/%s|:[^\\]/.test(BROWSER)) return [BROWSER];
  if (process.platform === "darwin") return ["open"];
  // Like `start`, but without cmd.exe.
  const rundll = `${SystemRoot}\\System32\\rundll32.exe`;
  return process.platform === "win32" ? [rundll, "url.dll,FileProtocolHandler"] : ["xdg-open"];
}
