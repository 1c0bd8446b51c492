import type { ComponentChildren } from "preact";

interface TableProps {
  readonly label: string;
  readonly columns: readonly string[];
  /** The columns with numbers. */
  readonly numbers?: readonly string[];
  /** The rows. */
  readonly children: ComponentChildren;
}

/** A table that scrolls sideways if it is wider than the page, also by keyboard. */
export function Table({ label, columns, numbers = [], children }: TableProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrolling requires focus for keyboard users
    <section class="scrolling" aria-label={label} tabIndex={0}>
      <table>
        <thead>
          <tr>
            {columns.map((column) => (
              <th scope="col" key={column} class={numbers.includes(column) ? "number" : undefined}>
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </section>
  );
}
