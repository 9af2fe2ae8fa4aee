# Sourced by start and test: makes .venv from the lock file, once per change of it. Narration goes to stderr.
# shellcheck shell=bash

find_python() {
  local candidate
  for candidate in "${PYTHON:-python3}" python3 python3.13 python3.12 python3.11; do
    if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
      echo "$candidate"
      return
    fi
  done
  echo "subtitle-rag needs Python 3.11 or newer, and none was found. Install it, or set PYTHON=/path/to/python3." >&2
  return 1
}

# ensure_environment EXTRA: "" for what users need, "test" for what the tests need as well.
ensure_environment() {
  local extra="$1" python stamp wanted
  stamp=".venv/installed${extra:+-$extra}"
  wanted="$(cat requirements.lock pyproject.toml | cksum)"
  if [ "$(cat "$stamp" 2>/dev/null)" = "$wanted" ]; then
    return
  fi
  python="$(find_python)"
  echo "Installing into .venv (about 2 GB; a few minutes the first time)…" >&2
  [ -x .venv/bin/python ] || "$python" -m venv .venv
  .venv/bin/python -m pip install --quiet --disable-pip-version-check \
    --constraint requirements.lock --editable ".${extra:+[$extra]}" >&2
  echo "$wanted" > "$stamp"
}
