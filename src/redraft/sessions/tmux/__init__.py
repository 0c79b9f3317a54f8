"""Sessions in tmux: panes, layout, and which pane has which document."""
