import { isLoopbackHost } from "../node/host-names.js";
import type { Logger } from "../node/logger.js";
import { nodeCrypto } from "../node/platform.js";
import { shellWord } from "../report/curl-line.js";
import { alignColumns } from "../report/plain-text.js";
import { type Assumptions, resolveAssumptions } from "../rules/assumptions.js";
import { controlPath, mePath } from "../rules/known-paths.js";
import { isoTime } from "../rules/time.js";
import { runDue } from "../sandbox/operations/operations.js";
import type { SandboxState } from "../sandbox/sandbox-state.js";
import { announcedKeys, defaultSecret, firstKeys, secretsByRef, secretToSend } from "../sandbox/secrets.js";
import { listed } from "../schema/words.js";
import { isWildcard } from "../server/addresses.js";
import type { RunningServer } from "../server/serve.js";
import type { CommandCall } from "./command.js";
import type { Io } from "./io.js";
import { type KeyRow, keyRows, keyTable, nextResult } from "./key-rows.js";
import { controlTokenOf, type StartFlags } from "./shared-flags.js";
import type { Style } from "./terminal.js";

/** Whether the program that starts the server reads its announcement, a line of JSON, and no person does. */
function isForProgram({ json, detach, untilStdinEnds }: StartFlags): boolean {
  return json === true || detach === true || untilStdinEnds === true;
}

/**
 * Announces a server once everything runs. People read the announcement first, then notes and warnings. For a program it comes last,
 * because the program may stop reading after it.
 */
export async function announce(
  sandbox: SandboxState,
  server: RunningServer,
  call: Pick<CommandCall<StartFlags>, "flags" | "io">,
  log: Logger,
  warn: () => Promise<void>,
): Promise<void> {
  const { flags } = call;
  if (!isForProgram(flags)) printAnnouncement(sandbox, server, call, log);
  noteOpenAddresses(server, flags, log);
  await warn();
  if (isForProgram(flags)) printAnnouncement(sandbox, server, call, log);
}

/** Prints what `start` prints once it accepts requests, and opens the dashboard if the flags ask for it. */
function printAnnouncement(
  sandbox: SandboxState,
  server: RunningServer,
  { flags, io }: Pick<CommandCall<StartFlags>, "flags" | "io">,
  log: Logger,
): void {
  // It shows what each key gets now.
  runDue(sandbox);
  // Other people may read logs: with a log of JSON, keys and the token are hidden, unless a flag asks for them.
  const { showKeys: showsSecrets = flags.log !== "json" } = flags;
  const print = showsSecrets ? io.stdout.printSecret : io.stdout.write;
  // People know a token that they have set, and so do their browsers; the program that starts the server gets each token.
  const { controlToken } = server;
  const isGenerated = controlToken !== controlTokenOf(flags, io);
  const isTokenShown = showsSecrets && (isGenerated || isForProgram(flags));
  const shownToken = isTokenShown ? controlToken : undefined;

  if (isForProgram(flags)) {
    print(listeningLine(sandbox, server, shownToken));
  } else if (flags.quiet) {
    io.stdout.write(`${server.url}\n`);
    // A generated token appears nowhere else.
    if (shownToken) io.stderr.write(`Control token: ${shownToken}\n`);
  } else {
    print(banner(sandbox, server, io.stdout.style(), shownToken, io.program));
  }

  if (isGenerated && !isTokenShown) {
    log.note("The generated control token is hidden. Set one with --control-token, or add --show-keys.");
  }
  if (flags.open) openDashboard(server, isGenerated ? controlToken : undefined, io, log);
}

/** Notes who can reach the server: a proxy opens a control plane to others that only this machine would reach. */
function noteOpenAddresses(server: RunningServer, flags: StartFlags, log: Logger): void {
  const { url } = server;
  const { host = "", publicUrl, allowHosts = [] } = flags;
  if (isWildcard(host) && publicUrl === undefined) {
    log.note(
      `Other machines cannot use the address ${url}. Set theirs with --public-url http://<name>:<port>.`,
    );
  }

  if (server.controlUrl === undefined || server.controlToken !== undefined) return;
  const names = publicUrl === undefined ? allowHosts : [new URL(url).host, ...allowHosts];
  if (names.every(isLoopbackHost)) return;
  log.note(
    `Anyone who reaches ${listed(names, "or")} can change this sandbox. Require a token with --control-token.`,
  );
}

/** Returns the lines that `start` prints for people; with the control token if it is shown. */
function banner(
  sandbox: SandboxState,
  server: RunningServer,
  style: Style,
  shownToken: string | undefined,
  program: string,
): string {
  const { palette, width } = style;
  const { controlUrl, certificate } = server;
  const { name, seed, clock } = sandbox;
  const indented = (line: string) => `  ${line}`;

  // First the address of this machine. The public one is below, as the base URL.
  const lines = [palette.bold(`svc-sandbox is listening on ${server.localUrl}`), ""];
  const facts = [
    ["Scenario", `${name}, seed ${seed}`],
    ["Clock", `${isoTime(clock.now())}, ${clock.isFrozen() ? "frozen" : "running"}`],
    ["Profile", profileText(sandbox)],
  ];
  if (certificate !== undefined) {
    const { fingerprint256, issuer, subject } = new nodeCrypto.X509Certificate(certificate);
    const signer = issuer === subject ? "self-signed" : "yours";
    facts.unshift(["TLS", `${signer}, SHA-256 ${fingerprint256}`]);
  }
  lines.push(...alignColumns(facts).map(indented), "");

  const { keys, leftOut } = firstKeys(sandbox);
  const rows: KeyRow[] = keyRows(sandbox, secretsByRef(sandbox, keys));
  // The reserved refs that have a secret, which `keys` does not list.
  for (const ref of ["malformed", "unknown"]) {
    rows.push({ ref, secret: secretToSend(sandbox, ref), ...nextResult(sandbox, ref) });
  }
  lines.push(...keyTable(rows, palette, width - 2).map(indented));
  if (leftOut > 0) lines.push(`  … and ${leftOut} more: ${program} keys ${shellWord(name)}`);
  lines.push("");

  // The addresses come last: in a small window, only the end is visible.
  const addresses = [["Base URL", server.url]];
  if (controlUrl !== undefined) {
    addresses.push(["Control", controlUrl], ["Dashboard", dashboardLink(controlUrl, shownToken)]);
  }
  if (shownToken) {
    addresses.push(["Token", `${shownToken}  (for the control plane: Authorization: Bearer …)`]);
  }
  lines.push(...alignColumns(addresses).map(indented), "");
  lines.push("Try it:", `  ${curlWithKey(sandbox, server)}`, "", "");
  return lines.join("\n");
}

/** Returns the line of JSON that `start` prints for programs. JSON leaves out what is undefined. */
function listeningLine(sandbox: SandboxState, server: RunningServer, shownToken: string | undefined): string {
  const { url, localUrl } = server;
  const { keys, leftOut } = announcedKeys(sandbox);
  const line = {
    event: "listening",
    base_url: url,
    local_url: localUrl === url ? undefined : localUrl,
    control_url: server.controlUrl ?? null,
    scenario: sandbox.name,
    seed: sandbox.seed,
    keys: secretsByRef(sandbox, keys),
    keys_left_out: leftOut > 0 ? leftOut : undefined,
    control_token: shownToken,
    certificate: server.certificate,
  };
  return `${JSON.stringify(line)}\n`;
}

/** A first request with a key, for the user to paste. */
function curlWithKey(sandbox: SandboxState, server: RunningServer): string {
  const target = shellWord(server.url + mePath);
  const secret = defaultSecret(sandbox);
  const words = ["curl -i"];
  // With -k, curl takes any certificate; a client that checks it needs the certificate.
  if (server.certificate !== undefined) words.push("-k");
  if (secret !== undefined) words.push(`-H "x-api-key: ${secret}"`);
  // Without -g, curl reads the brackets of an IPv6 address as a pattern.
  if (/[[{]/.test(target)) words.push("-g");
  words.push(target);
  return words.join(" ");
}

/** The profile, and the assumptions that differ from it. */
function profileText({ profile, assumptions, endpoints }: SandboxState): string {
  const assumptionsOfProfile = resolveAssumptions(profile, {}, endpoints);
  const parts: string[] = [profile];
  for (const name of Object.keys(assumptions) as (keyof Assumptions)[]) {
    const value = JSON.stringify(assumptions[name]);
    if (value !== JSON.stringify(assumptionsOfProfile[name])) parts.push(`${name}: ${value}`);
  }
  return parts.join(", ");
}

/** The address of the dashboard. A generated token follows `#`, which no log contains. */
function dashboardLink(controlUrl: string, generatedToken: string | undefined): string {
  if (generatedToken === undefined) return `${controlUrl}/`;
  return `${controlUrl}/#token=${generatedToken}`;
}

/** Opens the dashboard of a server in the browser. */
function openDashboard(
  server: RunningServer,
  generatedToken: string | undefined,
  { env }: Io,
  log: Logger,
): void {
  if (env.BROWSER === "none") return;
  const controlUrl = server.localUrl + controlPath;
  // A shell would interpret the address, and Ctrl-C would end a process that is not detached.
  const { spawn } = process.getBuiltinModule("node:child_process");
  const [program, ...words] = findOpener(env);
  const link = dashboardLink(controlUrl, generatedToken);
  const child = spawn(program, [...words, link], { env, stdio: "ignore", detached: true });
  const reportFailure = (reason: string) => {
    log.problem(`No browser was opened: ${reason}. Open the dashboard yourself: ${controlUrl}/`);
  };
  child.on("error", ({ code, message }: NodeJS.ErrnoException) => {
    reportFailure(code === "ENOENT" ? `there is no ${program}` : message);
  });
  child.on("exit", (code) => {
    if (code) reportFailure(`${program} ended with ${code}`);
  });
  // The browser may stay open longer than this process.
  child.unref();
}

/** The program that opens an address in the browser, and its arguments before the address. */
function findOpener({ BROWSER, SystemRoot = "C:\\Windows" }: Io["env"]): [string, ...string[]] {
  // A list of browsers, or a command with a place for the address, is for xdg-open.
  if (BROWSER && !/%s|:[^\\]/.test(BROWSER)) return [BROWSER];
  if (process.platform === "darwin") return ["open"];
  if (process.platform !== "win32") return ["xdg-open"];
  // Like `start`, but without cmd.exe.
  return [`${SystemRoot}\\System32\\rundll32.exe`, "url.dll,FileProtocolHandler"];
}
