package io.github.svcsandbox;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.List;

/** What starts the sandbox. */
final class Program {
  private static final String WAYS =
      " Do one of these:\n"
          + "- put the executable svc-sandbox on the PATH\n"
          + "- load the image: docker pull ghcr.io/svc-sandbox/svc-sandbox\n"
          + "- with Node, install the npm package svc-sandbox where the tests run\n"
          + "- set SVC_SANDBOX_BIN to the executable, or to docker:<image>";

  /** SVC_SANDBOX_BIN, svc-sandbox on the PATH, an image on this machine, or the package of npm. */
  static String find() throws IOException {
    String given = System.getenv("SVC_SANDBOX_BIN");
    if (given != null && !given.isEmpty()) return given;
    List<String> path = List.of(System.getenv("PATH").split(File.pathSeparator));
    String found = in(path, "svc-sandbox");
    if (found == null && in(path, "docker") != null) {
      List<String> command = List.of("docker", "images", "--format", "docker:{{.Repository}}:{{.Tag}}", "--filter",
          "reference=svc-sandbox", "--filter", "reference=ghcr.io/svc-sandbox/svc-sandbox");
      Process images = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.DISCARD).start();
      // Without a running daemon it prints nothing.
      found = new BufferedReader(new InputStreamReader(images.getInputStream())).readLine();
    }
    for (File at = new File("").getAbsoluteFile(); found == null && at != null; at = at.getParentFile())
      found = in(List.of(at + File.separator + "node_modules/.bin"), "svc-sandbox");
    if (found == null) throw new IllegalStateException("svc-sandbox was not found." + WAYS);
    return found;
  }

  private static String in(List<String> folders, String name) {
    boolean isWindows = System.getProperty("os.name").startsWith("Windows");
    for (String folder : folders)
      for (String ending : isWindows ? List.of(".exe", ".cmd") : List.of("")) {
        File program = new File(folder, name + ending);
        if (program.isFile() && program.canExecute()) return program.getPath();
      }
    return null;
  }

  static List<String> inImage(String program, String folder, String... options) {
    List<String> command = new ArrayList<>(List.of("docker", "run", "--rm", "--interactive"));
    command.addAll(List.of(options));
    command.addAll(List.of("--volume", folder + ":/sandbox:ro", program.substring("docker:".length())));
    return command;
  }

  private Program() {}
}
