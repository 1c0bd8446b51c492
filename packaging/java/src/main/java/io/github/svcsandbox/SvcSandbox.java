package io.github.svcsandbox;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;

/** Gives each test of a class a parameter {@link Sandbox}; on a test, it chooses that test's sandbox. */
@Target({ElementType.METHOD, ElementType.TYPE})
@Retention(RetentionPolicy.RUNTIME)
@ExtendWith(SvcSandboxExtension.class)
public @interface SvcSandbox {
  /** A bundled scenario. Default: the one that the server was started with, or key-states. */
  String scenario() default "";

  /** A whole number from 0. */
  String seed() default "";

  /** Start of the clock: {@code 2026-03-02T09:00:00Z}. */
  String now() default "";

  /** Whether the clock moves only when a test moves it. */
  boolean frozen() default true;

  /** {@code minimal}, {@code typical} or {@code varied}. */
  String profile() default "";
}
