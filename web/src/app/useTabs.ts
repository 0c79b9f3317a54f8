import { useQuery } from "@tanstack/react-query";
import type { Schemas } from "@/api/client";
import { tabsQuery } from "@/api/queries";
import { useStore } from "@/state/store";

type Tab = Schemas["TabShape"];

/** The open documents in this window's order, and the one in front; null until the server has told them. */
export function useTabs(): { tabs: Tab[] | null; front: Tab | undefined } {
  const { data: open } = useQuery(tabsQuery);
  const active = useStore((store) => store.active);
  const order = useStore((store) => store.order);
  if (!open) return { tabs: null, front: undefined };
  const tabs = [
    ...order.flatMap((path) => open.filter((tab) => tab.path === path)),
    ...open.filter((tab) => !order.includes(tab.path)),
  ];
  return { tabs, front: tabs.find((tab) => tab.path === active) ?? tabs[0] };
}
