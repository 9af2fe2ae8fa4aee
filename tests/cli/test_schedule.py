"""`sync --schedule`: what the system's scheduler gets. The schedulers' programs are stand-ins on the PATH."""

import os
import plistlib
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from subtitle_rag import scheduling
from subtitle_rag.domain import AppError
from tests.support.commandline import Run
from tests.support.hermetic import program

COMMAND = ["/home/한글/a b/subtitle-rag", "--home", '/x"$y%z\\', "sync", "--no-wait"]


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty PATH for stand-ins, which note their arguments in `calls`; a home for the scheduler's files."""
    folder = tmp_path / "programs"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "user" / "config"))
    monkeypatch.setattr(sys, "platform", "linux")
    return folder


def put_program(folder: Path, name: str, body: str = "") -> None:
    path = folder / name
    path.write_text(f'#!/bin/sh\necho "{name} $*" >> {folder}/calls\n{body}\n')
    path.chmod(0o755)


def calls(folder: Path) -> list[str]:
    path = folder / "calls"
    return path.read_text().splitlines() if path.exists() else []


def put_crontab(folder: Path, text: str | None) -> Path:
    """A crontab program that keeps its table in a file."""
    table = folder / "table"
    if text is not None:
        table.write_text(text, encoding="utf-8")
    cat = shutil.which("cat", path=os.defpath)
    body = f"""if [ "$1" = -l ]; then
  [ -f {table} ] && exec {cat} {table}
  echo "no crontab for me" >&2; exit 1
fi
{cat} > {table}"""
    put_program(folder, "crontab", body)
    return table


@pytest.mark.programs("systemd-analyze")
def test_a_timer_is_shown_written_and_started(
    run: Run, programs: Path, tmp_path: Path, isolated_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_program(programs, "systemctl")
    asked = run("sync", "--schedule", "daily")
    units = tmp_path / "user/config/systemd/user"
    service, timer = units / "subtitle-rag-sync.service", units / "subtitle-rag-sync.timer"
    assert (asked.code, "--yes" in asked.err) == (2, True)
    assert "OnCalendar=daily" in asked.err
    assert "This will be run: systemctl --user enable --now subtitle-rag-sync.timer" in asked.err
    assert not service.exists()
    told = run("sync", "--schedule", "daily", "--yes", "--json").result
    assert told == {
        "schedule": "daily", "scheduler": "systemd", "written": [str(service), str(timer)], "deleted": [],
    }  # fmt: skip
    text = service.read_text(encoding="utf-8")
    assert f'"--home" "{isolated_home}" "sync" "--no-wait"' in text
    assert "Nice=15" in text
    assert "Persistent=true" in timer.read_text()
    assert calls(programs)[-2:] == [
        "systemctl --user daemon-reload",
        "systemctl --user enable --now subtitle-rag-sync.timer",
    ]
    monkeypatch.undo()
    if place := program("systemd-analyze"):
        checked = subprocess.run(
            [place, "verify", "--user", timer],
            capture_output=True,
            encoding="utf-8",
            check=False,
            env={**os.environ, "XDG_RUNTIME_DIR": str(tmp_path)},
        )
        assert (checked.returncode, checked.stderr) == (0, "")


def test_a_schedule_is_replaced_and_taken_away(run: Run, programs: Path, tmp_path: Path) -> None:
    put_program(programs, "systemctl")
    units = tmp_path / "user/config/systemd/user"
    for interval in ("daily", "weekly"):
        assert run("sync", "--schedule", interval, "--yes").code == 0
    assert "OnCalendar=weekly" in (units / "subtitle-rag-sync.timer").read_text()
    told = run("sync", "--schedule", "off", "--yes", "--json").result
    assert (told["schedule"], len(told["deleted"])) == (None, 2)
    assert list(units.iterdir()) == []
    assert "systemctl --user disable --now subtitle-rag-sync.timer" in calls(programs)
    again = run("sync", "--schedule", "off", "--yes")
    assert (again.code, again.err) == (0, "There is no schedule of subtitle-rag.\n")


def test_a_unit_of_another_stays(run: Run, programs: Path, tmp_path: Path) -> None:
    put_program(programs, "systemctl")
    foreign = tmp_path / "user/config/systemd/user/subtitle-rag-sync.service"
    foreign.parent.mkdir(parents=True)
    foreign.write_text("[Unit]\n")
    refused = run("sync", "--schedule", "daily", "--yes", "--json")
    assert (refused.code, refused.failure) == (2, "foreign_file")
    assert run("sync", "--schedule", "off", "--yes", "--json").result["deleted"] == []
    assert foreign.read_text() == "[Unit]\n"


def test_arguments_are_quoted_for_systemd(programs: Path) -> None:
    (service, *_timer) = scheduling.Systemd().addition("daily", COMMAND).files.values()
    line = next(line for line in service.splitlines() if line.startswith("ExecStart="))
    assert line == r'ExecStart="/home/한글/a b/subtitle-rag" "--home" "/x\"$$y%%z\\" "sync" "--no-wait"'


@pytest.mark.parametrize("table", [None, "", "5 4 * * * other\n", "# a note\n5 4 * * * other"])
def test_a_line_of_cron_leaves_all_others_alone(programs: Path, table: str | None) -> None:
    put_program(programs, "systemctl", "exit 1")  # no systemd of this user
    file = put_crontab(programs, table)
    cron = scheduling.scheduler()
    scheduling.apply(cron.addition("weekly", COMMAND))
    scheduling.apply(cron.addition("daily", COMMAND))
    *others, mark, line = file.read_text(encoding="utf-8").splitlines()
    assert others == (table or "").splitlines()
    assert mark == f"# {scheduling.MARK}"
    minute, hour, *days, shell = line.split(" ", 5)
    assert (0 <= int(minute) < 60, 3 <= int(hour) < 6, days) == (True, True, ["*", "*", "*"])
    assert shell.endswith(">/dev/null 2>&1")
    shell = shell.removesuffix(">/dev/null 2>&1").replace(r"\%", "%")
    assert shlex.split(shell) == ["nice", "-n", "15", *COMMAND]
    removal = cron.removal()
    assert removal is not None
    scheduling.apply(removal)
    assert file.read_text(encoding="utf-8").splitlines() == (table or "").splitlines()
    assert cron.removal() is None


def test_a_crontab_that_cannot_be_read_is_not_replaced(programs: Path) -> None:
    put_program(programs, "crontab", 'echo "you are not allowed to use this program" >&2; exit 1')
    with pytest.raises(AppError, match="not allowed") as raised:
        scheduling.Cron().addition("daily", COMMAND)
    assert raised.value.code == "schedule_failed"
    assert calls(programs) == ["crontab -l"]


def test_an_agent_of_launchd_says_when_and_what(
    programs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    put_program(programs, "launchctl")
    launchd = scheduling.scheduler()
    scheduling.apply(launchd.addition("weekly", COMMAND))
    path = tmp_path / "user/Library/LaunchAgents/subtitle-rag.sync.plist"
    values = plistlib.loads(path.read_bytes())
    assert (values["Label"], values["ProgramArguments"]) == ("subtitle-rag.sync", COMMAND)
    assert values["StartCalendarInterval"]["Weekday"] == 0
    assert (values["Nice"], values["ProcessType"]) == (15, "Background")
    removal = launchd.removal()
    assert removal is not None
    scheduling.apply(removal)
    assert not path.exists()
    domain = f"gui/{os.getuid()}"
    assert calls(programs) == [
        f"launchctl bootstrap {domain} {path}", f"launchctl bootout {domain}/subtitle-rag.sync",
    ]  # fmt: skip


@pytest.mark.parametrize("interval", ["daily", "weekly"])
@pytest.mark.parametrize("kind", [scheduling.Systemd, scheduling.Launchd, scheduling.Cron])
def test_what_is_set_up_is_read_and_what_another_wrote_is_not(
    programs: Path, kind: type[scheduling.Scheduler], interval: scheduling.Interval, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", "darwin" if kind is scheduling.Launchd else "linux")
    put_crontab(programs, "5 4 * * 0 other\n")
    for name in ("systemctl", "launchctl"):
        put_program(programs, name)
    assert scheduling.current_schedule() is None
    change = kind().addition(interval, COMMAND)
    scheduling.apply(change)
    assert scheduling.current_schedule() == scheduling.Schedule(change.scheduler, interval)
    for path in change.files:
        path.write_text(path.read_text(encoding="utf-8").replace(scheduling.MARK, ""), encoding="utf-8")
    if change.crontab:
        put_crontab(programs, change.crontab.replace(scheduling.MARK, ""))
    assert scheduling.current_schedule() is None


def test_a_scheduler_that_cannot_be_read_is_none(programs: Path) -> None:
    put_program(programs, "crontab", 'echo "you are not allowed to use this program" >&2; exit 1')
    assert scheduling.current_schedule() is None


@pytest.mark.parametrize("platform", ["linux", "win32"])
def test_without_a_scheduler_the_way_on_is_told(
    run: Run, programs: Path, monkeypatch: pytest.MonkeyPatch, platform: str
) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    refused = run("sync", "--schedule", "daily", "--yes", "--json")
    assert (refused.code, refused.failure) == (2, "no_scheduler")
    assert "subtitle-rag sync --no-wait" in refused.err


def test_what_is_not_loaded_need_not_be_stopped(
    programs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    put_program(programs, "launchctl", '[ "$1" != bootout ] || { echo "3: No such process" >&2; exit 3; }')
    path = tmp_path / "user/Library/LaunchAgents/subtitle-rag.sync.plist"
    launchd = scheduling.scheduler()
    for interval in ("daily", "weekly"):
        scheduling.apply(launchd.addition(interval, COMMAND))
    assert [line.split()[1] for line in calls(programs)] == ["bootstrap", "bootout", "bootstrap"]
    removal = launchd.removal()
    assert removal is not None
    scheduling.apply(removal)
    assert not path.exists()


def test_a_program_that_fails_is_told_in_its_words(run: Run, programs: Path) -> None:
    put_program(programs, "systemctl", '[ "$2" = enable ] || exit 0; echo "Failed to connect to bus" >&2; exit 1')
    refused = run("sync", "--schedule", "daily", "--yes")
    assert refused.code == 1
    assert "Failed to connect to bus" in refused.err


def test_names_and_a_schedule_do_not_go_together(run: Run, programs: Path) -> None:
    refused = run("sync", "@channel", "--schedule", "daily")
    assert (refused.code, "leave the names out" in refused.err) == (2, True)
