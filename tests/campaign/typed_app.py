"""The app as users start it, which tells what its keys have done: `python -m tests.campaign.typed_app RECORD`.

The file RECORD has the screen, the text of the field with the focus, the keys that the terminal has delivered, and the
commands that they have run. A file RECORD.go with the name of a place has the app go there, and begin a new count.
"""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

from subtitle_rag.tui import prepare_textual

prepare_textual()

from textual import events  # noqa: E402 - Textual reads when it is imported what was set
from textual.widgets import Input  # noqa: E402

from subtitle_rag.cli import main as cli  # noqa: E402
from subtitle_rag.tui.app import SubtitleApp  # noqa: E402
from subtitle_rag.tui.key_router import KeyRouter  # noqa: E402
from tests.campaign.typed_places import QUERY, go_to  # noqa: E402

LOOK_S = 0.02


def watched(record: Path) -> None:
    """Have each app of this process tell."""
    commands: list[str] = []
    delivered: list[str] = []
    run_action, mount, take = SubtitleApp.run_action, SubtitleApp.on_mount, KeyRouter.take

    async def recorded(app: SubtitleApp, action: Any, default_namespace: Any = None, *rest: Any) -> bool:
        done = await run_action(app, action, default_namespace, *rest)
        if done and not isinstance(default_namespace, Input):
            commands.append(str(action))
        return done

    async def taken(router: KeyRouter, event: events.Key | events.Paste) -> None:
        delivered.append(event.text if isinstance(event, events.Paste) else event.character or event.key)
        await take(router, event)

    def mounted(app: SubtitleApp) -> None:
        mount(app)
        app.run_worker(tell(app), exit_on_error=True)

    async def tell(app: SubtitleApp) -> None:
        go, told, place = record.with_suffix(".go"), "", ""
        while True:
            await asyncio.sleep(LOOK_S)
            if go.exists():
                place = go.read_text()
                await go_to(app, place)
                commands.clear()
                delivered.clear()
                go.unlink()
            text = app.focused.value if isinstance(app.focused, Input) else None
            state = {
                "place": place,
                "screen": type(app.screen).__name__,
                "text": text if text is None or not place else text.removeprefix(QUERY),
                "sample": app.settings.is_sample,
                "ready": app.context.opening.ready,
                "delivered": delivered,
                "commands": commands,
            }
            if app.key_router.waiting or (now := json.dumps(state)) == told:
                continue
            told = now
            part = record.with_suffix(".part")
            part.write_text(told)
            part.replace(record)

    SubtitleApp.run_action = recorded  # type: ignore[method-assign,assignment]
    KeyRouter.take = taken  # type: ignore[method-assign,assignment]
    SubtitleApp.on_mount = mounted  # type: ignore[method-assign,assignment]


if __name__ == "__main__":
    watched(Path(sys.argv.pop(1)))
    cli.main()
