-- A producer in plain SQL: an order and its message in one transaction. The row of the customer is taken first: that is what puts the
-- messages of one customer in order.
BEGIN;
UPDATE customers SET orders = orders + 1 WHERE name = 'customer-7';
INSERT INTO orders (customer, cents) VALUES ('customer-7', 4200);
INSERT INTO postbag.outbox (topic, key, type, headers, payload)
VALUES ('orders.placed', 'customer-7', 'order.placed', '{"source": "plain sql"}', '{"customer": "customer-7", "cents": 4200}');
COMMIT;
