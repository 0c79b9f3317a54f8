"""What outlives the process: sessions, jobs, events, steps, usage."""
