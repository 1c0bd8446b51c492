// Tests of a client: put yours in place of whoami.
// Install: mvn --file node_modules/svc-sandbox/packaging/java install
//          and io.github.svc-sandbox:svc-sandbox-junit5 as a dependency (node_modules/svc-sandbox/examples/junit5/pom.xml)
// Run:     mvn test -Dsvc-sandbox.min-coverage=80

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.github.svcsandbox.Sandbox;
import io.github.svcsandbox.SvcSandbox;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests of a client: put yours in place of {@code whoami}. */
@SvcSandbox(scenario = "key-states") // Also if the folder has a scenario of its own.
class WhoamiTest {
  static final HttpClient http = HttpClient.newHttpClient();

  /**
   * After a rejection it stops. After a 429 it waits and sends once more, if its caller can wait: a second 429, or a longer
   * wait, is the day's limit, and it stops. After an outage it tries again, with pauses or when the API says.
   */
  static HttpResponse<String> whoami(String baseUrl, String key, Consumer<Duration> sleep, boolean canWait)
      throws Exception {
    URI uri = URI.create(baseUrl + "/v1/relying-party/me");
    HttpRequest.Builder request = HttpRequest.newBuilder(uri).timeout(Duration.ofSeconds(3));
    if (key != null) request.header("x-api-key", key);
    for (int outages = 0, limits = 0; ; ) {
      HttpResponse<String> response = null;
      try {
        response = http.send(request.build(), HttpResponse.BodyHandlers.ofString());
        if (response.statusCode() >= 500) throw new IOException("The API returned " + response.statusCode() + ".");
        // Read the body with your JSON library here.
        if (!isComplete(response.body())) throw new IOException("The body is not complete.");
        Duration wait = timeToWait(response, Duration.ofMinutes(1));
        if (response.statusCode() != 429 || !canWait || ++limits == 2 || wait.toMinutes() >= 2) return response;
        sleep.accept(wait);
      } catch (IOException outage) {
        if (++outages == 3) throw outage;
        sleep.accept(timeToWait(response, Duration.ofSeconds(1 << outages)));
      }
    }
  }

  /** Whether each name has a value: enough for these tests. */
  static boolean isComplete(String body) {
    String signs = body.replaceAll("\"[^\"\\\\]*+(\\\\.[^\"\\\\]*+)*+\"", "text");
    return signs.strip().endsWith("}") && !signs.matches("(?s).*:\\s*[,}\\]].*");
  }

  /** Retry-After may be absent, a number of seconds, or a date. */
  static Duration timeToWait(HttpResponse<String> response, Duration usual) {
    String after = response == null ? null : response.headers().firstValue("retry-after").orElse(null);
    if (after == null) return usual;
    if (after.matches("\\d+")) return Duration.ofSeconds(Long.parseLong(after));
    DateTimeFormatter format = DateTimeFormatter.RFC_1123_DATE_TIME;
    ZonedDateTime now = ZonedDateTime.parse(response.headers().firstValue("date").orElseThrow(), format);
    return Duration.between(now, ZonedDateTime.parse(after, format));
  }

  // Moves the sandbox's clock instead of waiting.
  static HttpResponse<String> confirm(Sandbox sandbox, String ref) throws Exception {
    return whoami(sandbox.baseUrl(), sandbox.key(ref), sandbox::advance, true);
  }

  @ParameterizedTest
  @ValueSource(strings = {"active", "live", "legacy", "retiring", "replacement"})
  void aGoodKeyIsConfirmed(String ref, Sandbox sandbox) throws Exception {
    assertEquals(200, confirm(sandbox, ref).statusCode());
  }

  @ParameterizedTest
  @CsvSource({
    "none,401", "malformed,401", "unknown,401", "revoked,401", "expired,401", "rotated,401", "wrong-scope,403", "live-not-approved,403", "live-suspended,403",
    "organization-inactive,403"
  })
  void aRejectedKeyIsSentOnce(String ref, int status, Sandbox sandbox) throws Exception {
    assertEquals(status, confirm(sandbox, ref).statusCode());
    assertEquals(List.of(status), sandbox.statuses(ref));
  }

  @Test
  void aUsedUpMinuteIsWaitedFor(Sandbox sandbox) throws Exception {
    assertEquals(200, confirm(sandbox, "rate-limited-minute").statusCode());
    assertEquals(List.of(429, 200), sandbox.statuses("rate-limited-minute"));
  }

  @Test
  void aCallerThatCannotWaitGetsThe429(Sandbox sandbox) throws Exception {
    String key = sandbox.key("rate-limited");
    assertEquals(429, whoami(sandbox.baseUrl(), key, sandbox::advance, false).statusCode());
    assertEquals(List.of(429), sandbox.statuses("rate-limited"));
  }

  @Test
  void aKeyThatHasWorkedWorksInTheNextTest(Sandbox sandbox) throws Exception {
    assertEquals(200, confirm(sandbox, "active").statusCode());
  }

  @Test
  void aReplacedKeyEndsWithItsOverlap(Sandbox sandbox) throws Exception {
    sandbox.advance(Duration.ofMinutes(31));
    assertEquals(401, confirm(sandbox, "retiring").statusCode());
  }
}
