"""Transcription in this process: `python -m subtitle_rag.listening`, with a job as a line of JSON on stdin.

Replies are lines of JSON on stdout: stretches, `{"state": …}` as signs of life, and last `{"state": "done"}` or
`{"error": code, "details": …}`. When stdin ends, the parent has ended, and so does this process.
"""

import sys

from subtitle_rag.listening.child import main

if __name__ == "__main__":
    sys.exit(main())
