import { promises as files } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { rootCertificates } from "node:tls";
import { javaTrustStore } from "../../node/java-trust-store.js";
import type { Interceptor } from "../../server/sockets/intercept.js";
import type { Io } from "../io.js";

const pem = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/**
 * Returns the variables that send a command's requests through the proxy of `--intercept`, and make it trust the
 * certificates in `file`.
 *
 * Authorities of real hosts are only added with `--pass-through`. Otherwise, most clients that ignore the proxy trust no
 * host with a key.
 */
export async function proxyEnvironment(
  own: Io["env"],
  file: string,
  baseUrl: string,
  { port, passThrough }: Interceptor,
): Promise<Io["env"]> {
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
