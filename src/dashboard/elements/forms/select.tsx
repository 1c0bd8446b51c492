/** A value, with other words if these differ. */
export type Option = string | readonly [value: string, words: string];

/** The options of a list. */
export function Options({ of, selected }: { readonly of: readonly Option[]; readonly selected?: string }) {
  return (
    <>
      {of.map((option) => {
        const [value, words] = typeof option === "string" ? [option, option] : option;
        return (
          <option key={value} value={value} selected={value === selected}>
            {words}
          </option>
        );
      })}
    </>
  );
}

interface SelectProps {
  readonly label: string;
  readonly value: string;
  readonly of: readonly Option[];
  readonly onChange: (value: string) => void;
}

/** One value of a list, outside a form. It shows any value, also one that the list lacks. */
export function Select({ label, value, of, onChange }: SelectProps) {
  const isListed = of.some((option) => value === (typeof option === "string" ? option : option[0]));
  return (
    <label>
      {label}{" "}
      <select
        aria-label={label}
        value={value}
        onChange={({ currentTarget }) => onChange(currentTarget.value)}
      >
        <Options of={isListed ? of : [...of, value]} selected={value} />
      </select>
    </label>
  );
}
