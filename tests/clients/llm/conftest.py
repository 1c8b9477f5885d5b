"""A model server on this machine for each test."""

import pytest
from tests.clients.llm.faulty import faulty_server


@pytest.fixture
def server():
    with faulty_server() as running:
        yield running
