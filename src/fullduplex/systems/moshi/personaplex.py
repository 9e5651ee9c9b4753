"""PersonaPlex: NVIDIA's Moshi with a voice and a role, which ride in the URL of each talk.

Both are required: without a voice its server fails, and an empty role was seen to fail it too, so there is always one.
A seed in the URL was seen to fail it as well, so none is sent. Sound that comes before the handshake is lost to it, and
the talk with it: the codec waits. *Not verified live*: its server needs weights that are not here; what is said of it
was seen on the real server with random weights, and the facade closes as it does.
"""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass

from fullduplex.driving.link import Link, Traits
from fullduplex.errors import ConversationError
from fullduplex.model.spec import Spec
from fullduplex.systems.moshi.codec import Talking, traits
from fullduplex.systems.moshi.urls import CHAT, checkpoint
from fullduplex.systems.talking import begun
from fullduplex.systems.wire import Door, Wire, address, connected

#: The role that its makers use for talk about nothing in particular.
ROLE = "You enjoy having a good conversation."
#: Its server refuses a request line that is longer than 8190 bytes.
LONGEST_URL = 8_000
_VOICES = {f"{kind}{n}" for kind, count in (("NATF", 4), ("NATM", 4), ("VARF", 5), ("VARM", 5)) for n in range(count)}


@dataclass(frozen=True, slots=True)
class PersonaPlex:
    """A talk with a PersonaPlex server at ``url`` (``ws://`` or ``wss://``; without a path, ``/api/chat``).

    ``voice``: a file in the server's folder of voices; NATF0 to NATF3, NATM0 to NATM3, VARF0 to VARF4 and VARM0 to
    VARM4 need no ``.pt``, any other is given with its ending. ``role`` is its text prompt where an item has none of its
    own. ``model`` is the checkpoint that you started it with: kept with the run, and not verified. ``verify``: whether
    its certificate has to be a trusted one. ``ready_within``: seconds for the handshake, which comes after both prompts
    are processed.
    """

    url: str = ""
    voice: str = "NATF2"
    role: str = ROLE
    model: str = "personaplex-7b-v1"
    verify: bool = False
    ready_within: float = 50.0

    #: How it can be had: its weights are published.
    access = "open"

    def __post_init__(self) -> None:
        if not self.voice or set(self.voice) & set("/\\") or not self.voice.isprintable():
            raise ValueError(
                f"voice: found {self.voice!r}, expected the name of a file in the server's folder of voices"
            )
        if self.voice not in _VOICES and "." not in self.voice.strip("."):
            raise ValueError(
                f"voice: found {self.voice!r}, expected NATF0 to NATF3, NATM0 to NATM3, VARF0 to VARF4, VARM0 to "
                "VARM4, or a file in the server's folder of voices with its ending, such as my_voice.pt or my_voice.wav"
            )
        if not self.role.strip():
            raise ValueError("role: found nothing, expected words: an empty text prompt fails the server")
        if "seed=" in self.url.partition("?")[2]:
            raise ValueError("url: a seed in it fails the server")
        checkpoint(self.model)

    @property
    def spec(self) -> Spec:
        """Return which checkpoint, voice and role; where it runs changes nothing."""
        return Spec("personaplex", {"model": checkpoint(self.model), "voice": self._file, "role": self.role}, "1")

    @property
    def traits(self) -> Traits:
        """Return a frame for a frame of 80 ms, one talk at a time, no flush."""
        return traits()

    @property
    def _file(self) -> str:
        return f"{self.voice}.pt" if self.voice in _VOICES else self.voice

    def door(self, prompt: str) -> Door:
        """Return where a talk is opened, with its prompts.

        Raises :class:`ConversationError` where they are too long for a URL.
        """
        query = {"voice_prompt": self._file, "text_prompt": prompt.strip() or self.role}
        url = address(self.url or "ws://localhost:8998", CHAT, query)
        if len(url) > LONGEST_URL:
            raise ConversationError(
                f"the PersonaPlex server takes its prompt from the URL, of {LONGEST_URL} characters at most: this one"
                f" has {len(url)}"
            )
        return Door(url, verify=self.verify)

    def connect(self, prompt: str) -> AbstractAsyncContextManager[Link]:
        """Open a talk; ``prompt`` takes the place of ``role`` where there is one."""
        return connected(self, prompt)

    def over(self, wire: Wire, prompt: str) -> AbstractAsyncContextManager[Talking]:
        """Open a talk over ``wire``."""
        settings = dict(self.spec.options) | {"model_verified": False, "role": prompt.strip() or self.role}
        talking = Talking(wire, settings, text_first=True)
        return begun(talking, "the PersonaPlex server", within=self.ready_within)
