"""DuplexAct: eight interaction actions under twenty-four conditions, at once and followed through."""
