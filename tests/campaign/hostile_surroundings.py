#!/usr/bin/env python3
"""Run a test command in surroundings that no test may notice, and print what it touched there; nothing is good.

    tests/campaign/hostile_surroundings.py .venv/bin/pytest

Something answers on the ports of Ollama and Qdrant, home and settings are somebody's and broken, and the time zone,
the locale and the terminal are unusual; players, browsers and the clipboard's programs only note that they were
started. Exits with the command's status; with 1 where the record is not empty, with 2 where a port is taken.
"""

import os
import shlex
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

PORTS = (11434, 6333, 6334)
# Chromium and git are none of them: a test that names them starts the real ones
PLAYERS = ("mpv", "vlc", "iina-cli")
BROWSERS = ("firefox", "xdg-open", "open", "www-browser", "sensible-browser")
CLIPBOARDS = ("xclip", "xsel", "wl-copy", "pbcopy", "clip.exe")
OTHERS = ("dbus-send", "dbus-launch", "notify-send", "ollama", "qdrant", "ssh")
RUBBISH = "= no [ TOML\x00\n"
SETTINGS = (
    "home/.config/subtitle-rag/config.toml",
    "home/.config/yt-dlp/config",
    "home/.config/mpv/mpv.conf",
    "home/.cache/subtitle-rag/canary",
    "home/.cache/huggingface/token",
    "home/.local/share/subtitle-rag/library.db",
    "home/.local/state/subtitle-rag/log/canary",
    "home/.subtitle-rag/config.toml",
    "home/.subtitle-rag/data/library.db",
    "home/.netrc",
    "home/.pdbrc",
    "home/.gitconfig",
    "home/Library/Application Support/subtitle-rag/config.toml",
    "home/Library/Caches/subtitle-rag/canary",
    "xdg/config/subtitle-rag/config.toml",
    "xdg/config/yt-dlp/config",
    "xdg/data/subtitle-rag/library.db",
    "xdg/cache/subtitle-rag/canary",
    "xdg/state/subtitle-rag/canary",
    "xdg/runtime/canary",
)
NOTING = '#!/bin/sh\nprintf "%s %s\\n" "$0" "$*" >> {calls}\nexit 1\n'
ANSWER_S = 0.5
"""How long a caller may take to say what it wants; it is answered nothing."""


def process_of(port: int) -> str:
    """The process whose connection comes from this port, as " by …"; empty where the system does not tell."""
    with suppress(OSError):
        lines = Path("/proc/net/tcp").read_text(encoding="ascii").splitlines()[1:]
        sockets = {f"socket:[{line.split()[9]}]" for line in lines if line.split()[1].endswith(f":{port:04X}")}
        for link in Path("/proc").glob("[0-9]*/fd/*"):
            with suppress(OSError):
                if str(link.readlink()) in sockets:
                    process = link.parents[1]
                    command = process.joinpath("cmdline").read_text(encoding="utf-8", errors="replace")
                    return (
                        f" by process {process.name} in {(process / 'cwd').readlink()}: {command.replace(chr(0), ' ')}"
                    )
    return ""


class Listener:
    """Notes who connects to a port of this computer; raises OSError where the port is taken."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_server(("127.0.0.1", port))
        self.port = self._socket.getsockname()[1]
        self.callers: list[str] = []
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        while True:
            try:
                caller, address = self._socket.accept()
            except OSError:  # closed
                return
            by = process_of(address[1])
            with caller:
                caller.settimeout(ANSWER_S)
                first = b""
                with suppress(OSError):
                    first = caller.recv(200)
                self.callers.append(f"port {self.port}: {first.splitlines()[:1]}{by}")

    def close(self) -> None:
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)  # wakes the thread
        self._socket.close()
        self._thread.join()


def environment(folder: Path) -> dict[str, str]:
    """Return the variables of the command, with `folder` for the folders."""
    home, xdg = folder / "home", folder / "xdg"
    service = f"http://127.0.0.1:{PORTS[0]}"
    proxies = dict.fromkeys(("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY"), service)
    return {
        "HOME": str(home),
        **{f"XDG_{name}_HOME": str(xdg / name.lower()) for name in ("CONFIG", "DATA", "CACHE", "STATE")},
        "XDG_RUNTIME_DIR": str(xdg / "runtime"),
        "PATH": f"{folder / 'bin'}{os.pathsep}{os.environ.get('PATH', '')}",
        "SUBTITLE_RAG_HOME": str(home / ".subtitle-rag"),
        "SUBTITLE_RAG_LANGUAGE": "xx",
        "SUBTITLE_RAG_OLLAMA": service,
        "SUBTITLE_RAG_HOST_LINGER": "rubbish",
        "OLLAMA_HOST": service,
        "QDRANT_URL": f"http://127.0.0.1:{PORTS[1]}",
        "HF_HOME": str(home / ".cache" / "huggingface"),
        "HF_ENDPOINT": service,
        "HF_TOKEN": "rubbish",
        **proxies,
        "LANG": "C",
        "LC_ALL": "C",
        "LANGUAGE": "ko",
        "TZ": "Pacific/Kiritimati",
        "COLUMNS": "40",
        "LINES": "10",
        "TERM": "dumb",
        "TERM_PROGRAM": "WezTerm",
        "NO_COLOR": "1",
        "DISPLAY": ":99",
        "WAYLAND_DISPLAY": "wayland-99",
        "DBUS_SESSION_BUS_ADDRESS": f"unix:path={xdg / 'runtime' / 'bus'}",
        "BROWSER": str(folder / "bin" / "firefox"),
        "EDITOR": "/bin/false",
        "PAGER": "/bin/false",
        "SSH_CONNECTION": "192.0.2.1 50000 192.0.2.2 22",
        "SSH_TTY": "/dev/pts/99",
        "TEXTUAL_DEBUG": "1",
        "TEXTUAL_THEME": "rubbish",
    }


def furnish(folder: Path) -> None:
    """Make the folders, the broken settings and the programs."""
    for name in SETTINGS:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(RUBBISH, encoding="utf-8")
    (folder / "bin").mkdir()
    for name in (*PLAYERS, *BROWSERS, *CLIPBOARDS, *OTHERS):
        program = folder / "bin" / name
        program.write_text(NOTING.format(calls=shlex.quote(str(folder / "calls"))), encoding="utf-8")
        program.chmod(0o755)


def content(folder: Path) -> dict[str, bytes | None]:
    """Everything below home and the XDG folders: files with their bytes, folders with None."""
    paths = [path for top in ("home", "xdg") for path in (folder / top).rglob("*")]
    return {str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None for path in paths}


@contextmanager
def listening(ports: Sequence[int]) -> Iterator[list[Listener]]:
    """Listeners on these ports; raises OSError naming one that is taken."""
    with ExitStack() as stack:
        listeners = []
        for port in ports:
            try:
                listener = Listener(port)
            except OSError as error:
                raise OSError(f"port {port} is taken ({error.strerror}); stop what listens there") from error
            stack.callback(listener.close)
            listeners.append(listener)
        yield listeners


def run(command: Sequence[str], ports: Sequence[int] = PORTS) -> tuple[int, list[str]]:
    """Run the command in hostile surroundings: its exit status, and the record of what it touched there.

    Raises:
        OSError: a port is taken, or the command cannot be started.
    """
    with tempfile.TemporaryDirectory(prefix="hostile-") as folder, listening(ports) as listeners:
        surroundings = Path(folder)
        furnish(surroundings)
        before = content(surroundings)
        status = subprocess.run(command, env={**os.environ, **environment(surroundings)}, check=False).returncode
        after = content(surroundings)
        changed = sorted(name for name in before.keys() | after if before.get(name, "") != after.get(name, ""))
        calls = surroundings / "calls"
        started = calls.read_text(encoding="utf-8", errors="replace").splitlines() if calls.exists() else []
        record = [caller for listener in listeners for caller in listener.callers]
        record += [f"started: {call}" for call in started]
        return status, record + [f"changed: {name}" for name in changed]


def main(arguments: Sequence[str]) -> int:
    if not arguments:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        status, record = run(arguments)
    except OSError as error:
        print(f"! {error}", file=sys.stderr)
        return 2
    print(f"== hostile surroundings: {len(record)} recorded", *record, sep="\n")
    return status or (1 if record else 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
