"""Publishes events with the client libraries of others, as their users do, and prints what it sent as JSON.

produce.py ADDRESS TOPIC; the address is that of a Kafka broker.
"""

import json
import sys

from cloudevents.core.bindings import kafka
from cloudevents.core.v1.event import CloudEvent
from confluent_kafka import Producer


def event(number):
    return CloudEvent(
        attributes={"id": f"event-{number}", "source": "/shop", "type": "order.placed", "datacontenttype": "application/json", "partitionkey": f"customer-{number}"},
        data={"order": number},
    )


def messages():
    """What is sent, and what an inbox is to make of it."""
    for number, bind in ((1, kafka.to_binary_event), (2, kafka.to_structured_event)):
        m = bind(event(number))
        yield list(m.headers.items()), m.key, m.value, {"key": f"customer-{number}", "type": "order.placed"}
    # The headers that sbmt-outbox 6 gives each message.
    headers = [("Outbox-Name", b"order/outbox_item"), ("Idempotency-Key", b"5f0e6f6a-6d5f-4c0b-8a3f-0a1d2c3b4e5f"), ("Sequence-ID", b"17")]
    yield headers, b"customer-3", b'{"order":3}', {"key": "customer-3", "type": "", "id": "5f0e6f6a-6d5f-4c0b-8a3f-0a1d2c3b4e5f"}


def delivered(error, message):
    if error is not None:
        sys.exit(f"a message was not sent: {error}")


def main():
    address, topic = sys.argv[1:]
    producer = Producer({"bootstrap.servers": address})
    sent = list(messages())
    for _ in range(2):  # each comes again
        for headers, key, value, _want in sent:
            producer.produce(topic, value=value, key=key, headers=headers, on_delivery=delivered)
    if producer.flush(60) > 0:
        sys.exit("not everything was sent in a minute")
    json.dump([want for _, _, _, want in sent], sys.stdout)


main()
