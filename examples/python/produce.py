"""A producer in Python: an order and its message in one transaction.

It needs psycopg2 (Debian: python3-psycopg2) and reads DATABASE_URL.
"""

import json
import os
import sys

import psycopg2


def place(connection, customer, cents):
    """Save an order and publish its message; both or neither."""
    with connection, connection.cursor() as cursor:
        cursor.execute("UPDATE customers SET orders = orders + 1 WHERE name = %s", (customer,))
        cursor.execute("INSERT INTO orders (customer, cents) VALUES (%s, %s)", (customer, cents))
        cursor.execute(
            "INSERT INTO postbag.outbox (topic, key, type, headers, payload) VALUES (%s, %s, %s, %s, %s)",
            (
                "orders.placed",
                customer,
                "order.placed",
                json.dumps({"source": "python"}),
                json.dumps({"customer": customer, "cents": cents}).encode(),
            ),
        )


def main():
    url = os.environ.get("DATABASE_URL")
    if not url:
        sys.exit("DATABASE_URL is not set; export a connection string")
    connection = psycopg2.connect(url)
    try:
        for n in range(int(sys.argv[1]) if len(sys.argv) > 1 else 1):
            place(connection, "customer-7", n)
    finally:
        connection.close()


if __name__ == "__main__":
    main()
