"""Runs one of the benchmarks beside this module, by its name."""

import sys
from importlib import import_module
from pathlib import Path

NAMES = sorted(path.stem for path in Path(__file__).parent.glob("*.py") if not path.stem.startswith("_"))


def main(arguments: list[str]) -> int:
    name, *rest = arguments or ["--help"]
    if name not in NAMES:
        print(f"usage: scripts/bench NAME [--help] [OPTIONS]\n\nNAME is one of: {', '.join(NAMES)}", file=sys.stderr)
        return 0 if name in ("-h", "--help") else 2
    sys.argv = [f"scripts/bench {name}", *rest]
    return import_module(f"scripts.benchmarks.{name}").main() or 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
