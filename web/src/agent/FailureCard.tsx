import { useQuery } from "@tanstack/react-query";
import { RotateCcw } from "lucide-react";
import { type ReactNode, useState } from "react";
import { attempt } from "@/state/documents";
import { Button } from "@/ui/Button";
import { sendRequest } from "./actions";
import css from "./agent.module.css";
import type { JobView } from "./jobView";
import { jobQuery } from "./queries";

interface FailureCardProps {
  jobId: string;
  view: JobView;
  asked: string;
  last: boolean;
}

/** What an agent program has done by the time that it is stopped waits in its view: the reason says so. */
function describeStop({ failure }: JobView): string {
  const reason = failure?.reason ?? "";
  return reason.includes("redraft views") ? reason : "Stopped. Nothing was changed.";
}

/** Why a job failed, in a sentence with the next step. */
export function FailureCard({ jobId, view, asked, last }: FailureCardProps): ReactNode {
  const { data: job } = useQuery({ ...jobQuery(jobId), enabled: view.phase === "failed" });
  const [trying, setTrying] = useState(false);
  const cancelled = view.phase === "cancelled";
  const retry = async () => {
    setTrying(true);
    await attempt(() => sendRequest(asked));
    setTrying(false);
  };
  return (
    <div className={cancelled ? css.stopped : css.failure} role={cancelled ? "status" : "alert"}>
      <p>
        {cancelled ? describeStop(view) : view.failure?.reason || "Something went wrong."}{" "}
        {cancelled ? null : `${job?.error?.suggestion ?? ""} Nothing was changed.`}
      </p>
      {last && !view.rerun ? (
        <Button small disabled={trying} onClick={() => void retry()}>
          <RotateCcw size={12} aria-hidden /> {cancelled ? "Ask again" : "Retry"}
        </Button>
      ) : null}
    </div>
  );
}
