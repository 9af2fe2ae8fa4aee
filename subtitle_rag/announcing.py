"""Notices on the desktop by the system's own programs: notify-send, osascript, or PowerShell's toast.

A text reaches them as an argument or a variable, never as a part of a script. A notice that fails is logged: nobody
waits for it. Sources: notify-send(1) and the Desktop Notifications Specification, whose body is markup;
"display notification" of the Mac Automation Scripting Guide; ToastNotificationManager of Windows.UI.Notifications.
"""

import html
import logging
import os
import shutil
import subprocess
import sys

from subtitle_rag.terminal_text import line_text

logger = logging.getLogger(__name__)

TITLE = "subtitle-rag"
LONGEST = 200
"""Characters of a notice; desktops cut off what is longer."""
_APPLE_SCRIPT = "on run words\ndisplay notification (item 1 of words) with title (item 2 of words)\nend run"
_TEXT_VARIABLE = "NOTICE_TEXT"
_POWERSHELL = f"""
[void][Windows.UI.Notifications.ToastNotificationManager, Windows.UI.Notifications, ContentType = WindowsRuntime]
$kind = [Windows.UI.Notifications.ToastTemplateType]::ToastText02
$toast = [Windows.UI.Notifications.ToastNotificationManager]::GetTemplateContent($kind)
$texts = $toast.GetElementsByTagName('text')
[void]$texts.Item(0).AppendChild($toast.CreateTextNode('{TITLE}'))
[void]$texts.Item(1).AppendChild($toast.CreateTextNode($env:{_TEXT_VARIABLE}))
$notifier = [Windows.UI.Notifications.ToastNotificationManager]::CreateToastNotifier('{TITLE}')
$notifier.Show([Windows.UI.Notifications.ToastNotification]::new($toast))
"""


def announce(text: str) -> bool:
    """Show a notice; return whether a program has taken it."""
    text = line_text(text)[:LONGEST]
    command, variables = _command(text)
    if not command or shutil.which(command[0]) is None:
        logger.info("no program shows notices")
        return False
    try:
        ended = subprocess.run(  # noqa: S603 - the system's own program, with the text as an argument or a variable
            command,
            check=False,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=10,
            env={**os.environ, **variables},
        )
    except (OSError, subprocess.TimeoutExpired):
        logger.info("no notice", exc_info=True)
        return False
    if ended.returncode:
        logger.info("%s ends with %d: %s", command[0], ended.returncode, ended.stderr.strip())
    return ended.returncode == 0


def _command(text: str) -> tuple[list[str], dict[str, str]]:
    """Return the program with its arguments, and its variables."""
    if sys.platform == "darwin":
        return ["osascript", "-e", _APPLE_SCRIPT, text, TITLE], {}
    if sys.platform == "win32":
        return ["powershell", "-NoProfile", "-NonInteractive", "-Command", _POWERSHELL], {_TEXT_VARIABLE: text}
    return ["notify-send", f"--app-name={TITLE}", "--", TITLE, html.escape(text, quote=False)], {}
