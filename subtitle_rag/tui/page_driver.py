"""The driver of an app in a browser's page, which `web_server` names to Textual."""

from codecs import getincrementaldecoder

from textual import messages
from textual._xterm_parser import XTermParser
from textual.drivers._byte_stream import ByteStream
from textual.drivers.web_driver import WebDriver, _ExitInput


class PageDriver(WebDriver):
    """Textual's driver for pages, with an input that ends only when its pipe does, and an app that ends with it.

    Works around Textual 8.2.8: empty input ends the parser (xterm.js sends it when a composition restarts), and an app
    whose server was killed waits for ever.
    """

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
            self._app.call_from_thread(self._app.post_message, messages.ExitApp())
