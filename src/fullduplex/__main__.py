"""``python -m fullduplex`` is the command."""

from fullduplex.cli import main

if __name__ == "__main__":
    main()
