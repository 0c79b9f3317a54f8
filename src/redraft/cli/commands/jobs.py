"""`redraft jobs`: list the agent's jobs, and answer their questions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from redraft.cli.command import Command, Invocation, positive_number
from redraft.cli.display import format_time, shorten
from redraft.cli.screen import BOLD, CYAN, DIM, GREEN, RED, YELLOW, StyledText

if TYPE_CHECKING:
    from argparse import ArgumentParser

    from redraft.agent.agent import Agent
    from redraft.agent.store.jobs import Job

STYLES = {"completed": GREEN, "failed": RED, "awaiting_review": YELLOW, "waiting_for_user": CYAN}


def jobs(call: Invocation) -> int:
    from redraft.cli.commands.ask import JobFollower
    from redraft.runtime import open_agent

    arguments = call.arguments
    with call.workspace() as workspace, open_agent(workspace) as agent:
        if arguments.resume:
            for job in agent.resume():
                JobFollower(call, agent).follow(job)
        if arguments.job is None:
            return _list_jobs(call, agent)
        return _show_job(call, agent, agent.store.jobs.get(arguments.job))


def _list_jobs(call: Invocation, agent: Agent) -> int:
    found = [agent.job(job.id) for job in agent.store.jobs.recent(call.arguments.limit)]
    if call.screen.json:
        call.emit({"jobs": found})
        return 0
    for job in found:
        status = str(job["status"])
        call.screen.line(
            StyledText(f"{job['id']}  ", BOLD),
            StyledText(f"{job['created_at'][:16]}  ", DIM),
            StyledText(f"{'interrupted' if job['interrupted'] else status:<17}", STYLES.get(status, "")),
            shorten(" ".join(str(job["instruction"]).split())),
        )
    if any(job["interrupted"] for job in found):
        call.screen.line(
            "The process that ran an interrupted job has ended. Resume the job with ",
            StyledText(call.command_line("jobs", "--resume"), CYAN),
        )
    if not found:
        call.screen.line("There are no jobs.")
    return 0


def _show_job(call: Invocation, agent: Agent, job: Job) -> int:
    arguments = call.arguments
    if arguments.save is not None:
        from redraft.agent.memory.macros import Macros, calls_of_job

        tools = agent.environment.registry
        Macros(agent.store.state).save(arguments.save, calls_of_job(agent.store, job.id, tools), tools)
    if arguments.cancel:
        agent.cancel(job.id)
    if job.question is not None and arguments.answer is not None:
        agent.answer(job.id, job.question.id, arguments.answer)
    if job.question is not None and (arguments.yes or arguments.no):
        agent.confirm(job.id, job.question.id, allow=arguments.yes and not arguments.no)
    if job.question is not None and agent.is_running_here(job.id):
        from redraft.cli.commands.ask import JobFollower

        JobFollower(call, agent).follow(job)
    shape = agent.job(job.id)
    events = [event.as_dict() for event in agent.masked_events.after(job.id)]
    if call.screen.json:
        call.emit({**shape, "events": events, "usage": agent.store.usage.of_job(job.id).as_dict()})
    else:
        _print_job(call, agent.store.jobs.get(job.id), events)
    return 0


def _print_job(call: Invocation, job: Job, events: list[dict[str, Any]]) -> None:
    screen = call.screen
    screen.line(StyledText(job.id, BOLD), f"  {job.status}  {format_time(job.created_at)}")
    screen.line(f"  {shorten(' '.join(job.instruction.split()))}")
    for event in events:
        about = event["data"].get("summary") or event["data"].get("reason") or event["data"].get("question") or ""
        screen.line(StyledText(f"  {event['cursor']:>4}  {event['type']:<26}", DIM), shorten(str(about)))
    if job.question is not None:
        screen.line(f"It asks: {job.question.text}")
        for path in job.question.paths:
            screen.line(f"  {path}")
    if job.error is not None:
        screen.line(StyledText(str(job.error["message"]), RED))
    elif job.answer:
        for line in job.answer.splitlines():
            screen.line(f"  {line}")


def configure(parser: ArgumentParser) -> None:
    parser.add_argument("job", metavar="JOB", nargs="?", help="show this job, with its events")
    parser.add_argument("--limit", metavar="N", type=positive_number, default=20, help="how many to list (default: 20)")
    parser.add_argument("--answer", metavar="TEXT", help="answer the job's question")
    parser.add_argument("--yes", action="store_true", help="allow what the job wants to do")
    parser.add_argument("--no", action="store_true", help="refuse it, which ends the job")
    parser.add_argument("--cancel", action="store_true", help="stop the job and discard its changes")
    parser.add_argument("--save", metavar="NAME", help="save what the job did as a macro")
    parser.add_argument("--resume", action="store_true", help="resume jobs that were interrupted")


COMMANDS = {
    "jobs": Command(
        "jobs",
        "List the agent's jobs, or manage one",
        jobs,
        configure,
        ("jobs", "jobs job_0f3c --answer 'The short form'", "jobs job_0f3c --yes", "jobs --resume"),
        "The agent's jobs in this folder, newest first; with a job's id, what happened in it. A job that waits for\n"
        "an answer or for consent continues once it has it, whichever program started it.",
    )
}
