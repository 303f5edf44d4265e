# SPDX-License-Identifier: Apache-2.0
"""Which readings are faults, without seeing the readings? Sensors perturb; two servers find the outliers.

Four parties exchange the messages of ``messages``; how messages travel is a matter of ``transport``.
"""

from anonymaly.stream.corrector import Corrector
from anonymaly.stream.declaration import Column, Declaration
from anonymaly.stream.detector import Detector
from anonymaly.stream.messages import Message, read_message
from anonymaly.stream.owner import Judgement, Owner
from anonymaly.stream.parties import Outgoing, Party
from anonymaly.stream.sensor import Sensor
from anonymaly.stream.suggest import suggest
from anonymaly.stream.transport.local import LocalTransport

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
