"""One module per kind of model, all behind the same contract."""
