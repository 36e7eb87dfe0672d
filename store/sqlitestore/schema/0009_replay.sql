-- What a replay sends again: JSON. Null: the subscription is no replay.
ALTER TABLE postbag__subscription ADD COLUMN replay TEXT;
