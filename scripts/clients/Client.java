import java.net.URI;
import java.net.http.*;
import java.time.Duration;

/** A good client over Java's HttpClient: `Client <sync|async> <mistake>`. */
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

  static HttpResponse<String> ask(String key, boolean isAsync) throws Exception {
    var request = HttpRequest.newBuilder(URI.create(System.getenv("SVC_BASE_URL") + "/v1/relying-party/me"))
        .header("x-api-key", key).timeout(Duration.ofMillis(2500)).build();
    var handler = HttpResponse.BodyHandlers.ofString();
    for (int left = 2; ; left--) {
      try {
        var answer = isAsync ? http.sendAsync(request, handler).get() : http.send(request, handler);
        if (answer.statusCode() < 500 && isJson(answer.body())) return answer;
        throw new java.io.IOException("got " + answer.statusCode() + " " + answer.body());
      } catch (Exception error) {
        if (left == 0) throw error;
      }
    }
  }

  public static void main(String[] argv) throws Exception {
    var statuses = new int[] {200, 401, 429, 401, 403};
    var refs = new String[] {"ACTIVE", "REVOKED", "RATE_LIMITED", "EXPIRED", "ORGANIZATION_INACTIVE"};
    for (int i = 0; i < refs.length; i++) {
      var answer = ask(System.getenv("SVC_KEY_" + refs[i]), argv[0].equals("async"));
      if (answer.statusCode() != statuses[i]) throw new Error("got " + answer.statusCode());
      var isBroken = switch (argv[1]) {
        case "via" -> i == 0 && answer.headers().firstValue("Via").isPresent();
        case "details_without_reason" -> i == 1 && answer.body().matches("(?s).*\"(d|.u0064)etails\".*");
        default -> false;
      };
      if (isBroken) throw new Error("did not expect " + answer.headers().map() + answer.body());
    }
  }
}
