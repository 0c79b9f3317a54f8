import { useQuery } from "@tanstack/react-query";
import type { Schemas } from "@/api/client";
import { tabsQuery } from "@/api/queries";
import { useStore } from "@/state/store";

type Tab = Schemas["TabShape"];

/** The open documents in this window's order, and the one in front; null until the server has answered. */
export function useTabs(): { tabs: Tab[] | null; front: Tab | undefined } {
  const { data: open } = useQuery(tabsQuery);
  const active = useStore((store) => store.active);
  const order = useStore((store) => store.order);
  const known = useStore((store) => store.tabs);
  if (!open) return { tabs: null, front: undefined };
  // A moved document is found by its tab, under whichever name is known so far.
  const now = (path: string) => open.find((tab) => tab.tab_id === known[path])?.path ?? path;
  const paths = order.map(now);
  const tabs = [
    ...paths.flatMap((path) => open.filter((tab) => tab.path === path)),
    ...open.filter((tab) => !paths.includes(tab.path)),
  ];
  const inFront = active === null ? null : now(active);
  return { tabs, front: tabs.find((tab) => tab.path === inFront) ?? tabs[0] };
}
