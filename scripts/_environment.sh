# Sourced by start, setup and test: makes .venv from the lock file, once per change of it. Narration goes to stderr.
# shellcheck shell=bash

# say ENGLISH KOREAN: narrates in the user's language, as i18n.system_language knows it.
say() {
  local language
  for language in "${SUBTITLE_RAG_LANGUAGE:-}" "${LANGUAGE:-}" "${LC_ALL:-}" "${LC_MESSAGES:-}" "${LANG:-}"; do
    [ -z "$language" ] || break
  done
  case "$language" in
    [kK][oO]*) echo "$2" >&2 ;;
    *) echo "$1" >&2 ;;
  esac
}

find_python() {
  local candidate
  for candidate in "${PYTHON:-python3}" python3 python3.14 python3.13 python3.12 python3.11; do
    if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
      echo "$candidate"
      return
    fi
  done
  say "subtitle-rag needs Python 3.11 or newer, and none was found. Install it, or set PYTHON=/path/to/python3." \
    "Python 3.11 이상이 있어야 하는데 찾지 못했습니다. 설치하거나, PYTHON=/경로/python3 으로 알려 주세요."
  return 1
}

# write_requirements EXTRA: what the lock file has for it, with digests, and all its versions as pip's constraints. yt-dlp
# ages in weeks: one that is newer here than in the lock stays.
write_requirements() {
  .venv/bin/python - requirements.lock "$1" <<'PYTHON'
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

try:
    here = version("yt-dlp")
except PackageNotFoundError:
    here = "0"
requirements, constraints, section = [], [], ""
for entry in Path(sys.argv[1]).read_text(encoding="utf-8").replace("\\\n", "").splitlines():
    if entry.startswith("#"):
        section = entry
        continue
    pinned = entry.partition(" --hash")[0].strip()
    name, _sign, locked = pinned.partition("==")
    if name == "yt-dlp" and tuple(map(int, here.split(".")[:3])) > tuple(map(int, locked.partition(";")[0].split(".")[:3])):
        constraints.append(f"yt-dlp=={here}")
        continue
    constraints.append(pinned)
    if section == "# base" or (section == "# tests" and sys.argv[2]):
        requirements.append(entry)
Path(".venv/requirements.txt").write_text("\n".join(requirements) + "\n", encoding="utf-8")
Path(".venv/constraints.txt").write_text("\n".join(constraints) + "\n", encoding="utf-8")
PYTHON
}

# explain_failure LOG: shows what pip wrote, names the package that it was about, and tells how to go on.
explain_failure() {
  local package
  cat "$1" >&2
  package="$(sed -nE 's/^ *(Collecting|ERROR: No matching distribution found for) ([^ ;=<>]*).*/\2/p' "$1" | tail -n 1)"
  say "Installing ${package:-the packages} failed. Check the network and the free disk space, then run ./scripts/${0##*/} again: what is downloaded is kept." \
    "설치하지 못한 패키지: ${package:-알 수 없음}. 네트워크와 디스크 여유 공간을 확인하고 ./scripts/${0##*/}를 다시 실행하세요. 받은 것은 다시 받지 않습니다."
}

# with_progress COMMAND…: runs it; on a terminal its last line and the seconds are one line that changes.
with_progress() {
  local log=.venv/install.log pid status=0 start=$SECONDS width line
  if [ ! -t 2 ]; then
    "$@" >"$log" 2>&1 || { status=$?; explain_failure "$log"; }
    return "$status"
  fi
  "$@" >"$log" 2>&1 &
  pid=$!
  trap 'kill "$pid" 2>/dev/null; echo >&2; exit 130' INT TERM # bash has a background process ignore Ctrl+C
  while kill -0 "$pid" 2>/dev/null; do
    width=$(($(tput cols 2>/dev/null || echo 80) - 8))
    line="$(tail -n 1 "$log" | tr -d '\r\033')"
    printf '\r\033[K%4ds  %s' "$((SECONDS - start))" "${line:0:$width}" >&2
    sleep 0.5
  done
  printf '\r\033[K' >&2
  wait "$pid" || status=$?
  trap - INT TERM
  [ "$status" = 0 ] || explain_failure "$log"
  return "$status"
}

# ensure_environment EXTRA: "" for what users need, "test" for what the tests need as well.
ensure_environment() {
  local extra="$1" size="about 2 GB; a few minutes" size_ko="2 GB쯤, 몇 분" python stamp wanted
  if [ -z "$extra" ]; then
    size="about 350 MB; a minute"
    size_ko="350 MB쯤, 1분"
  fi
  stamp=".venv/installed${extra:+-$extra}"
  wanted="$(cat requirements.lock pyproject.toml | cksum)"
  if [ "$(cat "$stamp" 2>/dev/null)" = "$wanted" ]; then
    return
  fi
  python="$(find_python)"
  say "Installing into .venv ($size the first time)…" ".venv에 설치합니다 (처음 한 번, $size_ko)…"
  [ -x .venv/bin/python ] || "$python" -m venv .venv
  write_requirements "$extra"
  # not compiled: Python compiles what it uses, which is half of the packages' modules
  with_progress .venv/bin/python -m pip install --disable-pip-version-check --progress-bar off --no-compile \
    --no-deps --require-hashes --requirement .venv/requirements.txt
  with_progress .venv/bin/python -m pip install --disable-pip-version-check --progress-bar off --no-compile \
    --constraint .venv/constraints.txt --editable ".${extra:+[all]}"
  echo "$wanted" > "$stamp"
}
