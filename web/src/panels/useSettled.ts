import { useEffect, useState } from "react";

/** A value once it has not changed for a while. */
export function useSettled<T>(value: T, afterMs: number): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const soon = setTimeout(() => setSettled(value), afterMs);
    return () => clearTimeout(soon);
  }, [value, afterMs]);
  return settled;
}
