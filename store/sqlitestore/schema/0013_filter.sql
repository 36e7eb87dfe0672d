-- What a subscription takes beside its types: topics, headers and exceptions, in JSON. Empty: all.
ALTER TABLE postbag__subscription ADD COLUMN takes TEXT NOT NULL DEFAULT '';
