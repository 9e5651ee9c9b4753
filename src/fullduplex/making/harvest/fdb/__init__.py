"""Items for Full-Duplex-Bench and its sisters, from recorded conversations."""
