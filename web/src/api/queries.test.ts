import { QueryObserver } from "@tanstack/react-query";
import { expect, test } from "vitest";
import { client, refetch } from "./queries";

test("a first answer from before a change is not taken for the newest", async () => {
  let fact = "before";
  let answer: () => void = () => undefined;
  const queryFn = () => {
    const read = fact;
    return new Promise<string>((resolve) => {
      answer = () => resolve(read);
    });
  };
  const observer = new QueryObserver(client, { queryKey: ["fact"], queryFn });
  const stop = observer.subscribe(() => undefined);
  const first = answer;
  fact = "after";
  const asked = refetch({ queryKey: ["fact"] });
  first();
  await expect.poll(() => answer !== first).toBe(true);
  answer();
  await asked;
  stop();
  expect(client.getQueryData(["fact"])).toBe("after");
});
