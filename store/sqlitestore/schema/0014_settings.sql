-- What operators have set of a subscription's policy while relays run: JSON, by name. Null:
-- nothing.
ALTER TABLE postbag__subscription ADD COLUMN settings TEXT;
