# SPDX-License-Identifier: Apache-2.0
"""Which readings are faults, without seeing the readings? Sensors perturb; two servers find the outliers.

``protocol`` holds the four parties and their messages, ``programs`` what runs them over MQTT.
"""

from anonymaly.stream.protocol.corrector import Corrector
from anonymaly.stream.protocol.declaration import Column, StreamDeclaration
from anonymaly.stream.protocol.detector import StreamDetector
from anonymaly.stream.protocol.local import LocalTransport
from anonymaly.stream.protocol.messages import Message, read_message
from anonymaly.stream.protocol.owner import Judgement, Owner
from anonymaly.stream.protocol.parties import Outgoing, Party
from anonymaly.stream.protocol.sensor import Sensor
from anonymaly.stream.protocol.suggest import suggest

# The short public names; inside the package a declaration and a detector are also something else.
Declaration = StreamDeclaration
Detector = StreamDetector

__all__ = [
    "Column",
    "Corrector",
    "Declaration",
    "Detector",
    "Judgement",
    "LocalTransport",
    "Message",
    "Outgoing",
    "Owner",
    "Party",
    "Sensor",
    "StreamDeclaration",
    "StreamDetector",
    "read_message",
    "suggest",
]
