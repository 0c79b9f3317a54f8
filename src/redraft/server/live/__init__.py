"""Live documents: one room for each document that is being typed into, over websockets.

A document's text file and its review stay the truth; the room is a replica of the working text that people type into
together. `wire` reads and writes the protocol, `admission` judges what a client sends before anything takes it in,
`indices` is the one place where bytes become code points, `kept` keeps a room's state through a restart, `mirror` joins
a room and the workspace, `presence` says who is there, `editors` brings the calls of tools to rich editors, `room` and
`rooms` live on the event loop, and `socket` is one connection.
"""
