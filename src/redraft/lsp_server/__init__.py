"""The review in any editor that speaks the Language Server Protocol, on stdin and stdout.

It is a client of the folder's server, as the app is, and holds no truth of its own: `mirror` keeps an editor's text and
the document in step, `room` is the connection to a live document, `folder_client` asks the server and hears what
changed, `hunk_places` finds where hunks are in the text, and `language_server` is what an editor sees of it.
"""
