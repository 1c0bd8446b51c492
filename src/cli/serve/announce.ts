import { isLoopbackHost } from "../../node/host-names.js";
import type { Logger } from "../../node/logger.js";
import { nodeCrypto } from "../../node/platform.js";
import { shellWord } from "../../report/curl-line.js";
import { alignColumns } from "../../report/plain-text.js";
import { type Assumptions, resolveAssumptions } from "../../rules/assumptions.js";
import { redactPlainKeys } from "../../rules/keys/redact.js";
import { mePath } from "../../rules/known-paths.js";
import { isoTime } from "../../rules/time.js";
import { runDue } from "../../sandbox/operations/run-due.js";
import type { SandboxState } from "../../sandbox/sandbox-state.js";
import { defaultSecret, secretsByRef } from "../../sandbox/secrets.js";
import { announcedKeys, firstKeys } from "../../sandbox/shown-keys.js";
import { listed } from "../../schema/words.js";
import { isWildcard } from "../../server/addresses.js";
import type { RunningServer } from "../../server/serve.js";
import type { CommandCall } from "../command.js";
import { keyRows, keyTable, rowsOfReservedRefs } from "../output/key-rows.js";
import type { Style } from "../output/terminal.js";
import { dashboardLink, openDashboard } from "./open-dashboard.js";
import { noteRefusedPort } from "./refused-ports.js";
import type { ServeFlags } from "./serve-options.js";

/** The flags that decide what the announcement shows, and where. */
export interface AnnouncedFlags extends ServeFlags {
  readonly showKeys?: boolean;
  readonly json?: boolean;
  readonly detach?: boolean;
  readonly untilStdinEnds?: boolean;
  readonly open?: boolean;
}

type AnnouncedCall = Pick<CommandCall<AnnouncedFlags>, "flags" | "io">;

type AnnouncementKind = "json_line" | "url" | "banner";

/** How the server is announced: by a line of JSON for the program that starts it, or to people. */
export function announcementKind(flags: AnnouncedFlags): AnnouncementKind {
  if (flags.json || flags.detach || flags.untilStdinEnds) return "json_line";
  return flags.quiet ? "url" : "banner";
}

/** Prints what `start` prints once it accepts requests, and opens the dashboard if the flags ask for it. */
export function announce(
  sandbox: SandboxState,
  server: RunningServer,
  { flags, io }: AnnouncedCall,
  log: Logger,
): void {
  // It shows what each key gets now.
  runDue(sandbox);
  const kind = announcementKind(flags);
  const hideKeys = showsSecrets(flags) ? (text: string) => text : redactPlainKeys;
  const { shownToken, generatedToken } = announcedToken(server, kind, flags);

  switch (kind) {
    case "json_line":
      io.stdout.write(hideKeys(listeningLine(sandbox, server, shownToken)));
      break;
    case "url":
      io.stdout.write(`${server.url}\n`);
      // A generated token appears nowhere else.
      if (shownToken) io.stderr.write(`Control token: ${shownToken}\n`);
      break;
    case "banner":
      io.stdout.write(hideKeys(banner(sandbox, server, io.stdout.style(), shownToken, io.program)));
      break;
  }

  if (generatedToken !== undefined && shownToken === undefined) {
    log.note("The generated control token is hidden. Set one with --control-token, or add --show-keys.");
  }
  if (flags.open) openDashboard(server, generatedToken, io, log);
}

/** Whether keys and the token are printed. Other people may read logs, so not with a log of JSON, unless a flag asks for it. */
function showsSecrets({ showKeys, log }: AnnouncedFlags): boolean {
  return showKeys ?? log !== "json";
}

interface AnnouncedToken {
  /** The control token that the announcement shows. */
  readonly shownToken?: string | undefined;
  /** The control token if the server has made it: people know a token that they have set, and so do their browsers. */
  readonly generatedToken: string | undefined;
}

function announcedToken(
  { controlToken }: RunningServer,
  kind: AnnouncementKind,
  flags: AnnouncedFlags,
): AnnouncedToken {
  const generatedToken = flags.controlToken === undefined ? controlToken : undefined;
  if (!showsSecrets(flags)) return { generatedToken };
  // The program that starts the server gets each token.
  if (kind === "json_line") return { generatedToken, shownToken: controlToken };
  return { generatedToken, shownToken: generatedToken };
}

/** Notes who can reach the server: a proxy opens a control plane to others that only this machine would reach. */
export function noteOpenAddresses(server: RunningServer, { flags }: AnnouncedCall, log: Logger): void {
  const { url } = server;
  noteRefusedPort(server, log);
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
  const { controlUrl } = server;
  const { keys, leftOut } = firstKeys(sandbox);
  const rows = [...keyRows(sandbox, secretsByRef(sandbox, keys)), ...rowsOfReservedRefs(sandbox)];

  // First the address of this machine. The public one is below, as the base URL.
  const lines = [palette.bold(`svc-sandbox is listening on ${server.localUrl}`), ""];
  lines.push(...alignColumns(sandboxFacts(sandbox, server.certificate)).map(indented), "");
  lines.push(...keyTable(rows, palette, width - 2).map(indented));
  if (leftOut > 0) lines.push(`  … and ${leftOut} more: ${program} keys ${shellWord(sandbox.name)}`);
  lines.push("");

  // The addresses come last: in a small window, only the end is visible.
  const addresses: Fact[] = [["Base URL", server.url]];
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

type Fact = readonly [name: string, value: string];

/** What kind of sandbox it is. */
function sandboxFacts(sandbox: SandboxState, certificate: string | undefined): Fact[] {
  const { name, seed, clock } = sandbox;
  const facts: Fact[] = [];
  if (certificate !== undefined) facts.push(["TLS", describeCertificate(certificate)]);
  facts.push(["Scenario", `${name}, seed ${seed}`]);
  facts.push(["Clock", `${isoTime(clock.now())}, ${clock.isFrozen() ? "frozen" : "running"}`]);
  facts.push(["Profile", profileText(sandbox)]);
  return facts;
}

function indented(line: string): string {
  return `  ${line}`;
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

/** Who has signed a certificate, and its fingerprint. */
function describeCertificate(certificate: string): string {
  const { fingerprint256, issuer, subject } = new nodeCrypto.X509Certificate(certificate);
  const signer = issuer === subject ? "self-signed" : "yours";
  return `${signer}, SHA-256 ${fingerprint256}`;
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
