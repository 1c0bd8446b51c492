import java.net.HttpURLConnection;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;

/** Sends a request to a fixed address: `Intercepted <url> HttpClient|NO_PROXY|HttpURLConnection`. */
class Intercepted {
  public static void main(String[] words) throws Exception {
    var url = URI.create(words[0]);
    var key = System.getenv("SVC_API_KEY");
    if (words[1].equals("HttpURLConnection")) {
      var connection = (HttpURLConnection) url.toURL().openConnection();
      connection.setRequestProperty("x-api-key", key);
      connection.getResponseCode();
      return;
    }
    var builder = HttpClient.newBuilder();
    if (words[1].equals("NO_PROXY")) builder.proxy(HttpClient.Builder.NO_PROXY);
    builder.build().send(HttpRequest.newBuilder(url).header("x-api-key", key).build(), BodyHandlers.ofString());
  }
}
