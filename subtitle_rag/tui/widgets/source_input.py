"""The field for an address on YouTube or a folder of captions, which reads its value in threads."""

from textual import on, work
from textual.widgets import Input
from textual.worker import get_current_worker

from subtitle_rag.tui.messages import FieldChecked, FieldTaken
from subtitle_rag.tui.state import source_field
from subtitle_rag.tui.widgets.text_field import TextField


class SourceInput(TextField):
    """Posts `FieldChecked` after each change, and `FieldTaken` after `submit`."""

    @on(Input.Changed)
    def _check_value(self) -> None:
        self._check(self.value)

    @work(thread=True, group="look", exclusive=True, exit_on_error=False)
    def _check(self, value: str) -> None:
        worker = get_current_worker()
        check = source_field.look(value, lambda: worker.is_cancelled)
        if not worker.is_cancelled:
            self.post_message(FieldChecked(value, check))

    @work(thread=True, group="take", exclusive=True, exit_on_error=False)
    def _submit(self, value: str, whole_list: bool) -> None:
        self.post_message(FieldTaken(value, source_field.read(value), whole_list))

    def submit(self, *, whole_list: bool) -> None:
        """Read the value; `whole_list` asks for the list that a video's address names."""
        self._submit(self.value, whole_list)

    @on(TextField.AddressPasted)
    def _address_pasted(self, message: TextField.AddressPasted) -> None:
        message.stop()
        self.replace_value(message.address)
