-- What operators have set of a subscription's policy while relays run, by name.
ALTER TABLE postbag._subscriptions ADD COLUMN IF NOT EXISTS settings jsonb NOT NULL DEFAULT '{}';
