"""Where the service may listen."""

import pytest

from touchstone.core.errors import ConfigError
from touchstone.service.options import Options, check_options, is_loopback


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1", "127.8.8.8"])
def test_this_machine_needs_no_login(host):
    assert is_loopback(host)
    check_options(Options(host=host))


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.7", "touchstone.example", ""])
def test_beyond_this_machine_needs_a_login(host):
    with pytest.raises(ConfigError, match="--auth"):
        check_options(Options(host=host))
    check_options(Options(host=host, has_auth=True))
