"""The routes: one module for each family. A route takes its arguments apart, works at its `Desk`, and tells a shape."""
