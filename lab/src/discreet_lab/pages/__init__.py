"""Pages of results: tables, figures, claims and their verdicts, as Markdown and HTML."""
