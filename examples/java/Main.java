import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A client of the relying-party API, and its tests against svc-sandbox. Run with: java Main.java */
public class Main {
  /* The client */

  enum Result { CONFIRMED, REJECTED, REFUSED, LIMITED }

  /** A result, with the organization's name if the key is confirmed, or the code if it is refused. */
  record Confirmation(Result result, String detail) {}

  interface Waiting {
    void waitFor(Duration time) throws IOException, InterruptedException;
  }

  /**
   * Checks a key with the API.
   *
   * <p>REJECTED: the key is not valid. REFUSED: the key is valid, but lacks a permission. LIMITED: the limit was still
   * used up after the last attempt. Throws on any other response. Tests pass their own {@code waiting}.
   */
  static Confirmation confirmKey(String baseUrl, String apiKey, Waiting waiting, int attempts)
      throws IOException, InterruptedException {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(baseUrl + "/v1/relying-party/me")).header("x-api-key", apiKey).build();
    for (int attempt = 1; ; attempt++) {
      HttpResponse<String> response = http.send(request, HttpResponse.BodyHandlers.ofString());
      switch (response.statusCode()) {
        case 200:
          return new Confirmation(Result.CONFIRMED, text(response.body(), "name"));
        case 401:
          // Do not retry: the key stays invalid. The API does not reveal the reason.
          return new Confirmation(Result.REJECTED, null);
        case 403:
          return new Confirmation(Result.REFUSED, text(response.body(), "code"));
        case 429:
          // Check only the status: the specification leaves the code open.
          if (attempt == attempts) return new Confirmation(Result.LIMITED, null);
          waiting.waitFor(timeToWait(response.headers().firstValue("retry-after")));
          break;
        default:
          throw new IOException("The API returned " + response.statusCode() + ".");
      }
    }
  }

  /** The time in Retry-After, which may be absent, a number of seconds, or a date. */
  static Duration timeToWait(Optional<String> retryAfter) {
    Duration oneMinute = Duration.ofMinutes(1);
    if (retryAfter.isEmpty()) return oneMinute;
    String given = retryAfter.get().strip();
    if (given.matches("\\d{1,9}")) return Duration.ofSeconds(Long.parseLong(given));
    try {
      Instant then = Instant.from(DateTimeFormatter.RFC_1123_DATE_TIME.parse(given));
      Duration rest = Duration.between(Instant.now(), then);
      return rest.isNegative() ? Duration.ZERO : rest;
    } catch (DateTimeException noDate) {
      return oneMinute;
    }
  }

  static final HttpClient http = HttpClient.newHttpClient();

  // Enough for these responses; a real client has a JSON library.
  static String text(String json, String member) {
    // JSON may escape any letter, also in names.
    String plain = Pattern.compile("\\\\u00([4-7][0-9a-f])").matcher(json).replaceAll(one -> letter(one.group(1)));
    Matcher found = Pattern.compile("\"" + member + "\":\\s*\"([^\"]*)\"").matcher(plain);
    return found.find() ? found.group(1) : null;
  }

  static String letter(String hex) {
    return Matcher.quoteReplacement(String.valueOf((char) Integer.parseInt(hex, 16)));
  }

  /* The sandbox */

  /**
   * A running svc-sandbox. Its clock is frozen until a test moves it. Under {@code svc-sandbox exec} it is an instance
   * of that sandbox, whose report counts the tests. Otherwise it is a process that ends with close().
   */
  static class Sandbox implements AutoCloseable {
    final String baseUrl;
    private final String started;
    private final String controlUrl;
    private final Process process;

    Sandbox(String scenario) throws IOException, InterruptedException {
      String given = System.getenv("SVC_CONTROL_URL");
      if (given == null) {
        process = start(scenario);
        // It prints one line when it accepts requests, or nothing if it cannot start.
        started = new BufferedReader(new InputStreamReader(process.getInputStream())).readLine();
        if (started == null) throw new IOException("svc-sandbox ended before it listened.");
      } else {
        process = null;
        started = control(given, "POST", "/instances", "{\"scenario\":\"" + scenario + "\"}");
      }
      baseUrl = text(started, "base_url");
      controlUrl = text(started, "control_url");
    }

    private static Process start(String scenario) throws IOException {
      String given = System.getenv("SVC_SANDBOX_BIN");
      List<String> command =
          new ArrayList<>(given == null || given.isEmpty() ? List.of("npx", "--no-install", "svc-sandbox") : List.of(given));
      // It ends when its stdin closes, even if this program crashes.
      command.addAll(List.of("start", scenario, "--until-stdin-ends", "--port", "0", "--quiet"));
      return new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    }

    String key(String ref) {
      return text(started, ref);
    }

    void advance(Duration by) throws IOException, InterruptedException {
      control(controlUrl, "POST", "/clock/advance", "{\"by\":\"" + Math.max(1, by.toSeconds()) + "s\"}");
    }

    void reset() throws IOException, InterruptedException {
      control(controlUrl, "POST", "/reset", "{}");
      control(controlUrl, "PUT", "/clock", "{\"frozen\":true}");
    }

    /** The statuses of the requests with a key, oldest first. A request and its retries after faults count once. */
    List<Integer> statuses(String ref) throws IOException, InterruptedException {
      List<Integer> statuses = new ArrayList<>();
      Matcher found = Pattern.compile("\"status\":\\s*(\\d+)").matcher(control(controlUrl, "GET", "/requests?faults=false&key=" + ref, ""));
      while (found.find()) statuses.add(Integer.valueOf(found.group(1)));
      return statuses;
    }

    private static String control(String url, String method, String path, String body)
        throws IOException, InterruptedException {
      HttpRequest request =
          HttpRequest.newBuilder(URI.create(url + path))
              .header("content-type", "application/json")
              .method(method, HttpRequest.BodyPublishers.ofString(body))
              .build();
      HttpResponse<String> response = http.send(request, HttpResponse.BodyHandlers.ofString());
      if (response.statusCode() >= 400) throw new IOException(method + " " + path + ": " + response.body());
      return response.body();
    }

    @Override
    public void close() throws IOException {
      // An instance ends with its server.
      if (process != null) process.getOutputStream().close();
    }
  }

  /* The tests */

  public static void main(String[] arguments) throws Exception {
    try (Sandbox sandbox = new Sandbox("key-states")) {
      expect(sandbox, "active", Result.CONFIRMED, null, 200);
      for (String ref : List.of("revoked", "expired", "rotated")) expect(sandbox, ref, Result.REJECTED, null, 401);
      Map<String, String> codes =
          Map.of(
              "wrong-scope", "insufficient_scope",
              "live-not-approved", "live_access_not_approved",
              "live-suspended", "live_access_not_approved",
              "organization-inactive", "access_denied");
      for (String ref : codes.keySet()) expect(sandbox, ref, Result.REFUSED, codes.get(ref), 403);
      expect(sandbox, "rate-limited-minute", Result.CONFIRMED, null, 429, 200);
      expect(sandbox, "rate-limited", Result.LIMITED, null, 429, 429, 429);
      expect(sandbox, "retiring", Result.CONFIRMED, null, 200);
    }
    System.out.println(failures == 0 ? "All as expected." : failures + " not as expected.");
    System.exit(failures == 0 ? 0 : 1);
  }

  static int failures = 0;

  /** Confirms a key of a new sandbox, and compares the result and the requests. */
  static void expect(Sandbox sandbox, String ref, Result result, String detail, Integer... statuses) throws Exception {
    sandbox.reset();
    // Moves the sandbox's clock instead of waiting.
    Confirmation got = confirmKey(sandbox.baseUrl, sandbox.key(ref), sandbox::advance, 3);
    List<Integer> seen = sandbox.statuses(ref);
    // No test relies on the organization's name, because it may change.
    boolean sameDetail = result == Result.CONFIRMED || Objects.equals(got.detail(), detail);
    boolean fine = got.result() == result && sameDetail && seen.equals(List.of(statuses));
    if (!fine) failures++;
    System.out.println((fine ? "ok     " : "not ok ") + ref + ": " + got + " " + seen);
  }
}
