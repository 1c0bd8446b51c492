import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ExtensionContext.Store.CloseableResource;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;
import org.junit.platform.commons.support.AnnotationSupport;

/**
 * Gives each test its own svc-sandbox, also when tests run in parallel: add {@code @ExtendWith(SvcSandboxExtension.class)}
 * and a parameter {@code Sandbox sandbox} or {@code @Key("revoked") String key}. Copy this file next to your tests; it
 * needs Java 11 and JUnit 5.
 */
public class SvcSandboxExtension implements ParameterResolver {
  /** The key with this ref in the test's sandbox. */
  @Target(ElementType.PARAMETER)
  @Retention(RetentionPolicy.RUNTIME)
  public @interface Key {
    String value();
  }

  /** Options of a test's or a class's sandbox. Default: those of {@code svc-sandbox exec}. */
  @Target({ElementType.METHOD, ElementType.TYPE})
  @Retention(RetentionPolicy.RUNTIME)
  public @interface Scenario {
    /** A bundled scenario. */
    String value() default "";

    /** A whole number from 0. */
    String seed() default "";

    /** Start of the clock: {@code 2026-03-02T09:00:00Z}. */
    String now() default "";

    /** Whether the clock moves only when a test moves it. */
    boolean frozen() default true;

    /** {@code minimal}, {@code typical} or {@code varied}. */
    String profile() default "";
  }

  @Override
  public boolean supportsParameter(ParameterContext parameter, ExtensionContext test) {
    return parameter.getParameter().getType() == Sandbox.class || parameter.isAnnotated(Key.class);
  }

  @Override
  public Object resolveParameter(ParameterContext parameter, ExtensionContext test) {
    Namespace here = Namespace.create(SvcSandboxExtension.class);
    Server server = test.getRoot().getStore(here).getOrComputeIfAbsent(Server.class);
    Sandbox sandbox =
        test.getStore(here).getOrComputeIfAbsent(Sandbox.class, key -> new Sandbox(server, options(test)), Sandbox.class);
    return parameter.findAnnotation(Key.class).map(key -> (Object) sandbox.key(key.value())).orElse(sandbox);
  }

  private static String options(ExtensionContext test) {
    return AnnotationSupport.findAnnotation(test.getElement(), Scenario.class)
        .or(() -> AnnotationSupport.findAnnotation(test.getTestClass(), Scenario.class))
        .map(
            chosen ->
                "{\"frozen\":"
                    + chosen.frozen()
                    + option("scenario", chosen.value(), "\"")
                    + option("now", chosen.now(), "\"")
                    + option("profile", chosen.profile(), "\"")
                    + option("seed", chosen.seed(), "")
                    + "}")
        .orElse("{\"frozen\":true}");
  }

  private static String option(String name, String value, String quote) {
    return value.isEmpty() ? "" : ",\"" + name + "\":" + quote + value + quote;
  }

  /** A test's own sandbox. Its clock is frozen until the test moves it, unless {@code frozen} is false. */
  public static class Sandbox implements CloseableResource {
    private final Server server;
    private final Map<String, String> started;
    private final Map<String, String> keys;

    Sandbox(Server server, String options) {
      this.server = server;
      String response = send("POST", server.controlUrl + "/instances", options);
      int keysAt = response.indexOf("\"keys\":{");
      started = texts(response.substring(0, keysAt));
      keys = texts(response.substring(keysAt, response.indexOf('}', keysAt)));
    }

    public String baseUrl() {
      return started.get("base_url");
    }

    public String key(String ref) {
      String key = keys.get(ref);
      if (key == null) throw new IllegalArgumentException("No key " + ref + ". Keys: " + keys.keySet() + ".");
      return key;
    }

    /** Moves the sandbox's clock forward. */
    public void advance(Duration by) {
      control("POST", "/clock/advance", "{\"by\":\"" + by.toMillis() + "ms\"}");
    }

    /** The statuses of the requests with a key, oldest first. A request and its retries after faults count once. */
    public List<Integer> statuses(String ref) {
      List<Integer> statuses = new ArrayList<>();
      Matcher found = Pattern.compile("\"status\":(\\d+)").matcher(control("GET", "/requests?faults=false&key=" + ref, ""));
      while (found.find()) statuses.add(Integer.valueOf(found.group(1)));
      return statuses;
    }

    /** Calls the control plane, and returns its JSON. */
    public String control(String method, String path, String body) {
      return send(method, started.get("control_url") + path, body);
    }

    @Override
    public void close() {
      send("DELETE", server.controlUrl + "/instances/" + started.get("id"), "");
    }

    // Enough for these responses; your tests have a JSON library.
    static Map<String, String> texts(String json) {
      Map<String, String> texts = new LinkedHashMap<>();
      Matcher found = Pattern.compile("\"([^\"]+)\":\"([^\"]*)\"").matcher(json);
      while (found.find()) texts.put(found.group(1), found.group(2));
      return texts;
    }
  }

  /** The server of {@code svc-sandbox exec -- mvn test}, or one of this JVM. */
  static class Server implements CloseableResource {
    final String controlUrl;
    private Process process;

    Server() throws IOException {
      String given = System.getenv("SVC_CONTROL_URL");
      controlUrl = given == null ? start() : given;
    }

    private String start() throws IOException {
      List<String> command = new ArrayList<>(program());
      // The sandbox ends when this stdin closes, even if the JVM crashes.
      command.addAll(List.of("start", "--until-stdin-ends", "--port", "0", "--quiet"));
      process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
      String line = new BufferedReader(new InputStreamReader(process.getInputStream())).readLine();
      if (line == null) {
        String why = "see the lines above. To use another program, set SVC_SANDBOX_BIN.";
        throw new IOException(String.join(" ", command) + " did not start: " + why);
      }
      return Sandbox.texts(line).get("control_url");
    }

    /** SVC_SANDBOX_BIN, svc-sandbox on the PATH, or the package of npm. */
    private static List<String> program() {
      String given = System.getenv("SVC_SANDBOX_BIN");
      if (given != null && !given.isEmpty()) return List.of(given);
      boolean isWindows = System.getProperty("os.name").startsWith("Windows");
      for (String folder : System.getenv("PATH").split(File.pathSeparator)) {
        for (String ending : isWindows ? List.of(".exe", ".cmd") : List.of("")) {
          File program = new File(folder, "svc-sandbox" + ending);
          if (program.isFile() && program.canExecute()) return List.of(program.getPath());
        }
      }
      return List.of(isWindows ? "npx.cmd" : "npx", "--no-install", "svc-sandbox");
    }

    @Override
    public void close() throws IOException {
      if (process != null) process.getOutputStream().close();
    }
  }

  private static final HttpClient http = HttpClient.newHttpClient();

  private static String send(String method, String url, String body) {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(url))
            .header("Content-Type", "application/json")
            .method(method, HttpRequest.BodyPublishers.ofString(body));
    String token = System.getenv("SVC_SANDBOX_CONTROL_TOKEN");
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
