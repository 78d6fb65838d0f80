"""Runs the Autobahn|Testsuite's `wstest` with fewer messages in each compression case.

CPython 2.7, with the suite in PYTHONPATH. AUTOBAHN_MESSAGES is the number of messages of each case
of categories 12 and 13; the suite's own number is 1000 and has no setting. And its echo
server does not mind under which port it is reached: behind a proxy it is another one. Everything
else is `wstest`, arguments included.
"""

import os

# Must come first: it chooses the event loop.
import autobahntestsuite.choosereactor  # noqa: F401
from autobahntestsuite.case.case12_x_x import Case12_X_X, Case13_X_X
from autobahntestsuite import wstest
from autobahn.websocket.protocol import WebSocketServerFactory

for case in Case12_X_X + Case13_X_X:
    case.COUNT = int(os.environ["AUTOBAHN_MESSAGES"])

set_parameters = WebSocketServerFactory.setSessionParameters


def set_parameters_for_any_port(self, *arguments, **named):
    set_parameters(self, *arguments, **named)
    self.externalPort = None


WebSocketServerFactory.setSessionParameters = set_parameters_for_any_port

wstest.run()
