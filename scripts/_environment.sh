# Sourced by start, setup and test: makes .venv from the lock file, once per change of it. Narration goes to stderr.
# shellcheck shell=bash

find_python() {
  local candidate
  for candidate in "${PYTHON:-python3}" python3 python3.14 python3.13 python3.12 python3.11; do
    if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
      echo "$candidate"
      return
    fi
  done
  echo "subtitle-rag needs Python 3.11 or newer, and none was found. Install it, or set PYTHON=/path/to/python3." >&2
  return 1
}

# The lock file as pip's constraints. yt-dlp ages in weeks: one that is newer here than in the lock stays.
write_constraints() {
  .venv/bin/python - requirements.lock > .venv/constraints.txt <<'PYTHON'
import sys
from importlib.metadata import PackageNotFoundError, version

try:
    here = version("yt-dlp")
except PackageNotFoundError:
    here = "0"
for line in open(sys.argv[1], encoding="utf-8"):
    name, _sign, locked = line.strip().partition("==")
    if name == "yt-dlp" and tuple(map(int, here.split(".")[:3])) > tuple(map(int, locked.split(".")[:3])):
        line = f"yt-dlp=={here}\n"
    print(line, end="")
PYTHON
}

# ensure_environment EXTRA: "" for what users need, "test" for what the tests need as well.
ensure_environment() {
  local extra="$1" size="about 2 GB; a few minutes" options=() python stamp wanted
  if [ -z "$extra" ]; then
    size="about 350 MB; a minute"
    options=(--no-compile) # Python compiles what it uses, which is half of the packages' modules
  fi
  stamp=".venv/installed${extra:+-$extra}"
  wanted="$(cat requirements.lock pyproject.toml | cksum)"
  if [ "$(cat "$stamp" 2>/dev/null)" = "$wanted" ]; then
    return
  fi
  python="$(find_python)"
  echo "Installing into .venv ($size the first time)…" >&2
  [ -x .venv/bin/python ] || "$python" -m venv .venv
  write_constraints
  .venv/bin/python -m pip install --quiet --disable-pip-version-check ${options[@]+"${options[@]}"} \
    --constraint .venv/constraints.txt --editable ".${extra:+[$extra]}" >&2
  echo "$wanted" > "$stamp"
}
