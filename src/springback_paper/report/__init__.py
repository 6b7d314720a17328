"""Results -> results.json, an HTML page, and the same page in Markdown. Nothing is computed here."""

from springback_paper.report.write import write_report

__all__ = ["write_report"]
