/**
 * Which change's bar is shown, and where: right at its words, with a ring around them. A bar is shown at the change that
 * the keyboard is on, that the pointer is over, that was tapped, or that the cursor is in; never more than one.
 *
 * The bars themselves lie in the text, in reading order, so that Tab and a screen reader find each of them.
 */

import css from "./marks.module.css";

export interface BarHost {
  /** The element with the text and the bars. */
  root: HTMLElement;
  /** The element that scrolls it. */
  scroller: HTMLElement;
  /** The change that the cursor is in, while the text has the focus. */
  current: () => string | null;
}

/** How long a bar stays after the pointer has left it, on the way from the words to the bar. */
const LEAVE_MS = 250;
const GAP = 4;
const MOST_RINGS = 40;

export class FloatingBars {
  #hovered: string | null = null;
  /** Shown until something else is: tapped, or just arrived. */
  #pinned: string | null = null;
  /** While somebody types beside a change, its bar would hide the next line. */
  #hushed = false;
  #shown: HTMLElement | null = null;
  #leaving: ReturnType<typeof setTimeout> | undefined;
  readonly #ended = new AbortController();
  readonly #sizes = new ResizeObserver(() => this.#place());

  constructor(readonly host: BarHost) {
    const { root, scroller } = host;
    const { signal } = this.#ended;
    root.addEventListener("pointerover", (event) => this.#over(event), { signal });
    root.addEventListener("pointerleave", () => this.#leave(), { signal });
    root.addEventListener("click", (event) => this.#tap(event), { signal });
    for (const event of ["focusin", "focusout"] as const) {
      root.addEventListener(event, () => queueMicrotask(() => this.update()), { signal });
    }
    scroller.addEventListener("scroll", () => this.#place(), { signal, passive: true });
    addEventListener("resize", () => this.#place(), { signal });
    // A banner above the text comes and goes, lines wrap anew.
    this.#sizes.observe(root);
    this.#sizes.observe(scroller);
  }

  end(): void {
    clearTimeout(this.#leaving);
    this.#sizes.disconnect();
    this.#ended.abort();
  }

  /** The cursor was moved, which is not typing. */
  noteMove(): void {
    this.#hushed = false;
    this.#pinned = null;
  }

  noteTyping(): void {
    this.#hushed = true;
    this.#pinned = null;
    this.#hovered = null;
  }

  /** Show the bar of a change until the person turns to something else. */
  pin(id: string): void {
    this.#pinned = id;
  }

  /** The text, the cursor or the changes are others than before. */
  update(): void {
    if (this.#ended.signal.aborted) return;
    const focused = document.activeElement?.closest<HTMLElement>("[data-hunk]:not([data-standing])");
    const bar = focused && this.host.root.contains(focused) ? focused : this.#find(this.#wanted());
    if (bar !== this.#shown) {
      this.#hide();
      this.#shown = bar;
      if (bar) bar.dataset.shown = "";
    }
    this.#place();
  }

  #wanted(): string | null {
    return this.#hovered ?? (this.#hushed ? null : (this.host.current() ?? this.#pinned));
  }

  #find(id: string | null): HTMLElement | null {
    return id === null ? null : this.host.root.querySelector(`[data-hunk="${CSS.escape(id)}"]:not([data-standing])`);
  }

  #over({ target, pointerType }: PointerEvent): void {
    if (pointerType === "touch") return; // comes with a tap, and goes with it
    const id = changeOf(target);
    if (id === null) {
      this.#leave();
      return;
    }
    clearTimeout(this.#leaving);
    this.#leaving = undefined;
    if (id === this.#hovered) return;
    this.#hovered = id;
    this.update();
  }

  #leave(): void {
    if (this.#hovered === null) return;
    this.#leaving ??= setTimeout(() => {
      this.#leaving = undefined;
      this.#hovered = null;
      this.update();
    }, LEAVE_MS);
  }

  #tap({ target }: MouseEvent): void {
    if ((target as Element).closest("[data-hunk]")) return;
    this.#hushed = false;
    this.#pinned = changeOf(target);
    this.update();
  }

  #hide(): void {
    if (!this.#shown) return;
    delete this.#shown.dataset.shown;
    this.#shown.style.removeProperty("left");
    this.#shown.style.removeProperty("top");
    this.#rings([]);
  }

  #place(): void {
    const bar = this.#shown;
    if (!bar) return;
    if (!bar.isConnected) {
      this.#shown = null;
      return;
    }
    const area = this.host.scroller.getBoundingClientRect();
    const words = this.#words(bar);
    const [top, bottom] = [Math.min(...words.map((each) => each.top)), Math.max(...words.map((each) => each.bottom))];
    const [first] = words;
    if (!first) return;
    const seen = bottom > area.top && top < area.bottom;
    bar.dataset.away = String(!seen && !bar.contains(document.activeElement));
    const { offsetWidth: width, offsetHeight: height } = bar;
    const left = Math.max(area.left + GAP, Math.min(first.left, area.right - width - 4 * GAP));
    bar.style.left = `${left}px`;
    bar.style.top = `${placeBeside({ top, bottom, line: first.height }, area, height)}px`;
    this.#rings(seen ? words.slice(0, MOST_RINGS) : [], area);
  }

  /** Where the words of a change are on the screen; the place of its bar, if it has none. */
  #words(bar: HTMLElement): DOMRect[] {
    const marks = this.host.root.querySelectorAll(`[data-of="${CSS.escape(bar.dataset.hunk ?? "")}"]`);
    const rects = [...marks].flatMap((each) => [...each.getClientRects()]).filter(({ width }) => width > 0);
    return rects.length > 0 ? rects : [bar.parentElement?.getBoundingClientRect() ?? new DOMRect()];
  }

  #rings(words: readonly DOMRect[], area?: DOMRect): void {
    const anchor = this.#shown?.parentElement;
    for (const old of anchor?.querySelectorAll("i") ?? []) old.remove();
    for (const { left, right, top, bottom } of words) {
      if (!anchor || !area || bottom < area.top || top > area.bottom || right <= left) continue;
      const ring = anchor.appendChild(document.createElement("i"));
      ring.className = css.ring ?? "";
      ring.ariaHidden = "true";
      Object.assign(ring.style, px({ left, top, width: right - left, height: bottom - top }));
    }
  }
}

function px(places: Record<string, number>): Record<string, string> {
  return Object.fromEntries(Object.entries(places).map(([name, place]) => [name, `${place}px`]));
}

/** The change whose words, or whose bar, an element belongs to. */
function changeOf(target: EventTarget | null): string | null {
  const found = target instanceof Element ? target.closest<HTMLElement>("[data-of], [data-hunk]") : null;
  return found?.dataset.of ?? found?.dataset.hunk ?? null;
}

/** Below words on one line or two, above longer ones, and always within the area. */
function placeBeside(
  { top, bottom, line }: { top: number; bottom: number; line: number },
  area: DOMRect,
  height: number,
): number {
  const [above, below] = [top - height - GAP, bottom + GAP];
  const fitsAbove = above >= area.top;
  const fitsBelow = below + height <= area.bottom;
  const short = bottom - top < 2.5 * line;
  if (short ? fitsBelow : !fitsAbove && fitsBelow) return below;
  return fitsAbove ? above : Math.min(Math.max(above, area.top + GAP), area.bottom - height - GAP);
}
