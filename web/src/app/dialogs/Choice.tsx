import type { ReactNode } from "react";
import { Labelled } from "@/ui/Small";
import ui from "@/ui/ui.module.css";

/** Each value with its label. */
export type Options<Value> = readonly (readonly [Value, string])[];

interface ChoiceProps<Value extends string> {
  label: string;
  options: Options<Value>;
  value: string;
  onChange: (value: Value) => void;
}

/** Choose one of a few values, with a label. */
export function Choice<Value extends string>({ label, options, value, onChange }: ChoiceProps<Value>): ReactNode {
  return (
    <Labelled label={label}>
      <select className={ui.field} value={value} onChange={(event) => onChange(event.target.value as Value)}>
        {options.map(([name, words]) => (
          <option key={name} value={name}>
            {words}
          </option>
        ))}
      </select>
    </Labelled>
  );
}
