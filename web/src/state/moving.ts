/** Documents that were moved, by the person or by anybody else: this window goes along. */

import { show, useStore } from "./store";

/** What this window shows of a document goes where that went. */
export function follow(from: string, to: string): void {
  const { order, active, views, tabs } = useStore.getState();
  const [view, tab] = [views[from], tabs[from]];
  show({
    order: order.map((path) => (path === from ? to : path)),
    active: active === from ? to : active,
    views: view ? { ...views, [to]: view } : views,
    tabs: tab ? { ...tabs, [to]: tab } : tabs,
  });
}

/**
 * The server told which documents are open, each with the tab that it keeps when it is moved. This is done before anybody
 * is shown the news: whoever has the old ones still finds the document in front by its tab.
 */
export function goAlong(open: readonly { tab_id: string; path: string }[]): void {
  const { tabs: known } = useStore.getState();
  for (const { tab_id, path } of open) {
    for (const before of Object.keys(known)) if (known[before] === tab_id && before !== path) follow(before, path);
  }
  show({ tabs: Object.fromEntries(open.map(({ path, tab_id }) => [path, tab_id])) });
}
