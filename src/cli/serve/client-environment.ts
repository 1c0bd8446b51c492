import { promises as files, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join, resolve } from "node:path";
import { type ClientAddresses, clientEnvironment, environmentLines } from "../../node/client-variables.js";
import { writeFileAtomically } from "../../node/files/write-file.js";
import { javaTrustStore } from "../../node/java-trust-store.js";
import type { SandboxState } from "../../sandbox/sandbox.js";
import { announcedKeys } from "../../sandbox/secrets.js";
import type { InterceptingServer } from "../../server/serve.js";
import type { Interceptor } from "../../server/sockets/intercept.js";
import { quote } from "../../spec/schema/words.js";
import { tryToWrite, unwritable } from "../exit-codes.js";
import type { Io } from "../io.js";

/** Writes the environment for clients of a sandbox. Only its owner can read the file, because it contains keys. */
export async function writeEnvFile(
  file: string,
  cwd: string,
  world: SandboxState,
  addresses: ClientAddresses,
): Promise<void> {
  const { leftOut } = announcedKeys(world);
  const note = leftOut === 0 ? "" : `# ${leftOut} more keys: svc-sandbox keys ${world.name} --format env\n`;
  const text = environmentLines(clientEnvironment(world, addresses)) + note;
  const path = resolve(cwd, file);
  const write = () => writeFileAtomically(path, text, 0o600);
  tryToWrite(quote(file), write, "Name another file with --write-env.");
}

// Variables of another sandbox or the real API would send the command there, or real keys here.
const ours = /^SVC_(?:BASE_URL|CONTROL_URL|API_KEY|KEY_.+)$/;

/** Returns this process's environment with the variables for this sandbox's clients, and how to remove the files for it. */
export async function execEnvironment(
  own: Io["env"],
  world: SandboxState,
  server: InterceptingServer,
): Promise<{ readonly env: Io["env"]; readonly remove: () => void }> {
  const { certificate, controlToken, proxy } = server;
  const certificates = [proxy?.certificate, certificate].filter((pem) => pem !== undefined);
  const trust = certificates.length === 0 ? undefined : await writeTrust(certificates, own);
  const proxied =
    trust && proxy && (await proxyEnvironment(own, trust.variables.SVC_CA_FILE, server.url, proxy));
  const env = {
    ...Object.fromEntries(Object.entries(own).filter(([name]) => !ours.test(name))),
    ...clientEnvironment(world, server),
    // For `report`, and the command's other calls of the control plane.
    ...(controlToken !== undefined && { SVC_SANDBOX_CONTROL_TOKEN: controlToken }),
    ...trust?.variables,
    ...proxied,
  };
  return {
    env,
    remove: trust?.remove ?? (() => {}),
  };
}

// Writes certificates for clients to files in a separate folder.
async function writeTrust(certificates: readonly string[], { NODE_EXTRA_CA_CERTS: already }: Io["env"]) {
  const folder = await files
    .mkdtemp(join(tmpdir(), "svc-sandbox-"))
    .catch(
      unwritable(`the certificate for the command into ${quote(tmpdir())}`, "Name another folder in TMPDIR."),
    );
  const remove = () => {
    process.removeListener("exit", remove);
    rmSync(folder, { recursive: true, force: true });
  };
  // Also after a crash.
  process.once("exit", remove);
  const [file, forNode] = [join(folder, "ca.pem"), join(folder, "node-extra-ca.pem")];
  const bundle = certificates.map((pem) => `${pem.trimEnd()}\n`).join("");
  // There is only one such variable: certificates of the user stay trusted.
  const others = already ? await files.readFile(already, "utf8").catch(() => "") : "";
  await files.writeFile(file, bundle);
  await files.writeFile(forNode, bundle + others);
  return { variables: { SVC_CA_FILE: file, NODE_EXTRA_CA_CERTS: forNode }, remove };
}

const pem = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/**
 * Returns the variables that send a command's requests through the proxy of `--intercept`, and make it trust the
 * certificates in `file`.
 *
 * Authorities of real hosts are only added with `--pass-through`. Otherwise, most clients that ignore the proxy trust no
 * host with a key.
 */
async function proxyEnvironment(
  own: Io["env"],
  file: string,
  baseUrl: string,
  { port, passThrough }: Interceptor,
): Promise<Io["env"]> {
  const { rootCertificates } = process.getBuiltinModule("node:tls");
  const { SSL_CERT_FILE, CURL_CA_BUNDLE, REQUESTS_CA_BUNDLE, JAVA_TOOL_OPTIONS, PHP_INI_SCAN_DIR = "" } = own;
  const folder = dirname(file);
  const read = (name: string | undefined) => (name ? files.readFile(name, "utf8").catch(() => "") : "");
  const theirs = [SSL_CERT_FILE, CURL_CA_BUNDLE, REQUESTS_CA_BUNDLE].map(read);
  const others = passThrough ? [...rootCertificates, ...(await Promise.all(theirs))] : [];
  const trusted = [...new Set([await read(file), ...others].join("\n").match(pem))];
  const store = join(folder, "java.p12");
  await Promise.all([
    files.writeFile(file, `${trusted.join("\n")}\n`),
    files.writeFile(store, javaTrustStore(trusted)),
    files.writeFile(join(folder, "php.ini"), `curl.cainfo="${file}"\nopenssl.cafile="${file}"\n`),
  ]);
  const proxy = `http://127.0.0.1:${port}`;
  const direct = [...new Set(["localhost", "127.0.0.1", "::1", new URL(baseUrl).hostname])];
  const java = [
    ...["https", "http"].flatMap((name) => [`${name}.proxyHost=127.0.0.1`, `${name}.proxyPort=${port}`]),
    `http.nonProxyHosts=${["127.*", ...direct].join("|")}`,
    `javax.net.ssl.trustStore=${store}`,
    "javax.net.ssl.trustStoreType=PKCS12",
  ];
  return {
    // Ruby always reads the proxy for http.
    ...{ HTTPS_PROXY: proxy, https_proxy: proxy, HTTP_PROXY: proxy, http_proxy: proxy },
    ...{ NO_PROXY: direct.join(","), no_proxy: direct.join(",") },
    ...{ SSL_CERT_FILE: file, CURL_CA_BUNDLE: file, REQUESTS_CA_BUNDLE: file },
    // OpenSSL and Go also trust a folder.
    ...(!passThrough && { SSL_CERT_DIR: folder }),
    NODE_USE_ENV_PROXY: "1",
    // Of two conflicting options, the last one applies.
    JAVA_TOOL_OPTIONS: [JAVA_TOOL_OPTIONS ?? "", ...java.map((option) => `"-D${option}"`)].join(" ").trim(),
    // The empty part means PHP's own folder.
    PHP_INI_SCAN_DIR: `${PHP_INI_SCAN_DIR}${delimiter}${folder}`,
  };
}
