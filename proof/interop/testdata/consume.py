"""Reads messages with the client libraries of others and prints them as JSON.

consume.py KIND ADDRESS PLACE COUNT; of kind http it reads the requests from standard input instead.
"""

import asyncio
import base64
import json
import sys
import time

from cloudevents.core.bindings import amqp, http, kafka, rabbitmq

PATIENCE = 60  # seconds


def read_kafka(address, place, count):
    from confluent_kafka import Consumer

    consumer = Consumer({
        "bootstrap.servers": address, "group.id": "interop-" + place, "auto.offset.reset": "earliest", "isolation.level": "read_committed",
    })
    consumer.subscribe([place])
    deadline = time.monotonic() + PATIENCE
    while count > 0 and time.monotonic() < deadline:
        m = consumer.poll(1)
        if m is None or m.error():
            continue
        count -= 1
        headers = {name: value.decode() for name, value in m.headers() or []}
        yield {
            "key": m.key().decode() if m.key() else "", "headers": headers, "content_type": headers.get("content-type", ""), "payload": m.value(),
            "event": lambda: kafka.from_kafka_event(kafka.KafkaMessage(dict(m.headers() or []), m.key(), m.value() or b"")),
        }
    consumer.close()


def read_rabbitmq(address, place, count):
    import pika

    connection = pika.BlockingConnection(pika.URLParameters(address))
    channel = connection.channel()
    for method, properties, body in channel.consume(place, inactivity_timeout=PATIENCE):
        if method is None:
            break
        channel.basic_ack(method.delivery_tag)
        headers, content_type = properties.headers or {}, properties.content_type

        def event():
            if any(name.startswith("ce-") for name in headers):
                return rabbitmq.from_rabbitmq_event(rabbitmq.RabbitMQMessage(headers, content_type, body))
            return amqp.from_amqp_event(amqp.AMQPMessage({"content-type": content_type} if content_type else {}, headers, body))

        yield {"key": "", "headers": headers, "content_type": content_type or "", "payload": body, "event": event}
        count -= 1
        if count == 0:
            break
    connection.close()


def read_redis(address, place, count):
    import redis

    host, port = address.rsplit(":", 1)
    client = redis.Redis(host=host, port=int(port))
    for _, fields in client.xrange(place, count=count):
        payload = fields.pop(b"payload")
        headers = {name.decode(): value.decode() for name, value in fields.items()}
        yield {
            "key": "", "headers": headers, "content_type": headers.get("content-type", ""), "payload": payload,
            "event": lambda: kafka.from_kafka_event(kafka.KafkaMessage({name: value.encode() for name, value in headers.items()}, None, payload)),
        }


def read_nats(address, place, count):
    import nats

    async def fetch():
        connection = await nats.connect(address)
        subscription = await connection.jetstream().pull_subscribe(place, durable="interop")
        read = []
        deadline = time.monotonic() + PATIENCE
        while len(read) < count and time.monotonic() < deadline:
            for m in await subscription.fetch(count - len(read), timeout=PATIENCE):
                await m.ack()
                read.append(m)
        await connection.close()
        return read

    for m in asyncio.run(fetch()):
        headers = dict(m.headers or {})
        yield {
            "key": "", "headers": headers, "content_type": headers.get("Content-Type", ""), "payload": m.data,
            "event": lambda: http.from_http_event(http.HTTPMessage({name.lower(): value for name, value in headers.items()}, m.data)),
        }


def mqtt_client(address, place):
    """A client whose session, and with it its subscription, outlives it."""
    import paho.mqtt.client as mqtt

    client = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2, client_id="interop-" + place, protocol=mqtt.MQTTv5)
    properties = mqtt.Properties(mqtt.PacketTypes.CONNECT)
    properties.SessionExpiryInterval = 3600
    host, port = address.rsplit(":", 1)
    return client, lambda: client.connect(host, int(port), clean_start=False, properties=properties)


def read_mqtt_subscribe(address, place, _):
    """Subscribes and leaves; the broker keeps what comes for read_mqtt."""
    client, connect = mqtt_client(address, place)
    client.on_connect = lambda *_: client.subscribe(place, qos=1)
    client.on_subscribe = lambda *_: client.disconnect()
    connect()
    client.loop_forever()
    return []


def read_mqtt(address, place, count):
    read = []
    client, connect = mqtt_client(address, place)

    def came(_, __, m):
        read.append(m)
        if len(read) == count:
            client.disconnect()

    client.on_message = came
    connect()
    deadline = time.monotonic() + PATIENCE
    while len(read) < count and time.monotonic() < deadline:
        client.loop(1)
    for m in read:
        headers = dict(getattr(m.properties, "UserProperty", []))
        content_type = getattr(m.properties, "ContentType", "")
        structured = content_type.startswith("application/cloudevents")
        named = {} if structured else {"ce_" + name: value.encode() for name, value in headers.items()}
        if content_type:
            named["content-type"] = content_type.encode()
        payload = m.payload
        yield {
            "key": "", "headers": headers, "content_type": content_type, "payload": payload,
            "event": lambda: kafka.from_kafka_event(kafka.KafkaMessage(named, None, payload)),
        }


def read_http(*_):
    for m in json.load(sys.stdin):
        headers, body = m["headers"], base64.b64decode(m["body"])
        yield {
            "key": "", "headers": headers, "content_type": headers.get("Content-Type", ""), "payload": body,
            "event": lambda: http.from_http_event(http.HTTPMessage({name.lower(): value for name, value in headers.items()}, body)),
        }


def shown(value):
    """What an event's data is, in a form that JSON has."""
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    return value


def main():
    kind, address, place, count = sys.argv[1:]
    out = []
    for m in globals()["read_" + kind](address, place, int(count)):
        event = m.pop("event")
        if m["payload"] is not None:
            m["payload"] = base64.b64encode(m["payload"]).decode()
        if any(name.lower().endswith("specversion") for name in m["headers"]) or m["content_type"].startswith("application/cloudevents"):
            read = event()
            m["attributes"] = {name: str(value) for name, value in read.get_attributes().items()}
            m["data"] = shown(read.get_data())
        out.append(m)
    json.dump(out, sys.stdout)


main()
