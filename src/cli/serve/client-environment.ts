import { promises as files, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { clientEnvironment } from "../../node/client-variables.js";
import { javaTrustStore } from "../../node/java-trust-store.js";
import { quote } from "../../rules/schema/words.js";
import type { SandboxState } from "../../sandbox/sandbox.js";
import type { InterceptingServer } from "../../server/serve.js";
import { unwritable } from "../exit-codes.js";
import type { Io } from "../io.js";

// Variables of another sandbox or the real API would send the command there, or real keys here.
const ours = /^SVC_(?:BASE_URL|CONTROL_URL|API_KEY|KEY_.+)$/;

/** The hosts that a command must not reach over a proxy of the network, added to its own; none without a proxy. */
export function directHosts(own: Io["env"], baseUrl: string): readonly string[] {
  const hasProxy = Object.keys(own).some((name) => /^(?:https?|all)_proxy$/i.test(name) && own[name]);
  if (!hasProxy) return [];
  const theirs = `${own.NO_PROXY ?? ""},${own.no_proxy ?? ""}`.split(",").map((host) => host.trim());
  return [...new Set([...theirs.filter(Boolean), ...localHosts(baseUrl)])];
}

const localHosts = (baseUrl: string) => ["localhost", "127.0.0.1", "::1", new URL(baseUrl).hostname];

export async function execEnvironment(
  own: Io["env"],
  sandbox: SandboxState,
  server: InterceptingServer,
  runFolder: string,
): Promise<{ readonly env: Io["env"]; readonly remove: () => void }> {
  const { certificate, controlToken, proxy } = server;
  const certificates = [proxy?.certificate, certificate].filter((pem) => pem !== undefined);
  const others = proxy === undefined || proxy.passThrough;
  const trust = certificates.length === 0 ? undefined : await writeTrust(certificates, own, others);
  const proxied = proxy && proxyVariables(server.url, proxy.port);
  const direct = directHosts(own, server.url).join(",");
  // Of two conflicting options, the last one applies.
  const java = [
    own.JAVA_TOOL_OPTIONS,
    ...[...(proxied?.java ?? []), ...(trust?.java ?? [])].map((one) => `"-D${one}"`),
  ];
  const env = {
    ...Object.fromEntries(Object.entries(own).filter(([name]) => !ours.test(name))),
    ...clientEnvironment(sandbox, server),
    SVC_SANDBOX_RUN: runFolder,
    // For `report`, and the command's other calls of the control plane.
    ...(controlToken !== undefined && { SVC_SANDBOX_CONTROL_TOKEN: controlToken }),
    ...(direct !== "" && { NO_PROXY: direct, no_proxy: direct }),
    ...trust?.variables,
    ...proxied?.variables,
    ...(trust && { JAVA_TOOL_OPTIONS: java.join(" ").trim() }),
  };
  return {
    env,
    remove: trust?.remove ?? (() => {}),
  };
}

const pem = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** Adds authorities of real hosts only for `others`: most clients that ignore the proxy then trust no host with a key. */
async function writeTrust(certificates: readonly string[], own: Io["env"], others: boolean) {
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
  const {
    SSL_CERT_FILE,
    CURL_CA_BUNDLE,
    REQUESTS_CA_BUNDLE,
    NODE_EXTRA_CA_CERTS,
    PHP_INI_SCAN_DIR = "",
  } = own;
  const [file, forNode] = [join(folder, "ca.pem"), join(folder, "node-extra-ca.pem")];
  const store = join(folder, "java.p12");
  const textOf = (name: string | undefined) => (name ? files.readFile(name, "utf8").catch(() => "") : "");
  const theirs = await Promise.all([SSL_CERT_FILE, CURL_CA_BUNDLE, REQUESTS_CA_BUNDLE].map(textOf));
  const { rootCertificates } = process.getBuiltinModule("node:tls");
  const bundle = [...certificates, ...(others ? [...rootCertificates, ...theirs] : [])];
  const trusted = [...new Set(bundle.join("\n").match(pem))];
  await Promise.all([
    files.writeFile(file, `${trusted.join("\n")}\n`),
    // There is only one such variable: certificates of the user stay trusted.
    files.writeFile(forNode, `${certificates.join("\n")}\n${await textOf(NODE_EXTRA_CA_CERTS)}`),
    files.writeFile(store, javaTrustStore(trusted)),
    files.writeFile(join(folder, "php.ini"), `curl.cainfo="${file}"\nopenssl.cafile="${file}"\n`),
  ]);
  const variables = {
    SVC_CA_FILE: file,
    SSL_CERT_FILE: file,
    CURL_CA_BUNDLE: file,
    REQUESTS_CA_BUNDLE: file,
    // OpenSSL and Go also trust a folder.
    ...(!others && { SSL_CERT_DIR: folder }),
    NODE_EXTRA_CA_CERTS: forNode,
    // The empty part means PHP's own folder.
    PHP_INI_SCAN_DIR: `${PHP_INI_SCAN_DIR}${delimiter}${folder}`,
  };
  const java = [`javax.net.ssl.trustStore=${store}`, "javax.net.ssl.trustStoreType=PKCS12"];
  return { variables, java, remove };
}

function proxyVariables(baseUrl: string, port: number) {
  const proxy = `http://127.0.0.1:${port}`;
  const direct = [...new Set(localHosts(baseUrl))];
  const variables = {
    // Ruby always reads the proxy for http.
    HTTPS_PROXY: proxy,
    https_proxy: proxy,
    HTTP_PROXY: proxy,
    http_proxy: proxy,
    NO_PROXY: direct.join(","),
    no_proxy: direct.join(","),
    NODE_USE_ENV_PROXY: "1",
  };
  const java = [
    ...["https", "http"].flatMap((name) => [`${name}.proxyHost=127.0.0.1`, `${name}.proxyPort=${port}`]),
    `http.nonProxyHosts=${["127.*", ...direct].join("|")}`,
  ];
  return { variables, java };
}
