"""Endpoints behind TLS: whose certificates count, and that the time limit reaches through."""

from __future__ import annotations

import datetime as dt
import ipaddress
import ssl
import time
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from tests.models.laws import PROMPT
from tests.models.raw import HEAD, listening

from lamina.errors import ModelFailed
from lamina.models.choose import model_for

CHUNK = b'data: {"choices": [{"index": 0, "delta": {"content": "yes"}, "finish_reason": "stop"}]}\n\n'


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    """Return a file with a certificate of its own for loopback, and a server's context with its key."""
    folder = tmp_path_factory.mktemp("tls")
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "127.0.0.1")])
    now = dt.datetime.now(dt.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False
        )
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    public, both = folder / "ca.pem", folder / "both.pem"
    pem = made.public_bytes(serialization.Encoding.PEM)
    public.write_bytes(pem)
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    both.write_bytes(private + pem)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(both)
    return public, context


def model(url, env):
    return model_for("custom/m", env=env, base_url=url, folder=Path("/nowhere"))


def test_a_certificate_that_the_environment_names_is_trusted(certificate):
    file, context = certificate
    with listening(lambda raw, peer: raw.send(peer, HEAD + CHUNK), tls=context) as raw:
        assert model(raw.url, {"SSL_CERT_FILE": str(file)}).ask(PROMPT, within_s=10).text == "yes"


def test_a_certificate_that_nobody_vouches_for_is_not(certificate):
    _, context = certificate
    unreached = pytest.raises(ModelFailed, match="can't be reached")
    with listening(lambda raw, peer: raw.send(peer, HEAD + CHUNK), tls=context) as raw, unreached:
        model(raw.url, {}).ask(PROMPT, within_s=10)
    assert raw.sent == 0


def test_the_time_limit_reaches_through_tls(certificate):
    file, context = certificate

    def drip(raw, peer):
        raw.send(peer, b"HTTP/1.1 200 OK\r\nx-a: ")
        raw.send(peer, b"a", times=200, every_s=0.05)

    start = time.monotonic()
    with listening(drip, tls=context) as raw, pytest.raises(ModelFailed, match=r"0\.6 s"):
        model(raw.url, {"SSL_CERT_FILE": str(file)}).ask(PROMPT, within_s=0.6)
    assert time.monotonic() - start < 3
