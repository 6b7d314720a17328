"""Results: of one model (scores), of a whole run (results_json), what is on disk of it, and what an earlier run had."""
