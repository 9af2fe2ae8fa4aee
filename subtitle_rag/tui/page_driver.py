"""The driver of an app in a browser's page, which `web_server` names to Textual."""

import os
import threading
from codecs import getincrementaldecoder
from typing import ClassVar

from textual import messages
from textual._xterm_parser import XTermParser
from textual.drivers._byte_stream import ByteStream
from textual.drivers.web_driver import WebDriver, _ExitInput

from subtitle_rag.tui.navigation import LibrarySwitch

HANDSHAKE = b"__GANGLION__\n"
LEAVING_S = 10.0
"""Longest time that an app without a server takes to end by itself. What it has not committed is made again."""


class PageDriver(WebDriver):
    """Textual's driver for pages, with an input that ends only when its pipe does, and an app that ends with it.

    Works around Textual 8.2.8: empty input ends the parser (xterm.js sends it when a composition restarts), and an app
    whose server was killed waits for ever. A process shows one app only: where another library opens in its place, the
    page must learn neither of the end of the one nor of the beginning of the other.
    """

    _page_size: ClassVar[tuple[int, int] | None] = None
    """The page's size while the app on it changes."""

    def start_application_mode(self) -> None:
        if size := type(self)._page_size:
            self._size, write = size, self._write
            self._write = lambda data: len(data) if data == HANDSHAKE else write(data)  # type: ignore[assignment]
        super().start_application_mode()

    def stop_application_mode(self) -> None:
        if not isinstance(self._app.return_value, LibrarySwitch):
            super().stop_application_mode()
            return
        type(self)._page_size = self._size
        self.exit_event.set()
        self._input_reader.close()
        self._key_thread.join()  # it must not take the input of the next one

    def run_input_thread(self) -> None:
        """Post a message for each key, click and packet until the pipe or the app ends."""
        parser = XTermParser(debug=self._debug)
        decode = getincrementaldecoder("utf-8")("replace").decode
        stream = ByteStream()
        try:
            for data in self._input_reader:
                for packet_type, payload in stream.feed(data) if data else ():
                    if packet_type != "D":
                        self._on_meta(packet_type, payload)
                    elif text := decode(payload):
                        for event in parser.feed(text):
                            self.process_message(event)
                for event in parser.tick():
                    self.process_message(event)
        except _ExitInput:
            return
        finally:
            self._input_reader.close()
        if not self.exit_event.is_set():
            deadline = threading.Timer(LEAVING_S, os._exit, (1,))  # an event loop that is stuck takes no message
            deadline.daemon = True
            deadline.start()
            self._app.call_from_thread(self._app.post_message, messages.ExitApp())
