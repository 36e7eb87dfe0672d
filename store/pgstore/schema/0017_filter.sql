-- What a subscription takes beside its types: topics, headers and exceptions, in JSON. Empty: all.
ALTER TABLE postbag._subscriptions ADD COLUMN IF NOT EXISTS takes text NOT NULL DEFAULT '';
