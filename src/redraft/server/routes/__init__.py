"""The routes: one module for each family. A route takes its arguments apart, works at its `RequestContext`, and tells a
shape."""
