"""Items out of recorded conversations: what is looked for, what is kept, and why the rest is not."""
