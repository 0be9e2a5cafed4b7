"""An HTTP transport for addresses that a model chose: it connects to public machines only, and only for so long.

A name is looked up once, and the connection goes to the address that was checked: looked up again, it could lead to
another machine (DNS rebinding). TLS and the Host header still see the name. The time limit covers the whole exchange,
so a server that sends a byte now and then can't hold a call. A proxy set in the environment is not used: it would do
its own look-up.
"""

from __future__ import annotations

import ipaddress
import socket
import ssl
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import httpcore2
import httpx2

Resolver = Callable[[str, int], list[str]]


class RefusedAddress(Exception):
    """The host is, or is also, a machine of a private network."""


class UnknownHost(Exception):
    """The name can't be looked up: there is no such host, or no network."""


def look_up(host: str, port: int) -> list[str]:
    """All addresses of a host, which may be a number in any form that the system takes: 2130706433, 0x7f.1."""
    return [str(info[4][0]) for info in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]


GLOBAL_UNICAST = ipaddress.IPv6Network("2000::/3")
NAT64 = ipaddress.IPv6Network("64:ff9b::/96")  # holds an IPv4 address, to which a gateway forwards


def is_public(address: str) -> bool:
    """Whether an address belongs to the public internet, and not to this machine, its network or a tunnel into one."""
    ip = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(ip, ipaddress.IPv4Address):
        return ip.is_global and not ip.is_multicast
    if ip in NAT64:
        return is_public(str(ipaddress.IPv4Address(ip.packed[-4:])))
    return ip in GLOBAL_UNICAST and ip.is_global and ip.sixtofour is None and ip.teredo is None


class GuardedTransport(httpx2.BaseTransport):
    """Carries one exchange, redirects and all.

    Args:
        timeout_s: For everything together, from now on. The system's own look-up of a name can't be stopped before
            its resolver gives up.
        allow_private: Connect to private addresses as well.
    Raises (while it is used):
        RefusedAddress, UnknownHost: nothing was sent.
    """

    def __init__(self, *, timeout_s: float, allow_private: bool = False, resolve: Resolver = look_up) -> None:
        backend = GuardedBackend(time.monotonic() + timeout_s, resolve, allow_private=allow_private)
        context = httpx2.create_ssl_context()
        self._pool = httpcore2.ConnectionPool(ssl_context=context, max_keepalive_connections=0, network_backend=backend)

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        url = request.url
        address = httpcore2.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path)
        with failures_as_httpx():
            answer = self._pool.handle_request(
                httpcore2.Request(request.method, address, headers=request.headers.raw, extensions=request.extensions)
            )
        return httpx2.Response(answer.status, headers=answer.headers, stream=Body(answer))

    def close(self) -> None:
        self._pool.close()


class GuardedBackend(httpcore2.NetworkBackend):
    """Opens connections to the addresses that it has checked."""

    def __init__(self, deadline: float, resolve: Resolver, *, allow_private: bool) -> None:
        self.deadline = deadline
        self.resolve = resolve
        self.allow_private = allow_private

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> TimedStream:
        try:
            addresses = self.resolve(host, port)
        except (OSError, UnicodeError) as error:
            raise UnknownHost(host) from error
        if not self.allow_private and not all(map(is_public, addresses)):  # one private address among others is a trap
            raise RefusedAddress(host)
        return TimedStream(self._connect(addresses, port, timeout), self.deadline)

    def _connect(self, addresses: list[str], port: int, timeout: float | None) -> httpcore2.NetworkStream:
        """A connection to the first of the addresses that takes one."""
        for address in addresses[:-1]:
            try:
                return self._connect([address], port, timeout)
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout):
                continue
        last = addresses[-1]
        return httpcore2.SyncBackend().connect_tcp(last, port, time_left(self.deadline, timeout), socket_options=())


class TimedStream(httpcore2.NetworkStream):
    """A connection on which every wait ends at the deadline."""

    def __init__(self, stream: httpcore2.NetworkStream, deadline: float) -> None:
        self.stream = stream
        self.deadline = deadline

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self.stream.read(max_bytes, time_left(self.deadline, timeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self.stream.write(buffer, time_left(self.deadline, timeout))

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> TimedStream:
        left = time_left(self.deadline, timeout)
        return TimedStream(self.stream.start_tls(ssl_context, server_hostname, left), self.deadline)

    def get_extra_info(self, info: str) -> Any:
        return self.stream.get_extra_info(info)

    def close(self) -> None:
        self.stream.close()


def time_left(deadline: float, timeout: float | None) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise httpcore2.ReadTimeout("the time for the whole exchange is over")
    return left if timeout is None else min(left, timeout)


class Body(httpx2.SyncByteStream):
    def __init__(self, answer: httpcore2.Response) -> None:
        self.answer = answer

    def __iter__(self) -> Iterator[bytes]:
        with failures_as_httpx():
            yield from self.answer.iter_stream()

    def close(self) -> None:
        self.answer.close()


@contextmanager
def failures_as_httpx() -> Iterator[None]:
    try:
        yield
    except httpcore2.TimeoutException as error:
        raise httpx2.ReadTimeout(str(error)) from error
    except (httpcore2.NetworkError, httpcore2.ProtocolError) as error:
        raise httpx2.ReadError(str(error)) from error
