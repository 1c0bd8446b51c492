import java.io.BufferedReader;
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
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ExtensionContext.Store.CloseableResource;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;
import org.junit.platform.commons.support.AnnotationSupport;

/**
 * Gives each test an isolated svc-sandbox, also when tests run in parallel: {@code @ExtendWith(SvcSandboxExtension.class)}
 * and a parameter {@code Sandbox sandbox} or {@code @Key("revoked") String key}. Copy this file beside your tests; it
 * needs Java 11, JUnit 5 and Node's npx.
 */
public class SvcSandboxExtension implements ParameterResolver {
  /** The key with this ref in the test's sandbox. */
  @Target(ElementType.PARAMETER)
  @Retention(RetentionPolicy.RUNTIME)
  public @interface Key {
    String value();
  }

  /** The scenario of a test, or of the tests of a class: a bundled one. */
  @Target({ElementType.METHOD, ElementType.TYPE})
  @Retention(RetentionPolicy.RUNTIME)
  public @interface Scenario {
    String value();
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
        test.getStore(here).getOrComputeIfAbsent(Sandbox.class, key -> new Sandbox(server, scenario(test)), Sandbox.class);
    return parameter.findAnnotation(Key.class).map(key -> (Object) sandbox.key(key.value())).orElse(sandbox);
  }

  private static String scenario(ExtensionContext test) {
    return AnnotationSupport.findAnnotation(test.getElement(), Scenario.class)
        .or(() -> AnnotationSupport.findAnnotation(test.getTestClass(), Scenario.class))
        .map(Scenario::value)
        .orElse(null);
  }

  /** An isolated sandbox. Its clock stands still until it is moved. */
  public static class Sandbox implements CloseableResource {
    private final Server server;
    private final String started;

    Sandbox(Server server, String scenario) {
      this.server = server;
      String named = scenario == null ? "" : ",\"scenario\":\"" + scenario + "\"";
      started = send("POST", server.controlUrl + "/instances", "{\"frozen\":true" + named + "}");
    }

    public String baseUrl() {
      return text("base_url");
    }

    public String key(String ref) {
      return text(ref);
    }

    /** Moves the sandbox's clock on. */
    public void advance(Duration by) {
      control("POST", "/clock/advance", "{\"by\":\"" + by.toMillis() + "ms\"}");
    }

    /** How the requests with a key ended, oldest first. */
    public List<Integer> statuses(String ref) {
      List<Integer> statuses = new ArrayList<>();
      Matcher found = Pattern.compile("\"status\":(\\d+)").matcher(control("GET", "/requests?key=" + ref, ""));
      while (found.find()) statuses.add(Integer.valueOf(found.group(1)));
      return statuses;
    }

    /** A call of the control plane; answers its JSON. */
    public String control(String method, String path, String body) {
      return send(method, text("control_url") + path, body);
    }

    @Override
    public void close() {
      send("DELETE", server.controlUrl + "/instances/" + text("id"), "");
    }

    // Enough for this answer; your tests have a JSON library.
    private String text(String member) {
      Matcher found = Pattern.compile("\"" + member + "\":\"([^\"]*)\"").matcher(started);
      if (!found.find()) throw new IllegalArgumentException("There is no " + member + " in " + started);
      return found.group(1);
    }
  }

  /** The server of {@code npx svc-sandbox exec -- mvn test}, else one of this JVM. */
  static class Server implements CloseableResource {
    final String controlUrl;
    private Process process;

    Server() throws IOException {
      String given = System.getenv("SVC_CONTROL_URL");
      controlUrl = given == null ? start() : given;
    }

    private String start() throws IOException {
      String npx = System.getProperty("os.name").startsWith("Windows") ? "npx.cmd" : "npx";
      // The sandbox ends when this stdin does: with the JVM, however that ends.
      String wait = "console.log(process.env.SVC_CONTROL_URL);process.stdin.resume()";
      process =
          new ProcessBuilder(npx, "--yes", "svc-sandbox", "exec", "--quiet", "--", "node", "-e", wait)
              .redirectError(ProcessBuilder.Redirect.INHERIT)
              .start();
      String url = new BufferedReader(new InputStreamReader(process.getInputStream())).readLine();
      if (url == null) throw new IOException("svc-sandbox did not start: what it printed is above.");
      return url;
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
