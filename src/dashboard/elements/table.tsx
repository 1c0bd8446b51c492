import type { ComponentChildren } from "preact";

export interface Row {
  readonly key: string;
  readonly cells: readonly ComponentChildren[];
  /** Shown below the cells, as wide as the table. */
  readonly below?: ComponentChildren;
}

interface TableProps {
  readonly label: string;
  readonly columns: readonly string[];
  /** The columns with numbers. */
  readonly numbers?: readonly string[];
  /** The columns that a narrow page leaves out. */
  readonly minor?: readonly string[];
  readonly rows: readonly Row[];
}

/** A table that scrolls sideways if it is wider than the page, also by keyboard. On a phone it is a list. */
export function Table({ label, columns, numbers = [], minor = [], rows }: TableProps) {
  const classOf = (column: string) =>
    `${numbers.includes(column) ? "number" : ""} ${minor.includes(column) ? "minor" : ""}`;
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
          {rows.map(({ key, cells: [heading, ...cells], below }) => [
            <tr key={key} data-row={key}>
              <th scope="row">{heading}</th>
              {columns.slice(1).map((column, index) => (
                <td key={column} data-label={column} class={classOf(column)}>
                  <div>{cells[index]}</div>
                </td>
              ))}
            </tr>,
            below ? (
              <tr key={`${key} below`} class="below">
                <td colSpan={columns.length}>{below}</td>
              </tr>
            ) : null,
          ])}
        </tbody>
      </table>
    </section>
  );
}
