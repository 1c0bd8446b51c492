import java.net.URI;
import java.net.http.*;
import java.time.Duration;

/**
 * A good client over Java's HttpClient: `Client <sync|async> <mistake>`. The mistake is none, a row of the variation table, retry-401,
 * forever (sends again until an outage ends) or limits (expects 60 and 1,000). No mistakes are tests, which sends the revoked key three
 * times, and all, with a key for each path. PAUSE is the time before each check in milliseconds, and AT_ONCE runs them together.
 */
public class Client {
  static final HttpClient http = HttpClient.newHttpClient();

  /** Java has no JSON: values become s, and objects and lists of such become s, until one is left. */
  static boolean isJson(String text) {
    var values = "\"[^\"\\\\]*+(\\\\.[^\"\\\\]*+)*+\"|-?\\d[\\d.eE+-]*|true|false|null";
    var left = text.replaceAll(values, "s").replaceAll("\\s", "");
    for (var before = ""; !before.equals(left); ) {
      before = left;
      left = left.replaceAll("\\[(s(,s)*)?\\]|\\{(s:s(,s:s)*)?\\}", "s");
    }
    return left.equals("s");
  }

  static HttpResponse<String> ask(String key, String[] argv) throws Exception {
    var isAsync = argv[0].equals("async");
    var builder = HttpRequest.newBuilder(URI.create(System.getenv("SVC_BASE_URL") + "/v1/relying-party/me"));
    if (key != null) builder.header("x-api-key", key);
    var request = builder.timeout(Duration.ofMillis(2500)).build();
    var handler = HttpResponse.BodyHandlers.ofString();
    for (int left = 2; ; left--) {
      try {
        var answer = isAsync ? http.sendAsync(request, handler).get() : http.send(request, handler);
        var isRetried = argv[1].equals("retry-" + answer.statusCode()) && left > 0;
        if (answer.statusCode() < 500 && isJson(answer.body()) && !isRetried) return answer;
        throw new java.io.IOException("got " + answer.statusCode() + " " + answer.body());
      } catch (Exception error) {
        if (left == 0 && !argv[1].equals("forever")) throw error;
      }
    }
  }

  static void check(String ref, int status, String[] argv) {
    try {
      Thread.sleep(Integer.parseInt(System.getenv().getOrDefault("PAUSE", "0")));
      var answer = ask(System.getenv("SVC_KEY_" + ref), argv);
      if (answer.statusCode() != status) throw new Error("got " + answer.statusCode());
      var isBroken = switch (argv[1]) {
        case "via" -> status == 200 && answer.headers().firstValue("Via").isPresent();
        case "details_without_reason" -> ref.equals("REVOKED") && answer.body().matches("(?s).*\"(d|.u0064)etails\".*");
        case "limits" -> status == 200 && !(answer.body().matches("(?s).*:\\s*60\\b.*") && answer.body().matches("(?s).*:\\s*1000\\b.*"));
        default -> false;
      };
      if (isBroken) throw new Error("did not expect " + answer.headers().map() + answer.body());
    } catch (Exception error) {
      throw new Error(error);
    }
  }

  public static void main(String[] argv) {
    var refs = "200 ACTIVE 401 REVOKED 429 RATE_LIMITED 401 EXPIRED 403 ORGANIZATION_INACTIVE" + switch (argv[1]) {
      case "tests" -> " 401 REVOKED 401 REVOKED";
      case "all" -> " 200 LEGACY 200 RETIRING 200 REPLACEMENT 200 LIVE 401 ROTATED 401 MALFORMED 401 UNKNOWN 401 NONE"
          + " 403 WRONG_SCOPE 403 LIVE_SUSPENDED 403 LIVE_NOT_APPROVED 429 RATE_LIMITED_MINUTE";
      default -> "";
    };
    var words = refs.split(" ");
    var checks = java.util.stream.IntStream.range(0, words.length / 2).boxed().toList();
    var stream = System.getenv("AT_ONCE") == null ? checks.stream() : checks.parallelStream();
    stream.forEach(at -> check(words[2 * at + 1], Integer.parseInt(words[2 * at]), argv));
  }
}
