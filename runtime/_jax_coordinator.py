"""The coordinator of `jax.distributed` as a separate process, and how ranks join it. Part of the seam to JAX; a script.

JAX would start it inside rank 0, whose exit would then abort every other process without a Python error. Here each
rank keeps a connection open while it runs. When one closes, the others are told which rank ended; the coordinator
exits with the last rank.

Usage: python _jax_coordinator.py WORLD_SIZE. It prints two ports: JAX's service, and the connections of the ranks.
"""

from __future__ import annotations

import selectors
import socket
import sys

FOREVER = 10**6  # seconds; heartbeats are not needed, because the connections show which ranks have ended


def reserve() -> socket.socket:
    """Reserve a port with a bound socket; JAX's service can bind it too, because of SO_REUSEPORT."""
    held = socket.socket(socket.AF_INET6 if socket.has_ipv6 else socket.AF_INET)
    held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    held.bind(("", 0))
    return held


def serve(listener: socket.socket, parent: int) -> None:
    """Report each rank that ends to the remaining ranks, until all have ended."""
    selector = selectors.DefaultSelector()
    selector.register(listener, selectors.EVENT_READ)
    selector.register(parent, selectors.EVENT_READ)
    texts: dict[socket.socket, bytes] = {}  # what each connection has sent: its rank, and "bye" before a clean end
    starting = True
    while starting or texts:
        for key, _ in selector.select():
            if key.fileobj is listener:
                accepted, _ = listener.accept()
                texts[accepted] = b""
                selector.register(accepted, selectors.EVENT_READ)
            elif key.fileobj == parent:  # rank 0 ended, so no further rank will connect
                selector.unregister(parent)
                starting = False
            else:
                _read(key.fileobj, texts, selector)  # type: ignore[arg-type]


def _read(connection: socket.socket, texts: dict[socket.socket, bytes], selector: selectors.BaseSelector) -> None:
    try:
        data = connection.recv(64)
    except OSError:
        data = b""
    if data:
        texts[connection] += data
        return
    selector.unregister(connection)
    connection.close()
    rank, _, rest = texts.pop(connection).partition(b"\n")
    for other in texts:
        try:
            other.sendall(rank + (b" left\n" if rest else b" died\n"))
        except OSError:
            continue


def join_coordinator(address: str, process: int, processes: int, timeout: int) -> None:
    """Do what `jax.distributed.initialize` does in a process other than the first: connect to a coordinator elsewhere.

    A missed heartbeat never ends this process; the connections below report ranks that have ended.
    """
    import jax

    from tenax.releases import private_names

    with private_names("jax", jax.__version__):
        from jax._src import distributed
        from jaxlib import _jax

        state = distributed.global_state
        state.client = _jax.get_distributed_runtime_client(
            address,
            process,
            init_timeout=timeout,
            heartbeat_timeout=FOREVER,
            shutdown_timeout=300,
            shutdown_on_destruction=False,
            use_compression=True,
        )
        state.client.connect()
        state.coordinator_address, state.process_id, state.num_processes = address, process, processes


def main() -> None:
    """Start the service, print the ports, and serve until the last rank has ended."""
    from jaxlib import _jax

    held = reserve()
    port = held.getsockname()[1]
    host = "[::]" if held.family == socket.AF_INET6 else "0.0.0.0"
    service = _jax.get_distributed_runtime_service(
        f"{host}:{port}", int(sys.argv[1]), heartbeat_timeout=FOREVER, shutdown_timeout=300, recoverable=True
    )
    listener = socket.create_server(("", 0), family=held.family, dualstack_ipv6=held.family == socket.AF_INET6)
    print(port, listener.getsockname()[1], flush=True)
    serve(listener, sys.stdin.fileno())
    service.shutdown()


if __name__ == "__main__":
    main()
