# SPDX-License-Identifier: Apache-2.0
"""Which readings are faults, without seeing the readings? Two servers find out together, and see none.

``counting`` pools the readings of many sensors: both servers count in secret what is usual. ``protocol``
holds what both protocols share, and ``correction``, which perturbs readings and judges windows of one sensor,
or of many (``protocol.pooled``). ``programs`` run the parties over MQTT.
"""

from anonymaly.stream.counting.counter import PoolCounter
from anonymaly.stream.counting.declaration import CountedColumn, CountingDeclaration
from anonymaly.stream.counting.owner import PoolJudgement, PoolOwner
from anonymaly.stream.counting.sensor import CountingSensor
from anonymaly.stream.protocol.corrector import Corrector
from anonymaly.stream.protocol.declaration import Column, StreamDeclaration
from anonymaly.stream.protocol.detector import StreamDetector
from anonymaly.stream.protocol.local import LocalTransport
from anonymaly.stream.protocol.messages import Message, read_message
from anonymaly.stream.protocol.owner import Judgement, Owner
from anonymaly.stream.protocol.parties import Outgoing, Party
from anonymaly.stream.protocol.pooled.corrector import PooledCorrector
from anonymaly.stream.protocol.pooled.declaration import PooledDeclaration
from anonymaly.stream.protocol.pooled.detector import PooledDetector
from anonymaly.stream.protocol.pooled.owner import PooledJudgement, PooledOwner
from anonymaly.stream.protocol.pooled.sensor import PooledSensor
from anonymaly.stream.protocol.sensor import Sensor
from anonymaly.stream.protocol.suggest import suggest
from anonymaly.stream.protocol.windows import PooledWindows

# The short public names; inside the package these words are also something else.
Counter = PoolCounter
Declaration = StreamDeclaration
Detector = StreamDetector

__all__ = [
    "Column",
    "Corrector",
    "CountedColumn",
    "Counter",
    "CountingDeclaration",
    "CountingSensor",
    "Declaration",
    "Detector",
    "Judgement",
    "LocalTransport",
    "Message",
    "Outgoing",
    "Owner",
    "Party",
    "PoolCounter",
    "PoolJudgement",
    "PoolOwner",
    "PooledCorrector",
    "PooledDeclaration",
    "PooledDetector",
    "PooledJudgement",
    "PooledOwner",
    "PooledSensor",
    "PooledWindows",
    "Sensor",
    "StreamDeclaration",
    "StreamDetector",
    "read_message",
    "suggest",
]


def __dir__() -> list[str]:
    return __all__
