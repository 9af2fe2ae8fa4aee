"""`python -m subtitle_rag` is `subtitle-rag`."""

from subtitle_rag.cli import main

if __name__ == "__main__":
    main()
