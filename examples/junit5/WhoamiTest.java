import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@ExtendWith(SvcSandboxExtension.class)
class WhoamiTest {
  private static final Pattern COMPLETE = Pattern.compile("\"(organization|error)\"\\s*:\\s*\\{");

  /** The client. It tries again only after an outage, with pauses. */
  static int whoami(String baseUrl, String key) throws IOException, InterruptedException {
    for (int pause = 1; ; pause *= 2) {
      try {
        return ask(baseUrl, key);
      } catch (IOException outage) {
        if (pause > 2) throw outage;
        Thread.sleep(Duration.ofSeconds(pause).toMillis());
      }
    }
  }

  private static int ask(String baseUrl, String key) throws IOException, InterruptedException {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(baseUrl + "/v1/relying-party/me"))
            .header("x-api-key", key)
            .timeout(Duration.ofSeconds(3))
            .build();
    HttpResponse<String> response = HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());
    // Read the body with your JSON library here.
    if (response.statusCode() >= 500 || !COMPLETE.matcher(response.body()).find())
      throw new IOException("The API returned " + response.statusCode() + ".");
    return response.statusCode();
  }

  @Test
  void aGoodKey(SvcSandboxExtension.Sandbox sandbox, @SvcSandboxExtension.Key("active") String key) throws Exception {
    assertEquals(200, whoami(sandbox.baseUrl(), key));
  }

  @ParameterizedTest
  @CsvSource({
    "revoked,401", "expired,401", "rotated,401", "wrong-scope,403", "live-suspended,403",
    "organization-inactive,403", "rate-limited,429"
  })
  void aRejectedKeyIsSentOnce(String ref, int status, SvcSandboxExtension.Sandbox sandbox) throws Exception {
    assertEquals(status, whoami(sandbox.baseUrl(), sandbox.key(ref)));
    assertEquals(List.of(status), sandbox.statuses(ref));
  }

  @Test
  void aUsedUpMinuteEnds(SvcSandboxExtension.Sandbox sandbox) throws Exception {
    String key = sandbox.key("rate-limited-minute");
    assertEquals(429, whoami(sandbox.baseUrl(), key));
    sandbox.advance(Duration.ofMinutes(1));
    assertEquals(200, whoami(sandbox.baseUrl(), key));
    assertEquals(List.of(429, 200), sandbox.statuses("rate-limited-minute"));
  }

  @RepeatedTest(4)
  void noTestSeesAnother(SvcSandboxExtension.Sandbox sandbox, @SvcSandboxExtension.Key("active") String key)
      throws Exception {
    assertEquals(200, whoami(sandbox.baseUrl(), key));
    sandbox.control("POST", "/keys/active/revoke", "{}");
    assertEquals(401, whoami(sandbox.baseUrl(), key));
  }

  @Test
  @SvcSandboxExtension.Scenario("rotation")
  void anotherScenario(SvcSandboxExtension.Sandbox sandbox) {
    for (String ref : List.of("active", "id", "base_url", "scenario")) {
      Exception failure = assertThrows(IllegalArgumentException.class, () -> sandbox.key(ref));
      assertEquals("No key " + ref + ". Keys: [rotated, retiring, replacement].", failure.getMessage());
    }
  }

  @Test
  @SvcSandboxExtension.Scenario(
      value = "active",
      seed = "7",
      now = "2026-03-02T09:00:00Z",
      frozen = false,
      profile = "typical")
  void everyOption(SvcSandboxExtension.Sandbox sandbox) {
    String state = sandbox.control("GET", "/state", "");
    for (String part : List.of("\"seed\":7", "\"now\":\"2026-03-02T09:", "\"frozen\":false", "\"profile\":\"typical\"")) {
      assertTrue(state.contains(part), part);
    }
  }
}
