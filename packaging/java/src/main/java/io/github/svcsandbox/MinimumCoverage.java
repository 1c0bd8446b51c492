package io.github.svcsandbox;

import java.util.Optional;
import org.junit.platform.launcher.LauncherSession;
import org.junit.platform.launcher.LauncherSessionListener;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestPlan;

/** Fails a run with a minimum in which no test used a sandbox: JUnit then never starts the extension. */
public final class MinimumCoverage implements TestExecutionListener, LauncherSessionListener {
  static volatile boolean isChecked;
  private static volatile String failure;

  /** Returns the minimum in per cent; 0 without one. Throws {@link IllegalArgumentException}. */
  static int of(Optional<String> parameter) {
    String variable = System.getenv("SVC_SANDBOX_MIN_COVERAGE");
    String given = parameter.orElse(variable == null ? "" : variable);
    if (given.isEmpty()) return 0;
    if (given.matches("[0-9]{1,3}") && Integer.parseInt(given) <= 100) return Integer.parseInt(given);
    String name = parameter.isPresent() ? "svc-sandbox.min-coverage" : "SVC_SANDBOX_MIN_COVERAGE";
    throw new IllegalArgumentException(name + "=" + given + " is not a whole number from 0 to 100.");
  }

  @Override
  public void testPlanExecutionFinished(TestPlan plan) {
    // Under exec, exec checks the coverage.
    if (isChecked || System.getenv("SVC_SANDBOX_RUN") != null) return;
    try {
      int minimum = of(plan.getConfigurationParameters().get("svc-sandbox.min-coverage"));
      if (minimum > 0) failure = "No test used svc-sandbox: nothing is covered. The minimum is " + minimum + "%.";
    } catch (IllegalArgumentException wrong) {
      failure = wrong.getMessage();
    }
  }

  // JUnit only logs what the other listener throws.
  @Override
  public void launcherSessionClosed(LauncherSession session) {
    if (failure == null) return;
    AssertionError error = new AssertionError(failure);
    error.setStackTrace(new StackTraceElement[0]);
    throw error;
  }
}
