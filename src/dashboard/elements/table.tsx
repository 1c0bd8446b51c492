import type { ComponentChildren } from "preact";

export interface Row {
  readonly key: string;
  readonly cells: readonly ComponentChildren[];
}

interface TableProps {
  readonly label: string;
  readonly columns: readonly string[];
  /** The columns with numbers. */
  readonly numbers?: readonly string[];
  /** The columns that a narrow table leaves out. */
  readonly minor?: readonly string[];
  /** The widths of the columns. Default: as their content needs. */
  readonly widths?: readonly string[];
  readonly rows: readonly Row[];
}

/** A table that scrolls sideways if it is wider than its place, also by keyboard. On a phone, the cells of a row are below each other. */
export function Table({ label, columns, numbers = [], minor = [], widths = [], rows }: TableProps) {
  const classOf = (column: string) =>
    `${numbers.includes(column) ? "number" : ""} ${minor.includes(column) ? "minor" : ""}`;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrolling requires focus for keyboard users
    <section class="scrolling" aria-label={label} tabIndex={0}>
      <table class={widths.length > 0 ? "fixed" : ""}>
        <thead>
          <tr>
            {columns.map((column, index) => (
              <th scope="col" key={column} class={classOf(column)} style={{ width: widths[index] }}>
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ key, cells: [heading, ...cells] }) => (
            <tr key={key} data-row={key}>
              <th scope="row">{heading}</th>
              {columns.slice(1).map((column, index) => (
                <td key={column} class={classOf(column)} data-column={column}>
                  {cells[index]}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
