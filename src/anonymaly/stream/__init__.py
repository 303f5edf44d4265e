# SPDX-License-Identifier: Apache-2.0
"""Which readings are faults, without seeing the readings? Sensors perturb; two servers find the outliers.

Four parties exchange the messages of ``messages``; how messages travel is a matter of ``transport``.
"""

from anonymaly.stream.protocol.corrector import Corrector
from anonymaly.stream.protocol.declaration import Column, Declaration
from anonymaly.stream.protocol.detector import Detector
from anonymaly.stream.protocol.local import LocalTransport
from anonymaly.stream.protocol.messages import Message, read_message
from anonymaly.stream.protocol.owner import Judgement, Owner
from anonymaly.stream.protocol.parties import Outgoing, Party
from anonymaly.stream.protocol.sensor import Sensor
from anonymaly.stream.protocol.suggest import suggest

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
    "read_message",
    "suggest",
]
