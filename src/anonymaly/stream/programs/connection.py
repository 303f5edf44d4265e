# SPDX-License-Identifier: Apache-2.0
"""One party's connection to an MQTT broker: sealed messages out and in, within bounds.

Messages go with quality of service 1 through a persistent session. What is too large, damaged, forged, not
addressed to this party or no message at all is dropped and logged once for each sender and reason. When there
is no room for a message it is dropped too: its sender, who gets no receipt, sends it again.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from aiomqtt import Client, MqttError
from aiomqtt import Message as Packet

from anonymaly.errors import InputError, Refused
from anonymaly.stream.programs.client import BrokerAddress, Trouble, make_client, taken_over, trouble_of
from anonymaly.stream.programs.mosquitto import inbox, topic
from anonymaly.stream.programs.seal import Seal
from anonymaly.stream.protocol.messages import Message, MessageReceipt

MOST_FROM_ONE = 16 * 2**20  # bytes of one sender that wait here: one that floods takes no room from others
MOST_ARRIVED = 64 * 2**20  # bytes that wait here, of all senders together
MOST_UNOPENED = 16 * 2**20  # bytes that wait to be opened
EACH = 500  # bytes that a waiting message takes beside its content
MOST_REASONS = 1000  # different reasons that are logged, once each
FIRST_PAUSE, LONGEST_PAUSE = 0.1, 10.0  # seconds before the next attempt to connect
SHORT, MOST_SHORT = 5.0, 3  # seconds and number of connections that look like a fight over one session
LONGEST_ANSWER = 3.0  # seconds until the broker acknowledges; a lost connection does not end the wait
QUALITY = 1
logger = logging.getLogger("anonymaly.stream")


class Connection:
    """A party's connection, which comes back by itself when it is lost.

    Parameters
    ----------
    broker : BrokerAddress
        Where to connect.
    prefix : str
        What all topics of this stream begin with.
    seal : Seal
        The party's key and its peers'.
    """

    def __init__(self, broker: BrokerAddress, prefix: str, seal: Seal) -> None:
        self.broker = broker
        self.counts: Counter[str] = Counter()
        self.connected = asyncio.Event()
        self.lost = asyncio.Event()
        self._prefix = prefix
        self._seal = seal
        self._client: Client | None = None
        self._arrived: deque[tuple[Message, int]] = deque()
        self._room: Counter[str] = Counter()  # what each sender's waiting messages take
        self._news = asyncio.Event()
        self._logged: set[tuple[str | None, ...]] = set()
        self._trouble: Trouble | None = None  # what was logged last
        self._mqtt = broker.mqtt
        self._short = 0  # connections in a row that hardly lasted

    async def publish(self, message: Message) -> bool:
        """Hand a message to the broker; say whether it has it. The sender keeps it until the receipt."""
        client = self._client
        if client is None:
            return False
        where = topic(self._prefix, message.recipient, self._seal.address)
        try:
            await client.publish(where, self._seal.seal(message), qos=QUALITY, timeout=LONGEST_ANSWER)
        except MqttError:  # `run` notices, too, and connects again
            return False
        self.counts["sent"] += 1
        return True

    def _denied(self, reason: str) -> None:
        """Say that the broker acknowledged a message only to refuse it; MQTT 3.1.1 cannot say that."""
        self.counts["denied"] += 1
        if self.counts["denied"] == 1:
            logger.warning(
                "%s: the broker refuses what it publishes: %s. Check the broker's access list.",
                self._seal.address,
                reason,
            )

    async def arrived(self) -> Message:
        """Return the next genuine message to this party."""
        while not self._arrived:
            self._news.clear()
            await self._news.wait()
        message, size = self._arrived.popleft()
        self._room[message.sender] -= size
        return message

    async def run(self) -> None:
        """Stay connected until cancelled; after each failure wait twice as long, up to ten seconds."""
        pause, place = FIRST_PAUSE, f"{self.broker.host}:{self.broker.port}"
        since = 0.0
        while True:
            try:
                async with self._connection() as client:
                    await client.subscribe(inbox(self._prefix, self._seal.address), qos=QUALITY)
                    version = "" if self._mqtt == self.broker.mqtt else f", by MQTT {self._mqtt} only"
                    logger.info("%s: connected to the broker at %s%s", self._seal.address, place, version)
                    since = asyncio.get_running_loop().time()
                    pause = FIRST_PAUSE
                    self.counts["connections"] += 1
                    self._client = client
                    self.lost.clear()
                    self.connected.set()
                    async for packet in client.messages:
                        self._take(packet)
            except MqttError as problem:
                trouble = trouble_of(problem, self.broker)
                if self._client is not None:
                    lasted = asyncio.get_running_loop().time() - since
                    self._short = self._short + 1 if lasted < SHORT else 0
                    trouble = taken_over(self.broker) if self._short >= MOST_SHORT else trouble
                pause = self._say_trouble(trouble, pause)
            finally:
                self._client = None
                self.connected.clear()
                self.lost.set()
            await asyncio.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)

    def _say_trouble(self, trouble: Trouble, pause: float) -> float:
        """Log why there is no connection, once for each reason; end if waiting cannot help."""
        address, place = self._seal.address, f"{self.broker.host}:{self.broker.port}"
        if trouble.final and not self.counts["connections"]:
            raise Refused(
                f"the broker at {place} {trouble.words}", field="broker", next_step=trouble.next_step
            )
        if trouble != self._trouble:
            self._trouble = trouble
            level = logging.INFO if trouble.usual else logging.WARNING
            logger.log(
                level, "%s: waiting for the broker at %s, which %s. %s",
                address, place, trouble.words, trouble.next_step,
            )  # fmt: skip
        if trouble.unanswered and self.broker.mqtt == "5":
            self._mqtt = "3.1.1" if self._mqtt == "5" else "5"  # perhaps it knows the other only
        return LONGEST_PAUSE if trouble.taken_over else pause

    def drop(self, sender: str, problem: InputError) -> None:
        """Count a message that was dropped, and log the reason once for each sender; never what was in it."""
        self.counts["dropped"] += 1
        # A broker may make names up; a log shows those that are known.
        sender = sender if self._seal.knows(sender) else "an unknown sender"
        reason = (sender, type(problem).__name__, problem.field, problem.problem[:40])
        if reason not in self._logged and len(self._logged) < MOST_REASONS:
            self._logged.add(reason)
            logger.warning("%s: dropped a message from %s: %s", self._seal.address, sender, problem)

    @asynccontextmanager
    async def _connection(self) -> AsyncIterator[Client]:
        client = make_client(self.broker, self._seal.address, self._mqtt, _Unopened, self._denied)
        # Cancelled half connected, the client would leave a socket and a task behind.
        entering = asyncio.ensure_future(client.__aenter__())
        try:
            await asyncio.shield(entering)
            yield client
        finally:
            with suppress(MqttError):
                await entering
                await client.__aexit__(None, None, None)

    def _take(self, packet: Packet) -> None:
        # The topic's last part is the sender as far as the broker has checked it; the seal proves it.
        sender = str(packet.topic).partition("/from/")[2]
        self.counts["received"] += 1
        try:
            message = self._seal.open(_payload(packet))
        except InputError as problem:
            self.drop(sender, problem)
            return
        size = EACH + len(_payload(packet))
        # Other messages may take half of the room: a receipt must always find some, because it makes room.
        weight = 1 if isinstance(message, MessageReceipt) else 2
        if (
            weight * (self._room.total() + size) > MOST_ARRIVED
            or weight * (self._room[message.sender] + size) > MOST_FROM_ONE
        ):
            self.counts["crowded out"] += 1
            return
        self._room[message.sender] += size
        self._arrived.append((message, size))
        self._news.set()


class _Unopened(asyncio.Queue[Packet]):
    """Packets as they come in, bounded by their bytes; the client drops what is more."""

    def _init(self, maxsize: int) -> None:
        super()._init(maxsize)
        self._bytes = 0

    def full(self) -> bool:
        return self._bytes > MOST_UNOPENED

    def _put(self, item: Packet) -> None:
        super()._put(item)
        self._bytes += EACH + len(_payload(item))

    def _get(self) -> Packet:
        item = super()._get()
        self._bytes -= EACH + len(_payload(item))
        return item


def _payload(packet: Packet) -> bytes:
    return packet.payload if isinstance(packet.payload, bytes) else b""
