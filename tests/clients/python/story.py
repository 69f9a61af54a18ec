"""One story by the official Python SDK, 1.x or 2.x, whichever is installed.

Usage: story.py PROGRAM INPUTS WORKSPACE URL TOKEN [MODE]

Discovers, lists, reads, is refused, writes, is asked before it deletes, reads back. An empty
URL means the standard streams.
"""

import asyncio
import json
import os
import sys

try:
    from mcp import Client  # 2.x
except ImportError:
    Client = None
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

PROGRAM, INPUTS, WORKSPACE, URL, TOKEN, *MODE = sys.argv[1:]
ARGUMENTS = ["mcp", "--read", INPUTS, "--work", WORKSPACE]
questions = []


def server():
    return StdioServerParameters(
        command=PROGRAM, args=ARGUMENTS, env={**os.environ}
    )


async def answer(_context, params):
    """The person behind the client says yes."""
    questions.append(params.message)
    if Client is None:
        from mcp.types import ElicitResult
    else:
        from mcp_types import ElicitResult
    return ElicitResult(action="accept", content={"approve": True})


def is_error(result):
    return getattr(result, "is_error", None) or getattr(result, "isError", None)


def fields(result):
    return json.loads(result.content[-1].text)


async def story(client):
    names = [tool.name for tool in (await client.list_tools()).tools]
    assert {"read_file", "write_file", "delete_file"} <= set(names), names
    read = await client.call_tool("read_file", {"path": "notes.md"})
    assert not is_error(read) and read.content[0].text == "hello\n", read
    escape = await client.call_tool("read_file", {"path": "../secret"})
    assert is_error(escape) and fields(escape)["code"] == "invalid-path", escape
    report = {"path": "report.md", "content": "done"}
    written = await client.call_tool("write_file", report)
    assert not is_error(written) and fields(written)["receipt"], written
    deleted = await client.call_tool("delete_file", {"path": "old.md"})
    assert not is_error(deleted), deleted
    assert len(questions) == 1 and "old.md" in questions[0], questions
    back = await client.call_tool("read_file", {"path": "report.md"})
    assert back.content[0].text == "done", back
    gone = await client.call_tool("file_exists", {"path": "old.md"})
    assert fields(gone)["exists"] is False, gone


async def first_generation():
    async def with_streams(streams):
        async with ClientSession(streams[0], streams[1], elicitation_callback=answer) as session:
            opened = await session.initialize()
            assert "read and list" in opened.instructions, opened
            await story(session)

    if URL:
        from mcp.client.streamable_http import streamablehttp_client

        headers = {"Authorization": f"Bearer {TOKEN}"}
        async with streamablehttp_client(URL, headers=headers) as streams:
            await with_streams(streams)
    else:
        async with stdio_client(server()) as streams:
            await with_streams(streams)


async def second_generation(mode):
    if URL:
        import httpx2
        from mcp.client.streamable_http import streamable_http_client

        headers = {"Authorization": f"Bearer {TOKEN}"}
        async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
            where = streamable_http_client(URL, http_client=http)
            async with Client(where, mode=mode, elicitation_callback=answer) as client:
                await story(client)
    else:
        async with Client(server(), mode=mode, elicitation_callback=answer) as client:
            await story(client)


if Client is None:
    asyncio.run(first_generation())
else:
    asyncio.run(second_generation(*(MODE or ["auto"])))
