"""The derived, disposable search index: one interface, one module per engine."""
