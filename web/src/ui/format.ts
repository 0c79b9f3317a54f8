/** Numbers and times as people write them. */

/** "1 change", "1,200 changes", "2 matches"; `many` is for irregular plurals. */
export function pluralize(count: number, one: string, many = plural(one)): string {
  return `${count.toLocaleString("en")} ${count === 1 ? one : many}`;
}

function plural(one: string): string {
  return `${one}${/(?:ch|sh|s|x)$/.test(one) ? "es" : "s"}`;
}

const AGES: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ["day", 86_400],
  ["hour", 3600],
  ["minute", 60],
];
const RELATIVE = new Intl.RelativeTimeFormat("en", { numeric: "auto" });

/** "5 minutes ago", and the date for what is older than a week. */
export function formatAge(at: Date, now: Date = new Date()): string {
  const seconds = (now.getTime() - at.getTime()) / 1000;
  if (seconds > 7 * 86_400) return at.toLocaleDateString("en", { dateStyle: "medium" });
  const [unit, size] = AGES.find(([, each]) => seconds >= each) ?? [null, 1];
  return unit ? RELATIVE.format(-Math.floor(seconds / size), unit) : "just now";
}
