-- Subscriptions and replays that are gone, and of whose rows some are there yet: parked messages, what is known of others,
-- commands. Nothing shows these rows. They are deleted some at a time.
CREATE TABLE postbag__leftover (
	subscription INTEGER PRIMARY KEY
);
