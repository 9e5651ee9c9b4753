"""Judges that are models behind an interface of a vendor or of a local server, and replies that were kept."""

#: What a vendor's key is called in the environment or in a ``.env`` file; judges themselves read neither.
KEY_NAMES = {"openai": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY", "gemini": "GEMINI_API_KEY"}
