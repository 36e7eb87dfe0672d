-- What a replay sends again: JSON. Null: the subscription is no replay.
ALTER TABLE postbag._subscriptions ADD COLUMN replay text;
