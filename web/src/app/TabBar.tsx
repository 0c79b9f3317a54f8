import { X } from "lucide-react";
import { type KeyboardEvent, type ReactNode, useRef } from "react";
import type { Schemas } from "@/api/client";
import { closeDocument, showTab } from "@/state/documents";
import css from "./TabBar.module.css";
import { TabPreview } from "./TabPreview";

interface TabBarProps {
  tabs: Schemas["TabShape"][];
  front: string | undefined;
}

export function fileName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** The tabs, as in browsers: arrow keys switch, a middle click or Delete closes. */
export function TabBar({ tabs, front }: TabBarProps): ReactNode {
  const list = useRef<HTMLDivElement>(null);

  const onKey = (event: KeyboardEvent, at: number) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const tab = tabs[at];
    if (event.key === "Delete" && tab) void closeDocument(tab.tab_id, tab.path);
    const next = step === undefined ? undefined : tabs[(at + step + tabs.length) % tabs.length];
    if (!next || step === undefined) return;
    event.preventDefault();
    showTab(next.path);
    list.current?.querySelectorAll<HTMLElement>('[role="tab"]')[(at + step + tabs.length) % tabs.length]?.focus();
  };

  return (
    <div className={css.bar} role="tablist" aria-label="Open documents" ref={list}>
      {tabs.map((tab, at) => {
        const selected = tab.tab_id === front;
        const twin = tabs.some((other) => other !== tab && fileName(other.path) === fileName(tab.path));
        return (
          <div key={tab.tab_id} className={css.tab} data-front={selected} role="presentation">
            <TabPreview tab={tab}>
              <button
                type="button"
                role="tab"
                aria-selected={selected}
                tabIndex={selected ? 0 : -1}
                aria-keyshortcuts="Delete"
                className={css.name}
                onClick={() => showTab(tab.path)}
                onAuxClick={(event) => event.button === 1 && void closeDocument(tab.tab_id, tab.path)}
                onKeyDown={(event) => onKey(event, at)}
              >
                {twin ? tab.path : fileName(tab.path)}
                {tab.is_dirty ? <span className={css.dirty} role="img" aria-label="unsaved" /> : null}
              </button>
            </TabPreview>
            <button
              type="button"
              className={css.close}
              // A tablist may contain only tabs: with the keyboard or a screen reader, Delete closes.
              aria-hidden="true"
              title={`Close ${tab.path}`}
              tabIndex={-1}
              onClick={() => void closeDocument(tab.tab_id, tab.path)}
            >
              <X size={13} />
            </button>
          </div>
        );
      })}
    </div>
  );
}
