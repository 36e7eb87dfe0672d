-- Subscriptions and replays that are gone, and of whose rows some are there yet: parked messages, what is known of others,
-- commands. Nothing shows these rows. They are deleted some at a time.
CREATE TABLE IF NOT EXISTS postbag._leftovers (
  sub integer PRIMARY KEY
);
