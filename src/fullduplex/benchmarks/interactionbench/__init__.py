"""InteractionBench: what is asked, what is measured, and what was printed."""
