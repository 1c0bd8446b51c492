package io.github.svcsandbox;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.extension.ExtensionContext.Store.CloseableResource;

/** A test's own sandbox. Its clock is frozen until the test moves it, unless {@code frozen} is false. */
public final class Sandbox implements CloseableResource {
  private final Server server;
  private final SandboxProcess process;
  private final Map<String, String> keys;

  Sandbox(Server server, String options) {
    this.server = server;
    process = server.take();
    try {
      String named = options.contains("\"scenario\":") ? "" : "\"scenario\":\"" + process.scenario() + "\",";
      String response = process.send("POST", "/reset", "{" + named + options + "}");
      int keysAt = response.indexOf("\"keys\":{");
      keys = texts(response.substring(keysAt, response.indexOf('}', keysAt)));
    } catch (RuntimeException failure) {
      server.giveBack(process);
      throw failure;
    }
  }

  public String baseUrl() {
    return process.baseUrl();
  }

  /** The key with a ref. No sandbox has the keys unknown and malformed, and none is null: send no header. */
  public String key(String ref) {
    String key = keys.get(ref);
    if (key == null && !ref.equals("none")) throw new IllegalArgumentException("No key " + ref + ". Keys: " + keys.keySet() + ".");
    return key;
  }

  /** Moves the clock forward. */
  public void advance(Duration by) {
    advance(by.toMillis() + "ms");
  }

  /** Moves the clock forward by a duration as scenarios write it, such as {@code 10m} or {@code 7d}. */
  public void advance(String by) {
    if (!by.matches("[\\w.]+")) throw new IllegalArgumentException(by + " is not a duration such as 10m.");
    control("POST", "/clock/advance", "{\"by\":\"" + by + "\"}");
  }

  /** The statuses of the requests with a key, oldest first. A request and its retries after faults count once. */
  public List<Integer> statuses(String ref) {
    List<Integer> statuses = new ArrayList<>();
    Matcher found = Pattern.compile("\"status\":(\\d+)").matcher(control("GET", "/requests?faults=false&key=" + ref, ""));
    while (found.find()) statuses.add(Integer.valueOf(found.group(1)));
    return statuses;
  }

  /** Fails unless {@code count} requests have this outcome and key. */
  public void expect(String outcome, String key, int count) {
    try {
      control("GET", "/expect?outcome=" + outcome + "&key=" + key + "&count=" + count, "");
    } catch (IllegalStateException failure) {
      if (!failure.getMessage().contains("expectation_failed")) throw failure;
      throw new AssertionError(failure.getMessage());
    }
  }

  /** Calls the control plane, and returns its JSON. */
  public String control(String method, String path, String body) {
    return process.send(method, path, body);
  }

  /** Leaves the process to the next test. */
  @Override
  public void close() {
    server.giveBack(process);
  }

  // Enough for these responses: no package needs to come with the tests.
  static Map<String, String> texts(String json) {
    Map<String, String> texts = new LinkedHashMap<>();
    Matcher found = Pattern.compile("\"([^\"]+)\":\"([^\"]*)\"").matcher(json);
    while (found.find()) texts.put(found.group(1), found.group(2));
    return texts;
  }
}
