import { Check, ChevronDown } from "lucide-react";
import { DropdownMenu } from "radix-ui";
import type { ReactNode } from "react";
import ui from "@/ui/ui.module.css";
import css from "./agent.module.css";

export interface Option {
  value: string;
  label: string;
  hint: string;
}

interface PickerProps {
  label: string;
  value: string;
  options: readonly Option[];
  onPick: (value: string) => void;
  /** Menu items that are not options. */
  more?: ReactNode;
  /** Additional information, at the bottom. */
  foot?: ReactNode;
}

/** Choose one of a few options, each with a line of explanation. */
export function Picker({ label, value, options, onPick, more, foot }: PickerProps): ReactNode {
  const chosen = options.find((option) => option.value === value) ?? options[0];
  return (
    <DropdownMenu.Root>
      <DropdownMenu.Trigger className={css.picker} aria-label={`${label}: ${chosen?.label ?? ""}`}>
        <span>{chosen?.label}</span> <ChevronDown size={13} aria-hidden />
      </DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content
          className={`${ui.menu} ${css.pickerMenu}`}
          align="start"
          side="top"
          sideOffset={4}
          collisionPadding={8}
        >
          <DropdownMenu.RadioGroup value={value} onValueChange={onPick} aria-label={label}>
            {options.map((option) => (
              <DropdownMenu.RadioItem
                key={option.value}
                value={option.value}
                className={`${ui.menuItem} ${css.option}`}
              >
                <span>
                  <b>{option.label}</b>
                  <span className={css.soft}>{option.hint}</span>
                </span>
                <DropdownMenu.ItemIndicator>
                  <Check size={15} aria-hidden />
                </DropdownMenu.ItemIndicator>
              </DropdownMenu.RadioItem>
            ))}
          </DropdownMenu.RadioGroup>
          {more}
          {foot ? <div className={css.pickerFoot}>{foot}</div> : null}
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  );
}
