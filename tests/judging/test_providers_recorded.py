from tests.judging.loopback_api import serving
def test_a():
    with serving() as api:
        assert api.port
