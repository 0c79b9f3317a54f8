/** The typed API client. Every failure becomes one kind of error, with a sentence and a next step. */

import createClient, { type Middleware } from "openapi-fetch";
import type { components, paths } from "./schema";

export type Schemas = components["schemas"];

export class Failure extends Error {
  constructor(
    message: string,
    readonly code: string,
    readonly status: number,
    readonly suggestion: string = "",
    readonly details: Record<string, unknown> = {},
  ) {
    super(message);
    this.name = "Failure";
  }

  /** What happened and what to do next, in one line. */
  get sentence(): string {
    return this.suggestion ? `${this.message} ${this.suggestion}` : this.message;
  }
}

export const UNREACHABLE = "unreachable";

// Idempotent requests need no key, and are too frequent for the server to store one for each.
const REPEATABLE: readonly string[] = ["/api/tabs/front" satisfies keyof paths];

const addIdempotencyKey: Middleware = {
  onRequest({ request, schemaPath }) {
    const repeatable = request.method === "GET" || REPEATABLE.includes(schemaPath);
    if (!repeatable && !request.headers.has("Idempotency-Key")) {
      request.headers.set("Idempotency-Key", crypto.randomUUID());
    }
    return request;
  },
};

export const server = createClient<paths>({ baseUrl: globalThis.location?.origin ?? "http://localhost" });
server.use(addIdempotencyKey);

interface Answer<T> {
  data?: T;
  error?: unknown;
  response: Response;
}

/** The data of the answer; throws a `Failure` otherwise. */
export async function unwrap<T>(asked: Promise<Answer<T>>): Promise<T> {
  let answer: Answer<T>;
  try {
    answer = await asked;
  } catch {
    throw new Failure(
      "The server cannot be reached.",
      UNREACHABLE,
      0,
      "What you type is kept in this browser until it is back.",
    );
  }
  if (!answer.response.ok) throw toFailure(answer.error, answer.response.status);
  return answer.data as T;
}

function toFailure(error: unknown, status: number): Failure {
  const shape = (typeof error === "object" && error !== null ? error : {}) as Partial<Schemas["ErrorShape"]>;
  const message = shape.message ?? `The server returned ${status}.`;
  const details = (shape.details ?? {}) as Record<string, unknown>;
  return new Failure(message, shape.error ?? "failed", status, shape.suggestion ?? "", details);
}

export function errorMessage(error: unknown): string {
  if (error instanceof Failure) return error.sentence;
  return error instanceof Error ? error.message : "Something went wrong.";
}
