"""Speaks to a Streamlit server as a browser does, over its websocket, without drawing anything."""

from __future__ import annotations

from collections.abc import Iterator

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import ClientConnection, connect

from viz.ui.plot import plot

SUCCESS = (ForwardMsg.FINISHED_SUCCESSFULLY, ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY)


class Visitor:
    """One visitor of a page that has a text input.

    Args:
        connection: to the server, as `visit` makes it.

    Attributes:
        charts: what was sent for each chart last, by key.
        texts: all plain texts that the last run sent.
    """

    def __init__(self, connection: ClientConnection) -> None:
        self._connection = connection
        self.charts: dict[str, bytes] = {}
        self.texts: list[str] = []
        self._input = self._fragment = self._page = self._query = ""

    async def open(self, input_key: str, page: str = "", query: str = "") -> None:
        """Open a page and find its text input.

        Args:
            input_key: of the text input in the URL.
            page: in the path of the URL; the first one when left out.
            query: of the URL, without the question mark.

        Raises:
            RuntimeError: the page failed, or has no such input.
        """
        self._query = query
        for message in await self._run(BackMsg(rerun_script={"query_string": query, "page_name": page})):
            if message.WhichOneof("type") == "new_session":
                self._page = message.new_session.page_script_hash
            for element, fragment in _elements(message):
                if element.WhichOneof("type") == "text_input" and element.text_input.query_param_key == input_key:
                    self._input, self._fragment = element.text_input.id, fragment
        if not self._input:
            raise RuntimeError(f"the page has no text input {input_key!r}")

    async def look(self, page: str) -> None:
        """Open a page, whatever is on it.

        Args:
            page: in the path of the URL; the first one if it is empty.

        Raises:
            RuntimeError: the page failed.
        """
        await self._run(BackMsg(rerun_script={"page_name": page}))

    async def type(self, text: str) -> int:
        """Type a text, press Enter, and wait until the part of the page that depends on it has run.

        Args:
            text: what to type.

        Returns:
            How many charts were sent again.

        Raises:
            RuntimeError: the run failed.
        """
        message = BackMsg()
        state = message.rerun_script
        state.page_script_hash, state.fragment_id, state.query_string = self._page, self._fragment, self._query
        state.widget_states.widgets.add(id=self._input, string_value=text)
        before = dict(self.charts)
        await self._run(message)
        return sum(spec != before.get(key) for key, spec in self.charts.items())

    async def _run(self, request: BackMsg) -> list[ForwardMsg]:
        """Ask for a run and collect what is sent until it is over."""
        await self._connection.send(request.SerializeToString())
        messages, self.texts = [], []
        while True:
            message = ForwardMsg.FromString(await self._connection.recv())
            messages.append(message)
            for element, _ in _elements(message):
                kind = element.WhichOneof("type")
                if kind == "bidi_component" and element.bidi_component.component_name == plot.COMPONENT:
                    self.charts[element.bidi_component.id.split("-", 2)[2]] = element.bidi_component.bytes
                elif kind == "text":
                    self.texts.append(element.text.body)
                elif kind == "exception":
                    raise RuntimeError(f"the page shows an error: {element.exception.message}")
            if message.WhichOneof("type") == "script_finished":
                if message.script_finished not in SUCCESS:
                    raise RuntimeError(f"the run ended with status {message.script_finished}")
                return messages


def visit(url: str) -> connect:
    """Connect to a server; to be used with `async with`.

    Args:
        url: of the app, like http://127.0.0.1:40123.
    """
    address = url.replace("http://", "ws://") + "/_stcore/stream"
    return connect(address, subprotocols=["streamlit"], max_size=None)


def _elements(message: ForwardMsg) -> Iterator[tuple]:
    """The elements that a message holds, each with the fragment that made it."""
    if message.WhichOneof("type") == "delta" and message.delta.WhichOneof("type") == "new_element":
        yield message.delta.new_element, message.delta.fragment_id
