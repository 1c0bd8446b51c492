package io.github.svcsandbox;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
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
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.TimeUnit;

/** A process of svc-sandbox with one sandbox. */
final class SandboxProcess {
  private static final HttpClient http = HttpClient.newHttpClient();

  private final Process process;
  private final Path errors = Files.createTempFile("svc-sandbox", ".log");
  private final Map<String, String> started;
  private String token = System.getenv("SVC_SANDBOX_CONTROL_TOKEN");

  SandboxProcess(String program) throws IOException {
    List<String> start = List.of("start", "--until-stdin-ends", "--show-keys", "--quiet", "--port", "0");
    List<String> command = new ArrayList<>(List.of(program));
    if (!program.startsWith("docker:")) command.addAll(start);
    else {
      int port;
      try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
        port = free.getLocalPort();
      }
      // A server that others can reach needs a token.
      if (token == null) token = UUID.randomUUID().toString();
      String[] options = {"--env", "SVC_SANDBOX_CONTROL_TOKEN", "--publish", "127.0.0.1:" + port + ":4747"};
      command = Program.inImage(program, new File("").getAbsolutePath(), options);
      command.addAll(start.subList(0, 5));
      command.addAll(List.of("4747", "--public-url", "http://127.0.0.1:" + port));
    }
    errors.toFile().deleteOnExit();
    ProcessBuilder builder = new ProcessBuilder(command).redirectError(errors.toFile());
    if (token != null) builder.environment().put("SVC_SANDBOX_CONTROL_TOKEN", token);
    // It ends when this stdin closes, even if the JVM crashes.
    process = builder.start();
    String line = new BufferedReader(new InputStreamReader(process.getInputStream())).readLine();
    if (line == null) {
      // Its stdout ends before it does.
      process.onExit().join();
      String failed = "`" + String.join(" ", command) + "` did not start svc-sandbox:";
      throw new IllegalStateException(failed + "\n" + Files.readString(errors));
    }
    started = Sandbox.texts(line.substring(0, line.indexOf("\"keys\":{")));
  }

  String baseUrl() {
    return started.get("base_url");
  }

  String scenario() {
    return started.get("scenario");
  }

  boolean isRunning() {
    return process.isAlive();
  }

  void stop() throws IOException {
    process.getOutputStream().close();
  }

  /** Calls the control plane. */
  String send(String method, String path, String body) {
    String url = started.get("control_url") + path;
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
      throw whyNoResponse(failure);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(interrupted);
    }
  }

  /** How the process has ended, or the error of the connection if it runs. */
  private RuntimeException whyNoResponse(IOException failure) {
    if (process.onExit().completeOnTimeout(null, 1, TimeUnit.SECONDS).join() == null) return new UncheckedIOException(failure);
    try {
      return new IllegalStateException("svc-sandbox ended with code " + process.exitValue() + "\n" + Files.readString(errors));
    } catch (IOException unreadable) {
      return new UncheckedIOException(unreadable);
    }
  }
}
