import { isLoopbackHost, isWildcard } from "../node/host-names.js";
import type { Logger } from "../node/logger.js";
import { nodeCrypto } from "../node/platform.js";
import { shellWord } from "../report/curl-line.js";
import { alignColumns } from "../report/plain-text.js";
import { type Assumptions, resolveAssumptions } from "../rules/assumptions.js";
import { mePath } from "../rules/paths.js";
import { isoTime } from "../rules/time.js";
import { runDue } from "../sandbox/operations/operations.js";
import type { SandboxState } from "../sandbox/sandbox-state.js";
import { defaultSecret, firstKeys, secretsByRef, secretToSend } from "../sandbox/secrets.js";
import { listed } from "../schema/words.js";
import type { RunningServer } from "../server/serve.js";
import type { CommandCall } from "./command.js";
import { type KeyRow, keyRows, keyTable, nextResult } from "./key-rows.js";
import { controlTokenOf, type StartFlags } from "./shared-flags.js";
import type { Style } from "./terminal.js";

/**
 * Announces a server once everything runs. People read the announcement first, then notes and warnings. For the program that starts
 * the server, it is a line of JSON, and comes last: the program may stop reading after it.
 */
export async function announce(
  sandbox: SandboxState,
  server: RunningServer,
  { flags, io }: Pick<CommandCall<StartFlags>, "flags" | "io">,
  log: Logger,
  warn: () => Promise<void>,
): Promise<void> {
  const isForProgram = flags.json || flags.detach || flags.untilStdinEnds;
  // Other people may read logs: with a log of JSON, keys and the token are hidden, unless a flag asks for them.
  const { showKeys: showsSecrets = flags.log !== "json" } = flags;
  const print = showsSecrets ? io.stdout.printSecret : io.stdout.write;
  // People know a token that they have set, and so do their browsers; the program that starts the server gets each token.
  const { controlToken } = server;
  const isGenerated = controlToken !== undefined && controlTokenOf(flags, io) === undefined;
  const isTokenShown = showsSecrets && (isGenerated || isForProgram);
  const shownToken = isTokenShown ? controlToken : undefined;
  const isTokenHidden = isGenerated && !isTokenShown;
  // It shows what each key gets now.
  runDue(sandbox);

  if (isForProgram) {
    noteAccess(server, flags, isTokenHidden, log);
    await warn();
    print(listeningLine(sandbox, server, shownToken));
    return;
  }
  if (flags.quiet) {
    io.stdout.write(`${server.url}\n`);
    // A generated token appears nowhere else.
    if (shownToken) io.stderr.write(`Control token: ${shownToken}\n`);
  } else print(banner(sandbox, server, io.stdout.style(), shownToken, io.program));
  noteAccess(server, flags, isTokenHidden, log);
  await warn();
}

/** Notes who can reach the server: a proxy opens a control plane to others that only this machine would reach. */
function noteAccess(server: RunningServer, flags: StartFlags, isTokenHidden: boolean, log: Logger): void {
  if (isTokenHidden) {
    log.note("The generated control token is hidden. Set one with --control-token, or add --show-keys.");
  }
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

/** More keys are not in the table, which a person reads. */
const mostRows = 40;

/** Returns the lines that `start` prints for people; with the control token if it is shown. */
function banner(
  sandbox: SandboxState,
  server: RunningServer,
  { palette, width }: Style,
  shownToken: string | undefined,
  program: string,
): string {
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

  const { keys, leftOut } = firstKeys(sandbox, mostRows);
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
    // No log contains what follows `#`.
    const access = shownToken === undefined ? "" : `#token=${shownToken}`;
    addresses.push(["Control", controlUrl], ["Dashboard", `${controlUrl}/${access}`]);
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
  const { keys, leftOut } = firstKeys(sandbox);
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
