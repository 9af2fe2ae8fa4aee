"""Listen in this process: `python -m subtitle_rag.listening`, with an order as a line of JSON on stdin.

Replies are lines of JSON on stdout: stretches, `{"state": …}` as signs of life, and in the end `{"state": "done"}` or
`{"error": code, "details": …}`. The end of stdin is the end of the parent, and of this process.
"""

import sys

from subtitle_rag.listening.child import main

if __name__ == "__main__":
    sys.exit(main())
