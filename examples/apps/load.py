"""load.py GATEWAY [STREAMS [EVENTS]]: sends concurrent streams through the gateway on loopback, metered and plain in turn, and prints
the processor time of the gateway for each event. The upstream sends every event of every stream on its own."""
import asyncio
import os
import resource
import sys

EVENT = ('data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,'
         '"delta":{"content":" token%d"},"finish_reason":null}]}\n\n')
LAST = 'data: {"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":%d}}\n\ndata: [DONE]\n\n'
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n"
ROUNDS = 3


def processor_seconds(pid):
    with open(f"/proc/{pid}/stat") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def load(gateway, streams, pieces, *more):
    """Returns the processor time of the gateway, once every client has every byte."""
    waiting, all_are_there, body = [], asyncio.Event(), b"".join(pieces)

    async def answer(reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        waiting.append(writer)
        if len(waiting) == streams:
            all_are_there.set()
        await all_are_there.wait()
        writer.write(HEAD)
        for piece in pieces:
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(0)  # every other stream sends one, too
        writer.close()

    async def ask(host, port):
        reader, writer = await asyncio.open_connection(host, port)
        writer.write(b"GET / HTTP/1.0\r\n\r\n")
        got = await reader.read(-1)
        writer.close()
        assert got.endswith(b"\r\n\r\n" + body), got[-300:]

    upstream = await asyncio.start_server(answer, "127.0.0.1", 0, backlog=streams)
    port = upstream.sockets[0].getsockname()[1]
    process = await asyncio.create_subprocess_exec(gateway, f"http://127.0.0.1:{port}", *more, stdout=asyncio.subprocess.PIPE)
    try:
        host, own = (await process.stdout.readline()).decode().strip().split(":")
        before = processor_seconds(process.pid)
        async with asyncio.timeout(300):
            await asyncio.gather(*(ask(host, int(own)) for _ in range(streams)))
        used = processor_seconds(process.pid) - before
        for _ in range(0 if more else streams):
            line = (await asyncio.wait_for(process.stdout.readline(), 60)).decode()
            assert f"complete=true prompt=Some(9) completion=Some({len(pieces) - 1})" in line, line
        return used
    finally:
        process.kill()
        await process.wait()
        upstream.close()


def main():
    gateway, streams, events = sys.argv[1], *map(int, (sys.argv[2:] + ["1000", "300"][len(sys.argv) - 2:])[:2])
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))  # the gateway has two sockets for each stream
    pieces = [(EVENT % nth).encode() for nth in range(events)] + [(LAST % events).encode()]
    least = {}
    for _ in range(ROUNDS):
        for name, more in (("plain", ["plain"]), ("metered", [])):
            used = asyncio.run(load(gateway, streams, pieces, *more))
            least[name] = min(used, least.get(name, used))
    per_event = {name: used * 1e6 / (streams * events) for name, used in least.items()}
    print(f"{streams} streams at once, {events} events each, the least of {ROUNDS} rounds: " +
          (", ".join(f"{name} {micros:.2f} µs of processor time an event" for name, micros in per_event.items())
           if min(least.values()) > 0.2 else "all bytes came; too few to measure the time"))  # the clock ticks every 10 ms


main()
