"""A plain Python client that publishes the messages of pulsar/ingest and pulsar/concurrent.

Usage: httpx_client.py MESSAGES CLIENTS TOPICS. Prints `seconds S`, the time from the first
request to the last answer.
"""

import asyncio
import os
import sys
import time

import httpx


async def publish(client: httpx.AsyncClient, token: str, first: int, count: int, topics: int) -> None:
    headers = {"Authorization": f"Bearer {token}"}
    for seq in range(first, first + count):
        message = {"topic": f"httpx-{seq % topics}", "payload": {"seq": seq, "text": "x" * 100}}
        response = await client.post("/api/v1/messages", json=message, headers=headers)
        if response.status_code != 201:
            sys.exit(f"httpx: {response.status_code}: {response.text}")


async def main(messages: int, clients: int, topics: int) -> None:
    limits = httpx.Limits(max_connections=clients, max_keepalive_connections=clients)
    url = os.environ["PULSAR_URL"]
    async with httpx.AsyncClient(base_url=url, limits=limits, timeout=30) as client:
        form = {"username": os.environ["PULSAR_USERNAME"], "password": os.environ["PULSAR_PASSWORD"]}
        token = (await client.post("/auth/login", data=form)).json()["access_token"]
        share = messages // clients
        started = time.perf_counter()
        await asyncio.gather(
            *(publish(client, token, index * share, share, topics) for index in range(clients))
        )
        print(f"seconds {time.perf_counter() - started}")


if __name__ == "__main__":
    asyncio.run(main(*(int(argument) for argument in sys.argv[1:4])))
