import type { ComponentChildren } from "preact";

export interface Row {
  readonly key: string;
  readonly cells: readonly ComponentChildren[];
}

interface TableProps {
  readonly label: string;
  readonly columns: readonly string[];
  readonly numbers?: readonly string[];
  readonly rows: readonly Row[];
}

/** A table that scrolls sideways if it is wider than the page, also by keyboard. On a narrow page it is a list. */
export function Table({ label, columns, numbers = [], rows }: TableProps) {
  const classOf = (column = "") => (numbers.includes(column) ? "number" : undefined);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrolling requires focus for keyboard users
    <section class="scrolling" aria-label={label} tabIndex={0}>
      <table>
        <thead>
          <tr>
            {columns.map((column) => (
              <th scope="col" key={column} class={classOf(column)}>
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ key, cells: [heading, ...cells] }) => (
            <tr key={key}>
              <th scope="row">{heading}</th>
              {cells.map((cell, index) => {
                const column = columns[index + 1];
                return (
                  <td key={column} data-label={column} class={classOf(column)}>
                    <div>{cell}</div>
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
