"""A plain Python client that publishes the messages of pulsar/ingest and pulsar/concurrent.

Usage: httpx_client.py MESSAGES TASKS TOPICS [each]. All tasks share one AsyncClient, as in a
plain script; with `each`, every task has its own. It prints `seconds S`, the time from the first
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


async def main(messages: int, tasks: int, topics: int, each: bool) -> None:
    url = os.environ["PULSAR_URL"]
    clients = [httpx.AsyncClient(base_url=url, timeout=30) for _ in range(tasks if each else 1)]
    form = {"username": os.environ["PULSAR_USERNAME"], "password": os.environ["PULSAR_PASSWORD"]}
    token = (await clients[0].post("/auth/login", data=form)).json()["access_token"]
    share = messages // tasks
    started = time.perf_counter()
    await asyncio.gather(
        *(
            publish(clients[index % len(clients)], token, index * share, share, topics)
            for index in range(tasks)
        )
    )
    print(f"seconds {time.perf_counter() - started}")
    for client in clients:
        await client.aclose()


if __name__ == "__main__":
    asyncio.run(main(*(int(argument) for argument in sys.argv[1:4]), each=sys.argv[4:] == ["each"]))
