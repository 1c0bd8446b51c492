package io.github.svcsandbox;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.extension.ExtensionContext.Store.CloseableResource;

/** A process for each sandbox in use: idle ones are used again, and all end with this JVM. */
final class Server implements CloseableResource {
  private final int minimum;
  private final List<SandboxProcess> all = new ArrayList<>();
  private final Deque<SandboxProcess> idle = new ArrayDeque<>();
  private final Object starting = new Object();
  private final String program;

  Server(int minimum) {
    this.minimum = minimum;
    MinimumCoverage.isChecked = true;
    try {
      program = Program.find();
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
    giveBack(take());
  }

  /** Returns an idle process, or a new one. */
  SandboxProcess take() {
    SandboxProcess process = takeIdle();
    if (process != null) return process;
    synchronized (starting) {
      // A test may have ended while another process started.
      process = takeIdle();
      if (process != null) return process;
      try {
        process = new SandboxProcess(program);
      } catch (IOException failure) {
        throw new UncheckedIOException(failure);
      }
      all.add(process);
      return process;
    }
  }

  private SandboxProcess takeIdle() {
    synchronized (idle) {
      while (!idle.isEmpty()) {
        SandboxProcess process = idle.pop();
        if (process.isRunning()) return process;
      }
      return null;
    }
  }

  void giveBack(SandboxProcess process) {
    synchronized (idle) {
      idle.push(process);
    }
  }

  /** Prints the report. Under exec, exec does, and it checks the coverage. */
  @Override
  public void close() throws IOException, InterruptedException {
    List<String> reports = new ArrayList<>();
    if (System.getenv("SVC_SANDBOX_RUN") == null)
      for (SandboxProcess process : all) {
        if (!process.isRunning()) continue;
        // A report tells how to cover the rest with what runs: the scenario of the folder, not that of the last test.
        process.send("POST", "/reset", "{\"scenario\":\"" + process.scenario() + "\",\"frozen\":true}");
        reports.add(process.send("GET", "/report", ""));
      }
    for (SandboxProcess process : all) process.stop();
    if (reports.isEmpty()) return;
    // On one line, and without the spaces before values.
    String report = merged(reports, "json").replaceAll("\\R *|(?<=\":) ", "");
    // The text's last line, as exec prints it.
    String text = merged(reports, "text");
    int coverage = Integer.parseInt(report.replaceFirst(".*?\"percent\":(\\d+).*", "$1"));
    String line = "svc-sandbox: " + text.substring(text.lastIndexOf('\n') + 1);
    System.out.println(line + missed(report));
    if (coverage < minimum) throw new AssertionError(line + " The minimum is " + minimum + "%.");
  }

  /** The outcomes that are not covered, each after what to do. The scenario of the folder may not have the key. */
  private static String missed(String report) {
    Pattern row =
        Pattern.compile(
            "\"outcome\":\"([^\"]+)\",\"promised\":true,\"covered\":false,[^{}]*\"how_to_cover\":"
                + "(?:null|\\{\"ref\":\"([^\"]+)\",\"request\":\\{[^}]*\\},\"scenario\":(?:null|\"([^\"]+)\"))");
    Map<String, List<String>> missed = new LinkedHashMap<>();
    Matcher one = row.matcher(report);
    while (one.find()) {
      String ref = one.group(2);
      String scenario = one.group(3) == null ? "" : "with @SvcSandbox(scenario = \"" + one.group(3) + "\"), ";
      String whatToDo = ref == null ? "" : " (" + scenario + "send the key)";
      String shown = ref == null ? one.group(1) : one.group(1) + " (" + ref + ")";
      missed.computeIfAbsent(whatToDo, key -> new ArrayList<>()).add(shown);
    }
    StringBuilder sentences = new StringBuilder();
    missed.forEach((whatToDo, shown) -> sentences.append(" Not covered").append(whatToDo).append(": ").append(String.join(", ", shown)).append("."));
    return sentences.toString();
  }

  /** Merges JSON reports, as the command {@code report --merge} does. */
  private String merged(List<String> reports, String format) throws IOException, InterruptedException {
    Path folder = Files.createTempDirectory("svc-sandbox-reports");
    List<Path> files = new ArrayList<>();
    boolean isImage = program.startsWith("docker:");
    // The user of the image must read it.
    if (isImage) folder.toFile().setExecutable(true, false);
    List<String> command = isImage ? Program.inImage(program, folder.toString()) : new ArrayList<>(List.of(program));
    command.addAll(List.of("report", "--merge", "--format", format));
    try {
      for (String report : reports) {
        files.add(Files.writeString(folder.resolve(files.size() + ".json"), report));
        command.add(isImage ? "/sandbox/" + (files.size() - 1) + ".json" : files.get(files.size() - 1).toString());
      }
      ProcessBuilder builder = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT);
      // A minimum is for the caller.
      builder.environment().keySet().removeIf(name -> name.startsWith("SVC_SANDBOX_"));
      Process process = builder.start();
      String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
      if (process.waitFor() == 0) return output;
      throw new IllegalStateException("`" + String.join(" ", command) + "` failed: " + output);
    } finally {
      for (Path file : files) Files.delete(file);
      Files.delete(folder);
    }
  }
}
