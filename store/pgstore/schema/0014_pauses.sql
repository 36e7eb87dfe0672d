-- What operators hold: a subscription, a destination of all subscriptions, or messages of a topic, a type or a key.

-- One row a pause. sub is the subscription, and 0 for a destination. held is what of its scope is held, and empty for a whole
-- subscription, whose flag _subscriptions.paused says so to relays of older versions, too. ends is NULL if it has no end. What is
-- over holds nothing: the next heartbeat removes it. The table has a few rows, and is read whole with each heartbeat.
CREATE TABLE postbag._pauses (
  id    bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  sub   integer     NOT NULL,
  scope text        COLLATE "C" NOT NULL,
  held  text        COLLATE "C" NOT NULL,
  who   text        NOT NULL,
  why   text        NOT NULL,
  began timestamptz NOT NULL DEFAULT clock_timestamp(),
  ends  timestamptz CHECK (isfinite(ends)),
  UNIQUE (sub, scope, held)
) WITH (vacuum_truncate = false);
