package io.github.svcsandbox;

import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ExtensionContext.Store;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolutionException;
import org.junit.jupiter.api.extension.ParameterResolver;
import org.junit.platform.commons.support.AnnotationSupport;

/** Resolves parameters of the type {@link Sandbox}. */
public class SvcSandboxExtension implements ParameterResolver {
  private static final Namespace HERE = Namespace.create(SvcSandboxExtension.class);

  @Override
  public boolean supportsParameter(ParameterContext parameter, ExtensionContext test) {
    return parameter.getParameter().getType() == Sandbox.class;
  }

  @Override
  public Object resolveParameter(ParameterContext parameter, ExtensionContext test) {
    Server server = server(test);
    return test.getStore(HERE).getOrComputeIfAbsent(Sandbox.class, key -> new Sandbox(server, options(test)), Sandbox.class);
  }

  // The first test shows the message, and no test a stack trace.
  private static Server server(ExtensionContext test) {
    Store store = test.getRoot().getStore(HERE);
    String message = "svc-sandbox did not start: the first failure shows why.";
    try {
      int minimum = MinimumCoverage.of(test.getConfigurationParameter("svc-sandbox.min-coverage"));
      if (store.get("failed") == null)
        return store.getOrComputeIfAbsent(Server.class, key -> new Server(minimum), Server.class);
    } catch (RuntimeException failure) {
      store.put("failed", true);
      message = failure.getMessage();
    }
    ParameterResolutionException failure = new ParameterResolutionException(message);
    failure.setStackTrace(new StackTraceElement[0]);
    throw failure;
  }

  private static String options(ExtensionContext test) {
    return AnnotationSupport.findAnnotation(test.getElement(), SvcSandbox.class)
        .or(() -> AnnotationSupport.findAnnotation(test.getTestClass(), SvcSandbox.class))
        .map(
            chosen ->
                option("scenario", chosen.scenario(), "\"")
                    + option("now", chosen.now(), "\"")
                    + option("profile", chosen.profile(), "\"")
                    + option("seed", chosen.seed(), "")
                    + "\"frozen\":"
                    + chosen.frozen())
        .orElse("\"frozen\":true");
  }

  private static String option(String name, String value, String quote) {
    return value.isEmpty() ? "" : "\"" + name + "\":" + quote + value + quote + ",";
  }
}
