"""Entry point of the console script and of `python -m subtitle_rag`."""

import signal
import sys

from subtitle_rag.base.garbage import tune_garbage_collector


def main() -> None:
    """Run the command line. Ctrl+C while its modules load ends the process in silence, like that of any program."""
    handler = signal.getsignal(signal.SIGINT)
    is_default = handler is signal.default_int_handler  # a shell's background jobs ignore it
    if is_default:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    tune_garbage_collector()
    from subtitle_rag.base.output import ExitCode
    from subtitle_rag.cli import main as cli

    if is_default:
        signal.signal(signal.SIGINT, handler)
    try:
        cli.main()
    except KeyboardInterrupt:  # before the first command's own answer to it, or after
        sys.exit(ExitCode.INTERRUPTED)


if __name__ == "__main__":
    main()
