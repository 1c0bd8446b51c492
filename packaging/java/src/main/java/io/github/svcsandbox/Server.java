package io.github.svcsandbox;

import java.io.BufferedReader;
import java.io.File;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import org.junit.jupiter.api.extension.ExtensionContext.Store.CloseableResource;

/** The server of {@code svc-sandbox exec -- mvn test}, or one that ends with this JVM. */
final class Server implements CloseableResource {
  private static final String WAYS =
      " Do one of these:\n"
          + "- put the executable svc-sandbox on the PATH\n"
          + "- load the image: docker pull ghcr.io/svc-sandbox/svc-sandbox\n"
          + "- with Node, install the npm package svc-sandbox where the tests run\n"
          + "- set SVC_SANDBOX_BIN to the executable, or to docker:<image>";

  final String controlUrl;
  private final HttpClient http = client();
  private final int minimum;
  private String token = System.getenv("SVC_SANDBOX_CONTROL_TOKEN");
  private Process process;

  Server(int minimum) {
    this.minimum = minimum;
    String given = System.getenv("SVC_CONTROL_URL");
    try {
      controlUrl = given == null ? start() : given;
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  /** Trusts the certificate of {@code exec --tls}. */
  private static HttpClient client() {
    String file = System.getenv("SVC_CA_FILE");
    if (file == null) return HttpClient.newHttpClient();
    try (InputStream pem = new FileInputStream(file)) {
      KeyStore trusted = KeyStore.getInstance(KeyStore.getDefaultType());
      trusted.load(null, null);
      for (Certificate one : CertificateFactory.getInstance("X.509").generateCertificates(pem))
        trusted.setCertificateEntry("svc-sandbox-" + trusted.size(), one);
      TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
      trust.init(trusted);
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(null, trust.getTrustManagers(), null);
      return HttpClient.newBuilder().sslContext(context).build();
    } catch (IOException | GeneralSecurityException failure) {
      throw new IllegalStateException("Failed to read SVC_CA_FILE " + file + ": " + failure.getMessage(), failure);
    }
  }

  /** Prints the report. Under exec, exec does, and it checks the coverage. */
  @Override
  public void close() throws IOException {
    if (process == null) return;
    String report = send("GET", controlUrl + "/report", "").strip();
    // The text's last line, as exec prints it.
    String text = send("GET", controlUrl + "/report?format=text", "").strip();
    process.getOutputStream().close();
    int coverage = Integer.parseInt(report.replaceFirst(".*?\"percent\":(\\d+).*", "$1"));
    Pattern path = Pattern.compile("\"path_id\":\"([^\"]+)\",\"promised\":true,\"covered\":false.*?\"ref\":\"([^\"]+)\"");
    String missed = path.matcher(report).results().map(one -> " " + one.group(1) + " (" + one.group(2) + ")").collect(Collectors.joining());
    String line = "svc-sandbox: " + text.substring(text.lastIndexOf('\n') + 1);
    System.out.println(missed.isEmpty() ? line : line + " Not covered (send the key):" + missed);
    if (coverage < minimum) throw new AssertionError(line + " The minimum is " + minimum + "%.");
  }

  private String start() throws IOException {
    String program = program();
    List<String> start = List.of("start", "--until-stdin-ends", "--quiet", "--port", "0");
    List<String> command = new ArrayList<>(List.of(program));
    Path errors = Files.createTempFile("svc-sandbox", ".log");
    errors.toFile().deleteOnExit();
    ProcessBuilder builder = new ProcessBuilder(command).redirectError(errors.toFile());
    if (!program.startsWith("docker:")) command.addAll(start);
    else {
      int port;
      try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
        port = free.getLocalPort();
      }
      // A server that others can reach needs a token.
      if (token == null) token = UUID.randomUUID().toString();
      builder.environment().put("SVC_SANDBOX_CONTROL_TOKEN", token);
      command.clear();
      command.addAll(List.of("docker", "run", "--rm", "--interactive", "--env", "SVC_SANDBOX_CONTROL_TOKEN"));
      command.addAll(List.of("--publish", "127.0.0.1:" + port + ":4747"));
      command.addAll(List.of("--volume", new File("").getAbsolutePath() + ":/sandbox:ro", program.substring(7)));
      command.addAll(start.subList(0, 4));
      command.addAll(List.of("4747", "--public-url", "http://127.0.0.1:" + port));
    }
    // It ends when this stdin closes, even if the JVM crashes.
    process = builder.start();
    String line = new BufferedReader(new InputStreamReader(process.getInputStream())).readLine();
    if (line != null) return Sandbox.texts(line).get("control_url");
    // Its stdout ends before it does.
    process.onExit().join();
    String failed = "`" + String.join(" ", command) + "` did not start svc-sandbox:";
    throw new IllegalStateException(failed + "\n" + Files.readString(errors));
  }

  /** SVC_SANDBOX_BIN, svc-sandbox on the PATH, an image on this machine, or the package of npm. */
  private static String program() throws IOException {
    String given = System.getenv("SVC_SANDBOX_BIN");
    if (given != null && !given.isEmpty()) return given;
    List<String> path = List.of(System.getenv("PATH").split(File.pathSeparator));
    String found = in(path, "svc-sandbox");
    if (found == null && in(path, "docker") != null) {
      List<String> command = List.of("docker", "images", "--format", "docker:{{.Repository}}:{{.Tag}}", "--filter",
          "reference=svc-sandbox", "--filter", "reference=ghcr.io/svc-sandbox/svc-sandbox");
      Process images = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.DISCARD).start();
      // Without a running daemon it prints nothing.
      found = new BufferedReader(new InputStreamReader(images.getInputStream())).readLine();
    }
    for (File at = new File("").getAbsoluteFile(); found == null && at != null; at = at.getParentFile())
      found = in(List.of(at + File.separator + "node_modules/.bin"), "svc-sandbox");
    if (found == null) throw new IllegalStateException("svc-sandbox was not found." + WAYS);
    return found;
  }

  private static String in(List<String> folders, String name) {
    boolean isWindows = System.getProperty("os.name").startsWith("Windows");
    for (String folder : folders)
      for (String ending : isWindows ? List.of(".exe", ".cmd") : List.of("")) {
        File program = new File(folder, name + ending);
        if (program.isFile() && program.canExecute()) return program.getPath();
      }
    return null;
  }

  String send(String method, String url, String body) {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(url))
            .header("Content-Type", "application/json")
            .method(method, HttpRequest.BodyPublishers.ofString(body));
    if (token != null) request.header("Authorization", "Bearer " + token);
    try {
      HttpResponse<String> response = http.send(request.build(), HttpResponse.BodyHandlers.ofString());
      if (response.statusCode() >= 400) throw new IllegalStateException(method + " " + url + ": " + response.body());
      return response.body();
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(interrupted);
    }
  }
}
