"""A consumer in Python that applies each message once, with plain SQL.

It stands for a consumer of any broker: it reads messages from standard input, one JSON
object a line with id, customer and cents. A line that comes twice counts once.
It needs psycopg2 (Debian: python3-psycopg2) and reads DATABASE_URL.
"""

import hashlib
import json
import os
import sys

import psycopg2


class OtherBytes(Exception):
    """A message has the id of another one that was applied."""


def once(cursor, consumer, message_id, body):
    """Record that consumer has applied a message; say whether that is new."""
    digest = hashlib.sha256(body).digest()
    cursor.execute(
        "INSERT INTO postbag._once (consumer, id, sum) VALUES (%s, %s, %s) ON CONFLICT DO NOTHING",
        (consumer, message_id, digest),
    )
    if cursor.rowcount == 1:
        return True
    cursor.execute("SELECT sum FROM postbag._once WHERE consumer = %s AND id = %s", (consumer, message_id))
    row = cursor.fetchone()
    if row is not None and row[0] is not None and bytes(row[0]) != digest:
        raise OtherBytes("%s has applied another message with the id %r" % (consumer, message_id))
    return False


def apply(connection, body):
    """Book an order on its customer. Acknowledge the message after this returns."""
    message = json.loads(body)
    with connection, connection.cursor() as cursor:  # one transaction
        if once(cursor, "billing", message["id"].encode(), body):
            cursor.execute("UPDATE customers SET orders = orders + 1 WHERE name = %s", (message["customer"],))


def main():
    url = os.environ.get("DATABASE_URL")
    if not url:
        sys.exit("DATABASE_URL is not set; export a connection string")
    connection = psycopg2.connect(url)
    try:
        for line in sys.stdin.buffer:
            apply(connection, line.rstrip(b"\n"))
    finally:
        connection.close()


if __name__ == "__main__":
    main()
