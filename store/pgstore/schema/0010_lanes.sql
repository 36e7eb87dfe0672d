-- Lanes of exactly-once effects: the transaction that applies a page of messages writes the record of them.

-- One row a lane. epoch is another one after each opening: who opened it before can write it no more. record is what the last committed
-- transaction wrote, NULL if none has. Each page changes the row: fillfactor leaves room for its next versions.
CREATE TABLE postbag._lanes (
  lane   bytea  PRIMARY KEY CHECK (octet_length(lane) BETWEEN 1 AND 500),
  epoch  bigint NOT NULL CHECK (epoch > 0),
  record bytea  CHECK (octet_length(record) <= 524288)
) WITH (fillfactor = 20);
-- A role that row-level security hides lanes from gets an error, and never an answer, as in 0009_inbox.sql.
ALTER TABLE postbag._lanes ADD CONSTRAINT _lanes_visible CHECK (NOT row_security_active('postbag._lanes'::regclass)) NOT VALID;
