import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { createSecureContext, type SecureContext } from "node:tls";
import { bareName, nameIn } from "../../node/addresses.js";
import { didYouMean, listed } from "../../rules/schema/words.js";
import { closeServer, followConnections, listenOn } from "./connections.js";
import type { HttpServer, ServerCertificate } from "./http-server.js";
import type { Interceptor } from "./server-state.js";
import { makeCertificate } from "./tls.js";

/** The private key of the certificate authority stays in memory. */
export async function startInterceptor(
  hosts: readonly string[],
  passThrough: boolean,
  open: (certificate: ServerCertificate) => HttpServer,
): Promise<Interceptor> {
  // Differs from the subject of its certificates: otherwise OpenSSL takes them for self-signed.
  const issuer = await makeCertificate({ subject: "svc-sandbox, for one run", hosts });
  // One context for each name: few clients accept a wildcard for several labels, or `*.example`.
  const contextOf = keepRecent(maxContexts, (name) =>
    makeCertificate({ names: [name], issuer }).then(createSecureContext),
  );
  const SNICallback = (sent: string, done: (error: Error | null, context?: SecureContext) => void) => {
    const name = sent.toLowerCase();
    if (!isOurs(name)) return done(new Error(`${name} is not intercepted`));
    contextOf(name).then((one) => done(null, one), done);
  };
  const isOurs = (host: string) => hosts.some((pattern) => covers(pattern, host));
  /** The hosts that clients connected to, and whether they sent a request. */
  const reached = new Map<string, boolean>();
  const rejected = new Set<string>();
  const reject = (host: string) => {
    if (host === "") return "this is the proxy of svc-sandbox, and the request names no host";
    rejected.add(host);
    return `svc-sandbox rejects ${host}: add --intercept ${host}, or --pass-through to reach the real host`;
  };
  const inside = open({ ...(await makeCertificate({ names: hosts, issuer })), SNICallback });
  inside.server.prependListener("request", ({ headers: { host = "" } }: IncomingMessage) => {
    reached.set(nameIn(host), true);
  });

  const proxy = process.getBuiltinModule("node:http").createServer((request, response) => {
    const target = readUrl(request.url);
    const host = target?.hostname ?? "";
    // Old versions of axios also send https URLs like this.
    if (isOurs(host)) inside.server.emit("request", request, response);
    else if (passThrough && target !== undefined) forward(target, request, response);
    else response.writeHead(403, { "Content-Type": "text/plain" }).end(reject(host));
  });
  proxy.on("connect", ({ url = "" }: IncomingMessage, socket: Socket, head: Buffer) => {
    // Node removes its own listeners.
    socket.on("error", () => socket.destroy());
    const target = readUrl(`https://${url}`);
    const host = target?.hostname ?? "";
    if (isOurs(host)) {
      reached.set(host, reached.get(host) ?? false);
      socket.write(established);
      socket.unshift(head);
      inside.server.emit("connection", socket);
    } else if (passThrough && target !== undefined) tunnel(target, socket, head);
    else end(socket, `403 ${reject(host)}`);
  });
  const outside = followConnections(proxy);
  const { port } = await listenOn(proxy, 0, "127.0.0.1");
  return {
    port,
    certificate: issuer.cert,
    passThrough,
    close: (grace: number) => closeServer(proxy, new Set([...outside, ...inside.open]), grace),
    notes: () => interceptNotes(hosts, reached, rejected),
  };
}

function covers(pattern: string, host: string): boolean {
  return pattern.startsWith("*.") ? host.endsWith(pattern.slice(1)) : host === pattern;
}

/** What a person should know about the hosts: which got no request, and which were rejected. */
function interceptNotes(
  hosts: readonly string[],
  reached: ReadonlyMap<string, boolean>,
  rejected: ReadonlySet<string>,
): string[] {
  const pinned = [...reached].flatMap(([host, hasRequest]) => (hasRequest ? [] : [host]));
  const missed = hosts.filter((pattern) => ![...reached.keys()].some((host) => covers(pattern, host)));
  const notes = [
    pinned.length > 0 &&
      `Your client connected to ${listed(pinned, "and")} and sent no request: it rejects the sandbox's certificate. It pins the real one, or trusts other files than SVC_CA_FILE.`,
    rejected.size > 0 &&
      `Rejected connections to ${listed([...rejected], "and")}. Add --intercept for a host of the API, or --pass-through to reach the real hosts.`,
    reached.size + rejected.size === 0 &&
      "Nothing came through the proxy of --intercept: your client ignores HTTPS_PROXY, as Node before 22.21 does, or a tool in between drops the environment.",
    reached.size + rejected.size > 0 &&
      missed.length > 0 &&
      `Nothing called ${listed(missed, "or")}.${didYouMean(missed[0] as string, [...rejected])}`,
  ];
  return notes.filter((note) => note !== false);
}

// A client may send a new name in each TLS hello.
const maxContexts = 100;

function keepRecent<Value>(max: number, make: (name: string) => Value): (name: string) => Value {
  const kept = new Map<string, Value>();
  return (name) => {
    const value = kept.get(name) ?? make(name);
    // A map has the order in which its names were set.
    kept.delete(name);
    kept.set(name, value);
    if (kept.size > max) kept.delete(kept.keys().next().value as string);
    return value;
  };
}

const established = "HTTP/1.1 200 Connection Established\r\n\r\n";

function readUrl(url = ""): URL | undefined {
  return /^https?:/i.test(url) && URL.canParse(url) ? new URL(url) : undefined;
}

// Node leaves out the message if it has tried several addresses.
const unreachable = (host: string, { code, message }: NodeJS.ErrnoException) =>
  `svc-sandbox cannot pass this through to ${host}: ${code ?? message}`;

function tunnel({ hostname, port, host }: URL, socket: Socket, head: Buffer): void {
  const remote = process.getBuiltinModule("node:net").connect(Number(port || 443), bareName(hostname), () => {
    socket.write(established);
    remote.write(head);
    socket.pipe(remote).pipe(socket);
  });
  remote.on("error", (error) => {
    if (socket.bytesWritten === 0) end(socket, `502 ${unreachable(host, error)}`);
    else socket.destroy();
  });
  socket.once("close", () => remote.destroy());
}

function forward(target: URL, request: IncomingMessage, response: ServerResponse): void {
  const fail = (error: NodeJS.ErrnoException) => {
    if (response.headersSent) response.destroy();
    // Not the response, which may have kept parts of a message.
    else end(request.socket, `502 ${unreachable(target.host, error)}`);
  };
  // Node throws for messages that it reads but does not write, such as a status of 000.
  const attempt = (work: () => void) => {
    try {
      work();
    } catch (error) {
      fail(error as Error);
    }
  };
  attempt(() => {
    const { request: send } = process.getBuiltinModule(
      `node:${target.protocol === "https:" ? "https" : "http"}`,
    );
    const sent = send(target, { method: request.method, headers: request.headers }, (received) => {
      attempt(() => {
        response.writeHead(received.statusCode ?? 502, received.rawHeaders);
        received.once("error", fail).pipe(response);
      });
    });
    sent.on("error", fail);
    sent.on("upgrade", () => fail(new Error("it changes the protocol")));
    response.once("close", () => sent.destroy());
    sent.flushHeaders();
    request.pipe(sent);
  });
}

// Clients show only the reason phrase of the status.
function end(socket: Duplex, status: string): void {
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
}
