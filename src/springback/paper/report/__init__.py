"""Results -> results.json, a page to look at, and its Markdown twin. Nothing is computed here."""

from springback.paper.report.write import write_report

__all__ = ["write_report"]
