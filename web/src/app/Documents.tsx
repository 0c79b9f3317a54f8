import { useQuery } from "@tanstack/react-query";
import { lazy, type ReactNode, Suspense } from "react";
import { tabsQuery } from "@/api/queries";
import { useStore } from "@/state/store";
import { Start } from "./Start";
import { TabBar } from "./TabBar";

const DocumentPane = lazy(() => import("@/editor/DocumentPane").then((found) => ({ default: found.DocumentPane })));

/** The open documents: their tabs, and the one in front. */
export function Documents(): ReactNode {
  const { data: tabs } = useQuery(tabsQuery);
  const active = useStore((store) => store.active);
  const order = useStore((store) => store.order);
  const open = tabs ?? [];
  const ordered = [
    ...order.flatMap((path) => open.filter((tab) => tab.path === path)),
    ...open.filter((tab) => !order.includes(tab.path)),
  ];
  const front = ordered.find((tab) => tab.path === active) ?? ordered[0];
  return (
    <>
      {ordered.length > 0 ? <TabBar tabs={ordered} front={front?.tab_id} /> : null}
      <main style={{ flex: 1, minHeight: 0, display: "flex", flexDirection: "column" }}>
        {front ? (
          <Suspense fallback={null}>
            <DocumentPane key={front.tab_id} path={front.path} tabId={front.tab_id} />
          </Suspense>
        ) : tabs ? (
          <Start />
        ) : null}
      </main>
    </>
  );
}
